//! Tests of the roots of quasi-Newton mass matrices.

use super::*;

const DIM: usize = 3;

/// The covariance A⁻¹ of the pairs.
const SIGMA: [f64; 9] = [4.0, 1.5, 0.3, 1.5, 2.0, -0.4, 0.3, -0.4, 1.0];

const LIMITED: InverseHessian = InverseHessian::Lbfgs { memory: 4, gamma: InitialScale::Fixed(0.5) };

fn published() -> QuasiNewtonMass {
    let covariance = Covariance::dense(&[1.0, 0.2, 0.0, 0.2, 2.0, 0.1, 0.0, 0.1, 0.5]).unwrap();
    QuasiNewtonMass::Published { covariance }
}

fn times(a: &[f64], v: &[f64]) -> Vec<f64> {
    a.chunks_exact(DIM).map(|row| row.iter().zip(v).map(|(a, v)| a * v).sum()).collect()
}

/// Returns the product of two row-major matrices.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let entry = |k: usize| (0..DIM).map(|j| a[k / DIM * DIM + j] * b[j * DIM + k % DIM]).sum();
    (0..DIM * DIM).map(entry).collect()
}

fn transposed(a: &[f64]) -> Vec<f64> {
    (0..DIM * DIM).map(|k| a[k % DIM * DIM + k / DIM]).collect()
}

/// Returns pairs (A⁻¹ y, y).
fn pairs(count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
    let y = |k: usize| (0..DIM).map(|i| (1.0 + 0.7 * k as f64 + 2.1 * i as f64).sin()).collect::<Vec<_>>();
    (0..count).map(|k| (times(&SIGMA, &y(k)), y(k))).collect()
}

fn update(estimate: &mut Estimate, pairs: &[(Vec<f64>, Vec<f64>)]) {
    estimate.update(pairs.iter().map(|(s, y)| (&**s, &**y))).unwrap();
}

fn estimate(kind: InverseHessian, count: usize) -> Estimate {
    let mut estimate = Estimate::new(kind, DIM);
    update(&mut estimate, &pairs(count));
    estimate
}

/// Returns the matrix of a linear map.
fn matrix(mut map: impl FnMut(&[f64], &mut [f64])) -> Vec<f64> {
    let mut columns = vec![0.0; DIM * DIM];
    for (k, column) in columns.chunks_exact_mut(DIM).enumerate() {
        let unit: Vec<f64> = (0..DIM).map(|i| f64::from(u8::from(i == k))).collect();
        map(&unit, column);
    }
    transposed(&columns)
}

/// Returns S, computed from products with S and from products with Sᵀ.
fn roots(estimate: &mut Estimate, mass: &QuasiNewtonMass) -> [Vec<f64>; 2] {
    let mut work = Vec::new();
    let mut root = estimate.root(mass, &mut work).unwrap();
    [matrix(|v, out| root.multiply(v, out)), transposed(&matrix(|v, out| root.multiply_transposed(v, out)))]
}

fn assert_close(a: &[f64], b: &[f64]) {
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(a.len() == b.len() && off < 1e-12, "{a:?} and {b:?}");
}

/// S Sᵀ is C in the whitening form and C M⁻¹ C in the published one, and Sᵀ is the transpose of S.
#[test]
fn roots_make_the_inverse_mass() {
    for kind in [InverseHessian::Bfgs, LIMITED] {
        let mut estimate = estimate(kind, 3);
        let c = matrix(|v, out| estimate.product(v, out));
        let [root, turned] = roots(&mut estimate, &QuasiNewtonMass::Whitening);
        assert_close(&root, &turned);
        assert_close(&product(&root, &transposed(&root)), &c);

        let mass = published();
        let QuasiNewtonMass::Published { covariance } = &mass else { unreachable!() };
        let half = matrix(|v, out| (&*covariance).multiply(v, out));
        let [root, turned] = roots(&mut estimate, &mass);
        assert_close(&root, &turned);
        assert_close(&root, &product(&c, &half));
    }
}

/// The root follows updates of C after its first use.
#[test]
fn roots_follow_updates() {
    for kind in [InverseHessian::Bfgs, LIMITED] {
        let mut estimate = estimate(kind, 1);
        let [before, _] = roots(&mut estimate, &QuasiNewtonMass::Whitening);
        update(&mut estimate, &pairs(3)[1..]);
        let c = matrix(|v, out| estimate.product(v, out));
        let [after, _] = roots(&mut estimate, &QuasiNewtonMass::Whitening);
        assert!(before.iter().zip(&after).any(|(a, b)| (a - b).abs() > 0.01));
        assert_close(&product(&after, &transposed(&after)), &c);
    }
}

/// A pair with 10³⁰ times the variance along (1, 1, 1) makes C singular after rounding.
#[test]
fn updates_that_rounding_makes_singular_are_undone() {
    let mut estimate = estimate(InverseHessian::Bfgs, 3);
    let before = roots(&mut estimate, &QuasiNewtonMass::Whitening);
    let c = matrix(|v, out| estimate.product(v, out));
    update(&mut estimate, &[(vec![1.0; DIM], vec![1e-30; DIM])]);
    assert_eq!(matrix(|v, out| estimate.product(v, out)), c);
    assert_eq!(roots(&mut estimate, &QuasiNewtonMass::Whitening), before);
    // Later updates still work.
    update(&mut estimate, &pairs(5)[3..]);
    assert_ne!(matrix(|v, out| estimate.product(v, out)), c);
}

#[test]
fn a_damaged_estimate_is_an_error() {
    let mut text = serde_json::to_value(Estimate::new(InverseHessian::Bfgs, 2)).unwrap();
    text["Dense"]["matrix"]["matrix"] = serde_json::json!([1.0, 2.0, 2.0, 1.0]);
    let mut estimate: Estimate = serde_json::from_value(text).unwrap();
    let mut work = Vec::new();
    let error = estimate.root(&QuasiNewtonMass::Whitening, &mut work).err().unwrap().to_string();
    assert!(error.contains("inverse Hessian") && error.contains("not positive definite"), "{error}");
}

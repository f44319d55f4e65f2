//! BAOAB with a covariance M.
//!
//! The laws are written for the velocity p in the coordinates of θ, so that they contain M and not a root of it: with
//! G = H^{1/2} M H^{1/2}, H the diagonal matrix of the step sizes, B is p += ½ G ĝ(θ), A is θ += p/2, and O is
//! p ← e^{−α} p + N(0, (1 − e^{−2α}) T G).

use super::*;

const ALPHA: f64 = 0.4;

/// Step sizes of five coordinates that differ by parameter.
const UNEVEN: [f64; 5] = [0.5 * SIZE, SIZE, SIZE, 0.3 * SIZE, 0.3 * SIZE];

fn uneven() -> StepSize {
    StepSize::from(SIZE).parameter("first", 0.5 * SIZE).parameter("third", 0.3 * SIZE)
}

/// H^{1/2} M H^{1/2}.
fn both_sides(m: &[f64], h: &[f64]) -> Vec<f64> {
    let d = h.len();
    (0..d * d).map(|k| m[k] * (h[k / d] * h[k % d]).sqrt()).collect()
}

fn kept(v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| (-ALPHA).exp() * v).collect()
}

fn heat(hm: &[f64]) -> Vec<f64> {
    scaled(hm, (1.0 - (-2.0 * ALPHA).exp()) * TEMPERATURE)
}

/// The covariance of θ under B, A, O, A, B, where both kicks at a position use one minibatch; the state is (θ, p, ξ).
fn stationary(p: &Problem, hm: &[f64]) -> Vec<f64> {
    let d = p.d;
    let update = |s: &[f64], e: &[f64]| {
        let (theta, v, xi) = (&s[..d], &s[d..2 * d], &s[2 * d..]);
        let v = add(v, &apply(hm, &p.g(theta, xi)), 0.5);
        let theta = add(theta, &v, 0.5);
        let v = add(&kept(&v), &e[..d], 1.0);
        let theta = add(&theta, &v, 0.5);
        let v = add(&v, &apply(hm, &p.g(&theta, &e[d..])), 0.5);
        [theta, v, e[d..].to_vec()].concat()
    };
    let noise = independent(&[heat(hm), p.noise.clone()]);
    let sigma = LinearChain { state: 3 * d, noise, update: &update }.stationary_covariance();
    (0..d * d).map(|k| sigma[k / d * 3 * d + k % d]).collect()
}

/// One step from a fixed θ: p ~ N(0, TG), B ½, A ½, O, A ½.
fn displacement(m: &[f64], h: &[f64], step_size: StepSize, start: &[f64]) {
    let d = h.len();
    let (p, hm) = (Problem::new(d, minibatch_factor()), both_sides(m, h));
    let update = |s: &[f64], e: &[f64]| {
        let v = add(&e[..d], &apply(&hm, &p.g(s, &e[d..2 * d])), 0.5);
        let theta = add(s, &v, 0.5);
        add(&theta, &add(&kept(&v), &e[2 * d..], 1.0), 0.5)
    };
    let noise = independent(&[scaled(&hm, TEMPERATURE), p.noise.clone(), heat(&hm)]);
    let dynamics = Baoab { alpha: ALPHA, covariance: Covariance::dense(m).unwrap() };
    assert_displacement(dynamics, step_size, 1, &LinearChain { state: d, noise, update: &update }, start);
}

#[test]
fn one_step_has_the_right_drift_and_diffusion() {
    displacement(&matrix(2), &[SIZE; 2], SIZE.into(), &START);
}

#[test]
fn one_step_with_step_sizes_by_parameter_has_the_right_drift_and_diffusion() {
    displacement(&matrix(5), &UNEVEN, uneven(), &[0.3, -0.2, 0.1, 0.2, -0.4]);
}

#[test]
fn the_stationary_law_is_that_of_the_rule() {
    for d in [1, 5] {
        let m = matrix(d);
        let parts: Vec<f64> = m.iter().step_by(d + 1).copied().collect();
        let cases = [(Covariance::dense(&m).unwrap(), m), (Covariance::diagonal(&parts).unwrap(), diagonal(&parts))];
        for (covariance, m) in cases {
            let dynamics = Baoab { alpha: ALPHA, covariance };
            let (noisy, exact) = (Problem::new(d, minibatch_factor()), Problem::new(d, 0.0));
            let law = |p| stationary(p, &scaled(&m, SIZE));
            assert_stationary(&noisy, &recipe(dynamics.clone(), batches(), SIZE, TEMPERATURE), &law(&noisy));
            let controlled = ControlVariate::new(WithoutReplacement::new(BATCH));
            assert_stationary(&exact, &recipe(dynamics, controlled, SIZE, TEMPERATURE), &law(&exact));
        }
    }
}

#[test]
fn step_sizes_by_parameter_scale_both_sides_of_the_matrix() {
    let (p, m) = (Problem::new(5, minibatch_factor()), matrix(5));
    let dynamics = Baoab { alpha: ALPHA, covariance: Covariance::dense(&m).unwrap() };
    let law = stationary(&p, &both_sides(&m, &UNEVEN));
    assert_stationary(&p, &recipe(dynamics, batches(), uneven(), TEMPERATURE), &law);
}

/// The identity as a matrix gives the path of the default, which has no matrix.
#[test]
fn the_identity_changes_nothing() {
    let covariances = [Covariance::dense(&isotropic(1.0, 5)).unwrap(), Covariance::diagonal(&[1.0; 5]).unwrap()];
    let plain = path(Baoab { alpha: ALPHA, ..Baoab::default() }, batches(), 1.0, 50);
    for covariance in covariances {
        let whitened = path(Baoab { alpha: ALPHA, covariance }, batches(), 1.0, 50);
        assert!(farthest(&whitened, &plain) < 1e-12);
    }
}

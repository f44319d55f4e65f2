//! Tests of the leapfrog integrator and of the acceptance step.

use super::*;
use crate::metropolis::Covariance;
use sgmcmc_gradient::{Analytic, AnalyticModel, FullGradient, Target};

/// The density log p = −½ θ₀² − (θ₁ − θ₀²)², curved in both coordinates.
struct Bent;

impl AnalyticModel for Bent {
    fn observations(&self) -> usize {
        0
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, _theta: &[f64], _row: usize, _weight: f64, _grad: &mut [f64]) -> f64 {
        0.0
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let away = theta[1] - theta[0] * theta[0];
        grad[0] += -theta[0] + 4.0 * away * theta[0];
        grad[1] -= 2.0 * away;
        -0.5 * theta[0] * theta[0] - away * away
    }
}

const TEMPERATURE: f64 = 1.4;

/// Returns the end of a trajectory of seven steps from (θ, z) and the change of the energy.
fn follow(covariance: &Covariance, [a, b, y, z]: [f64; 4]) -> ([f64; 4], f64) {
    let evaluator = Analytic::new(Bent).evaluator(&vec![0.0; 2]).unwrap();
    let mut oracle = Oracle::new(FullGradient, evaluator, &[a, b], sgmcmc_gradient::ChainRng::new(1, 0)).unwrap();
    let mut workspace = LeapfrogWorkspace {
        end: Point::evaluate(&[a, b], &mut oracle).unwrap(),
        z: vec![y, z],
        ..LeapfrogWorkspace::default()
    };
    (workspace.epsilon, workspace.force, workspace.product) = (vec![0.2, 0.1], vec![0.0; 2], vec![0.0; 2]);
    let before = workspace.energy(TEMPERATURE);
    let length = TrajectoryLength { steps: 7, jitter: 0.0 };
    let mut leapfrog = Leapfrog { mass_root: &mut &*covariance, length, adaptation: StepSizeAdaptation::default() };
    let mut visited = 0;
    let steps = leapfrog.follow(&mut workspace, 7, TEMPERATURE, &mut oracle, |_| visited += 1).unwrap();
    assert_eq!((steps, visited), (7, 7));
    let end = [workspace.end.theta[0], workspace.end.theta[1], workspace.z[0], workspace.z[1]];
    (end, workspace.energy(TEMPERATURE) - before)
}

fn covariances() -> [Covariance; 3] {
    [
        Covariance::IDENTITY,
        Covariance::diagonal(&[0.7, 2.0]).unwrap(),
        Covariance::dense(&[1.0, 0.6, 0.6, 2.0]).unwrap(),
    ]
}

const START: [f64; 4] = [0.3, -0.4, 0.8, -1.1];

/// With the momentum negated the trajectory returns to its start, and the energy changes by the opposite amount.
#[test]
fn trajectories_are_reversible() {
    for covariance in covariances() {
        let ([a, b, y, z], change) = follow(&covariance, START);
        let ([a, b, y, z], back) = follow(&covariance, [a, b, -y, -z]);
        let off = [a, b, -y, -z].iter().zip(START).map(|(end, start)| (end - start).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12 && (change + back).abs() < 1e-12, "{covariance:?}: {off:e}");
        assert!(change.abs() > 1e-4, "the energy changes by {change:e}, too little to see anything");
    }
}

/// The Jacobian of a trajectory, by differences, has determinant one.
#[test]
fn trajectories_keep_volume() {
    for covariance in covariances() {
        let step = 1e-5;
        let mut jacobian = [[0.0; 4]; 4];
        for (k, row) in jacobian.iter_mut().enumerate() {
            let at = |sign: f64| {
                let mut start = START;
                start[k] += sign * step;
                follow(&covariance, start).0
            };
            let (above, below) = (at(1.0), at(-1.0));
            row.iter_mut().enumerate().for_each(|(i, entry)| *entry = (above[i] - below[i]) / (2.0 * step));
        }
        let found = determinant(jacobian);
        assert!((found - 1.0).abs() < 1e-7, "{covariance:?}: {found}");
    }
}

/// Computes the determinant by elimination.
fn determinant(mut a: [[f64; 4]; 4]) -> f64 {
    let mut product = 1.0;
    for k in 0..4 {
        let Some(pivot) = (k..4).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())) else { return f64::NAN };
        if pivot != k {
            a.swap(pivot, k);
            product = -product;
        }
        product *= a[k][k];
        let row = a[k];
        for below in &mut a[k + 1..] {
            let factor = below[k] / row[k];
            below.iter_mut().zip(row).for_each(|(entry, above)| *entry -= factor * above);
        }
    }
    product
}

/// Half the step size gives a quarter of the error: the integrator is of second order.
#[test]
fn energy_errors_are_of_second_order() {
    let change = |epsilon: f64, steps: u32| {
        let evaluator = Analytic::new(Bent).evaluator(&vec![0.0; 2]).unwrap();
        let start = [0.3, -0.4];
        let mut oracle = Oracle::new(FullGradient, evaluator, &start, sgmcmc_gradient::ChainRng::new(1, 0)).unwrap();
        let mut workspace = LeapfrogWorkspace {
            end: Point::evaluate(&start, &mut oracle).unwrap(),
            z: vec![0.8, -1.1],
            ..LeapfrogWorkspace::default()
        };
        (workspace.epsilon, workspace.force, workspace.product) = (vec![epsilon; 2], vec![0.0; 2], vec![0.0; 2]);
        let before = workspace.energy(TEMPERATURE);
        let length = TrajectoryLength { steps, jitter: 0.0 };
        let mut leapfrog =
            Leapfrog { mass_root: &mut &Covariance::IDENTITY, length, adaptation: StepSizeAdaptation::default() };
        leapfrog.follow(&mut workspace, steps, TEMPERATURE, &mut oracle, |_| ()).unwrap();
        workspace.energy(TEMPERATURE) - before
    };
    let ratio = change(0.02, 50) / change(0.01, 100);
    assert!((ratio - 4.0).abs() < 0.05, "{ratio}");
}

#[test]
fn lengths_are_uniform_within_the_jitter() {
    let mut rng = sgmcmc_gradient::ChainRng::new(3, 0);
    let length = TrajectoryLength { steps: 10, jitter: 0.3 };
    let mut counts = [0; 20];
    (0..7000).for_each(|_| counts[length.draw(rng.noise()) as usize] += 1);
    // Seven lengths, a standard deviation of 29 each.
    assert!(counts[7..=13].iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    assert_eq!(counts[7..=13].iter().sum::<i32>(), 7000);
    assert!((0..100).all(|_| TrajectoryLength { steps: 1, jitter: 0.9 }.draw(rng.noise()) >= 1));
}

#[test]
fn proposals_are_accepted_at_their_rate_and_nan_is_rejected() {
    let mut rng = sgmcmc_gradient::ChainRng::new(3, 0);
    let accepted = (0..10_000).filter(|_| accept(0.3_f64.ln(), rng.noise()).accepted).count();
    // 3000 with a standard deviation of 46.
    assert!((2770..3230).contains(&accepted), "{accepted}");
    assert_eq!(accept(f64::NAN, rng.noise()), Acceptance { accepted: false, rate: 0.0 });
    assert_eq!(accept(f64::NEG_INFINITY, rng.noise()), Acceptance { accepted: false, rate: 0.0 });
    assert_eq!(accept(5.0, rng.noise()), Acceptance { accepted: true, rate: 1.0 });
}

//! Quasi-Newton HMC, with both of its mass matrices.

use sgmcmc::AnalyticTree;
use sgmcmc::algorithms::QuasiNewtonMass;
use sgmcmc::fit::Bias;
use sgmcmc::gradient::AnalyticModel;

use super::*;

/// The mass of Fu, Luo & Zhang.
pub fn published(covariance: Covariance) -> QuasiNewtonMass {
    QuasiNewtonMass::Published { covariance }
}

pub fn qnhmc_of(steps: u32, inverse_hessian: InverseHessian) -> Qnhmc {
    let (adaptation, adapt) = (Adaptation::First(300), Some(DualAveraging::new(1000)));
    Qnhmc { steps, jitter: 0.3, inverse_hessian, adaptation, adapt, ..Qnhmc::default() }
}

pub const LIMITED: InverseHessian = InverseHessian::Lbfgs { memory: 3, gamma: InitialScale::Fixed(1.0) };

fn assert_frozen_law(mass: &QuasiNewtonMass) {
    let of = |steps, inverse_hessian| Qnhmc { mass: mass.clone(), ..qnhmc_of(steps, inverse_hessian) };
    assert_law(of(6, InverseHessian::Bfgs), &Curved::Correlated, 0.2, 1000, 20);
    // A banana has another curvature everywhere: how fast the frozen chain is depends on where it was frozen.
    for (inverse_hessian, iterations) in [(InverseHessian::Bfgs, 100), (LIMITED, 50)] {
        let frozen = Qnhmc { adaptation: Adaptation::First(iterations), ..of(6, inverse_hessian) };
        assert_law(frozen, &Curved::Banana, 0.2, 1000, 40);
    }
    assert_law(of(6, InverseHessian::Bfgs), &Curved::Funnel, 0.2, 1000, 40);
    assert_law(of(6, LIMITED), &Curved::Funnel, 0.2, 1000, 40);
}

/// Learned and frozen, whatever was learned.
#[test]
fn the_whitening_form_has_the_law() {
    assert_frozen_law(&QuasiNewtonMass::Whitening);
    assert_law(qnhmc_of(4, LIMITED), &Curved::Correlated, 0.1, 1000, 30);
}

#[test]
fn the_published_form_has_the_law() {
    assert_frozen_law(&published(Covariance::IDENTITY));
    let with_mass = Qnhmc { mass: published(dense()), ..qnhmc_of(4, LIMITED) };
    assert_law(with_mass, &Curved::Correlated, 0.1, 1000, 30);
}

/// γ fills what no pair speaks of: a fixed one, or that of the newest pair, which differs from any fixed one.
#[test]
fn qnhmc_takes_its_gamma() {
    for mass in [QuasiNewtonMass::Whitening, published(Covariance::IDENTITY)] {
        let learned = |gamma| {
            let kept = InverseHessian::Lbfgs { memory: 1, gamma };
            let dynamics = Qnhmc { mass: mass.clone(), adapt: None, ..qnhmc_of(3, kept) };
            path(&mut chain(dynamics, &Curved::Funnel, 0.05, 1.0, 3), 20).concat()
        };
        let [one, half, newest] =
            [InitialScale::Fixed(1.0), InitialScale::Fixed(0.5), InitialScale::Newest(1.0)].map(learned);
        // Before there is a pair γ is all of C: the newest starts as one does, and half does not.
        assert_eq!(one[..3], newest[..3]);
        assert_ne!(one[..3], half[..3]);
        assert_ne!(one, newest);
        let limited = InverseHessian::Lbfgs { memory: 3, gamma: InitialScale::Newest(1.0) };
        assert_law(Qnhmc { mass, ..qnhmc_of(4, limited) }, &Curved::Correlated, 0.1, 1000, 30);
    }
}

/// Before it has learned anything C is the identity, and QNHMC is HMC, bit for bit.
#[test]
fn qnhmc_without_curvature_is_hmc() {
    let masses = covariances().map(|covariance| (published(covariance.clone()), covariance));
    for (mass, covariance) in masses.into_iter().chain([(QuasiNewtonMass::Whitening, Covariance::IDENTITY)]) {
        for inverse_hessian in [InverseHessian::Bfgs, LIMITED] {
            let (steps, jitter, adapt) = (4, 0.5, Some(DualAveraging::new(50)));
            let hmc = Hmc { steps, jitter, covariance: covariance.clone(), adapt, ..Hmc::default() };
            let adaptation = Adaptation::First(0);
            let qnhmc = Qnhmc { steps, jitter, mass: mass.clone(), inverse_hessian, adaptation, adapt };
            let path_of_hmc = path(&mut logistic(hmc, 6), 200);
            assert!(path_of_hmc == path(&mut logistic(qnhmc.clone(), 6), 200), "{mass:?}");
            let learned = Qnhmc { adaptation: Adaptation::First(100), ..qnhmc };
            assert!(path_of_hmc != path(&mut logistic(learned, 6), 200), "{mass:?}");
        }
    }
}

/// Iterations that learn make no draws, unless they never end.
#[test]
fn draws_begin_when_learning_ends() {
    let first = |adaptation| {
        let dynamics = Qnhmc { adaptation, adapt: None, ..qnhmc_of(3, LIMITED) };
        let run = Builder::new(Curved::Banana.target(), dynamics, FullGradient, 0.1);
        run.sample(&zeros([2]), 5).unwrap().chains()[0].iterations()[0]
    };
    assert_eq!(first(Adaptation::First(30)), 31);
    assert_eq!(first(Adaptation::Continual), 1);
}

/// A chain that never stops adapting is not reported as exact.
#[test]
fn only_frozen_chains_are_exact() {
    let bias = |adaptation| {
        let dynamics = Qnhmc { adaptation, adapt: None, ..qnhmc_of(3, LIMITED) };
        let run = Builder::new(Curved::Correlated.target(), dynamics, FullGradient, 0.1);
        run.sample(&zeros([2]), 300).unwrap().info().bias.clone()
    };
    assert_eq!(bias(Adaptation::First(30)), Bias::Exact);
    assert!(matches!(bias(Adaptation::Continual), Bias::NotExamined(_)));
}

/// N(0, diag(1, 100²)).
struct Long;

impl AnalyticModel for Long {
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
        let (narrow, wide) = (theta[0], theta[1] / 100.0);
        grad[0] -= narrow;
        grad[1] -= wide / 100.0;
        -0.5 * (narrow * narrow + wide * wide)
    }
}

/// The shares of effective draws of both coordinates on N(0, diag(1, 100²)).
fn effective_shares<D: Dynamics<FullGradient> + Clone + Debug + 'static>(dynamics: D, epsilon: f64) -> [f64; 2] {
    let run = Builder::new(AnalyticTree::<Tensor<1>>::new(Long), dynamics, FullGradient, epsilon * epsilon).seed(5);
    let fit = run.sample(&zeros([2]), DRAWS).unwrap();
    [0, 1].map(|k| ess_mean(&[fit.chains()[0].element(k)]) / DRAWS as f64)
}

/// A coordinate that turns by φ = Lωε per proposal has autocorrelation E[cos φ] per draw. Here ωε = 0.25 and L is uniform on 3, …, 9: 0.06,
/// and so 88 % effective draws. A coordinate that turns a hundred times more slowly has 0.9999. The frequencies ω of the two coordinates are
/// (1, 1/100) with a unit mass, (1, 100) with the inverse mass C² of the published form, and (1, 1) with C.
#[test]
fn the_whitening_form_removes_the_conditioning_that_the_published_form_mirrors() {
    let (steps, jitter) = (6, 0.5);
    let whitening = Qnhmc { steps, jitter, adaptation: Adaptation::First(300), ..Qnhmc::default() };
    let mirroring = Qnhmc { mass: published(Covariance::IDENTITY), ..whitening.clone() };
    let plain = effective_shares(Hmc { steps, jitter, ..Hmc::default() }, 0.25);
    assert!(plain[0] > 0.5 && plain[1] < 0.02, "HMC: {plain:?}");
    let mirrored = effective_shares(mirroring, 0.0025);
    assert!(mirrored[0] < 0.02 && mirrored[1] > 0.5, "published: {mirrored:?}");
    let white = effective_shares(whitening, 0.25);
    assert!(white.iter().all(|share| *share > 0.5), "whitening: {white:?}");
    assert!((white[0] / white[1]).ln().abs() < 1.5_f64.ln(), "whitening: {white:?}");
}

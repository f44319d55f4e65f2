//! Mean and variance of p^{1/T} by every algorithm, for a gamma and a beta density in constrained coordinates.
//!
//! p^{1/T} is Gamma((a − 1)/T + 1, b/T) or Beta((a − 1)/T + 1, (b − 1)/T + 1). Estimates must agree with its moments up to four Monte Carlo
//! standard errors and the bias of the algorithm at its step size; with tempered Jacobians they would have those of Gamma(a/T, b/T) and
//! Beta(a/T, b/T), which the tolerance must exclude.
//!
//! The biases are those of step δ = hT on the log density f of the coordinates at temperature T, for which f′ = a − b x (gamma) or
//! a − (a + b) x (beta), with a, b the parameters of p^{1/T}:
//!
//! - Euler's rule y ← y + δ/2 f′(y) + √δ z leaves E y alone, so that E f′ = 0: the mean of x is exact. For the gamma density
//!   E[x exp(δ/2 f′)] e^{δ/2} = E x, from which E x² is larger by δ/4 to first order, and the variance by (a + 1) δ/4. A normal density of
//!   precision A has a variance larger by Aδ/4; for the beta density A is at most (a + b)/4. Steps are chosen such that this bias is `S`;
//!   twice as much is allowed, for higher orders.
//! - The leapfrog steps of dynamics with a velocity, ε² = δ, have a bias of Aδ/4 at most.
//! - The velocity update (1 − α) ν makes the variance of ν larger by α/2.

use std::fmt::Debug;

use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{
    Adaptation, Badodab, Baoab, CyclicalSgld, DualAveraging, Hamcmc, Hmc, HmcBfgs, Mala, PreconditionedSgld, Psgld,
    Qnhmc, RiemannianMala, Sgfs, Sghmc, Sgld, Sgnht, Sgrld,
};
use sgmcmc::distributions::{Bernoulli, Beta, Gamma, Poisson};
use sgmcmc::gradient::FullGradient;
use sgmcmc::prelude::*;

use super::{beta, gamma, run, wavy};

#[derive(Clone, Copy, Debug)]
enum Law {
    Gamma { a: f64, b: f64 },
    Beta { a: f64, b: f64 },
}

impl Law {
    /// p^{1/T} as a density of the values.
    fn tempered(self, t: f64) -> Self {
        match self {
            Self::Gamma { a, b } => Self::Gamma { a: (a - 1.0) / t + 1.0, b: b / t },
            Self::Beta { a, b } => Self::Beta { a: (a - 1.0) / t + 1.0, b: (b - 1.0) / t + 1.0 },
        }
    }

    /// (p |J|)^{1/T} as a density of the coordinates.
    fn with_tempered_jacobian(self, t: f64) -> Self {
        match self {
            Self::Gamma { a, b } => Self::Gamma { a: a / t, b: b / t },
            Self::Beta { a, b } => Self::Beta { a: a / t, b: b / t },
        }
    }

    fn mean(self) -> f64 {
        match self {
            Self::Gamma { a, b } => a / b,
            Self::Beta { a, b } => a / (a + b),
        }
    }

    fn variance(self) -> f64 {
        match self {
            Self::Gamma { a, b } => a / (b * b),
            Self::Beta { a, b } => a * b / ((a + b).powi(2) * (a + b + 1.0)),
        }
    }

    /// The δ whose relative bias of the variance is `s` to first order.
    fn step(self, s: f64) -> f64 {
        match self {
            Self::Gamma { a, .. } => 4.0 * s / (a + 1.0),
            Self::Beta { a, b } => 16.0 * s / (a + b),
        }
    }
}

/// The bias of an algorithm: of the mean in standard deviations, of the variance relative to it.
#[derive(Clone, Copy, Debug)]
struct Bias {
    mean: f64,
    variance: f64,
}

impl Bias {
    const NONE: Self = Self { mean: 0.0, variance: 0.0 };

    /// A right mean and a variance off by this much.
    fn of_variance(variance: f64) -> Self {
        Self { mean: 0.0, variance }
    }

    /// Both off by this much.
    fn of_both(bias: f64) -> Self {
        Self { mean: bias, variance: bias }
    }
}

/// Independent copies of the density in one chain.
const COPIES: usize = 20;
const BATCHES: usize = 50;
const BURN_IN: usize = 1000;

/// The average of `batches` and its standard error.
fn by_batch_means(batches: &[f64]) -> (f64, f64) {
    let n = batches.len() as f64;
    let average = batches.iter().sum::<f64>() / n;
    let spread = batches.iter().map(|mean| (mean - average).powi(2)).sum::<f64>() / (n - 1.0);
    (average, (spread / n).sqrt())
}

/// Draws that count have the moments of `law` at temperature `t`.
fn check(name: &str, chain: &mut Sampler<Tensor<1>>, (law, t): (Law, f64), draws: usize, bias: Bias) {
    let right = law.tempered(t);
    (0..BURN_IN).for_each(|_| chain.step().unwrap());
    let length = draws / BATCHES;
    let (mut means, mut squares) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        let (mut sum, mut square, mut drawn) = (0.0, 0.0, 0);
        while drawn < length {
            chain.step().unwrap();
            if chain.info().keeps_draw {
                sum += chain.position().iter().sum::<f64>();
                square += chain.position().iter().map(|x| (x - right.mean()).powi(2)).sum::<f64>();
                drawn += 1;
            }
        }
        means.push(sum / (length * COPIES) as f64);
        squares.push(square / (length * COPIES) as f64);
    }
    let ((mean, mean_error), (variance, variance_error)) = (by_batch_means(&means), by_batch_means(&squares));
    let mean_tolerance = 4.0 * mean_error + bias.mean * right.variance().sqrt();
    let variance_tolerance = 4.0 * variance_error + bias.variance * right.variance();
    let case = format!("{name} on {law:?} at temperature {t}");
    let gap = (law.with_tempered_jacobian(t).mean() - right.mean()).abs();
    assert!(mean_tolerance < 0.5 * gap, "{case}: {mean_tolerance} does not tell means {gap} apart");
    let off = mean - right.mean();
    assert!(off.abs() < mean_tolerance, "{case}: mean {mean} ± {mean_error}, not {}", right.mean());
    let off = variance - right.variance();
    assert!(off.abs() < variance_tolerance, "{case}: variance {variance} ± {variance_error}, not {}", right.variance());
}

/// Checks an algorithm on both densities at two temperatures, with the steps of Euler bias `s` and matrices of size `m`.
fn assert_moments<D>(dynamics: D, (s, m): (f64, f64), draws: usize, bias: Bias)
where
    D: Dynamics<FullGradient> + Clone + Debug + 'static,
{
    let cases = [(gamma(), Law::Gamma { a: 3.0, b: 1.0 }), (beta(), Law::Beta { a: 4.0, b: 1.5 })];
    for (target, law) in cases {
        for t in [0.5, 2.0] {
            let right = law.tempered(t);
            let builder = run(&target, dynamics.clone(), right.step(s) / (t * m)).temperature(t).seed(1);
            let mut chain = builder.start(&full([COPIES], right.mean())).unwrap();
            check(&format!("{dynamics:?}"), &mut chain, (law, t), draws, bias);
        }
    }
}

/// The bias of the variance by Euler's rule in these tests, to first order. Twice as much is allowed.
const S: f64 = 0.01;

#[test]
fn sgld() {
    assert_moments(Sgld, (S, 1.0), 30_000, Bias::of_variance(2.0 * S));
}

/// A cycle has 100 steps of exploration. It takes some 1/(δA) steps, fewer than 100 of the other 4900, to forget the mode.
#[test]
fn cyclical_sgld() {
    let dynamics = CyclicalSgld { period: 5000, exploration: 0.02 };
    assert_moments(dynamics, (S, 1.0), 30_000, Bias { mean: 0.01, variance: 0.01 + 2.0 * S });
}

#[test]
fn preconditioned() {
    let m = 2.5;
    assert_moments(PreconditionedSgld::diagonal(vec![m; COPIES]), (S, m), 30_000, Bias::of_variance(2.0 * S));
}

/// V is that of the last 1/(1 − α) = 2 steps, so that the bias of a step counts three times. M is at most 1/λ.
#[test]
fn psgld() {
    let (s, lambda) = (0.4 * S, 2.0);
    let dynamics = Psgld { alpha: 0.5, lambda, gamma: true };
    assert_moments(dynamics, (s, 1.0 / lambda), 40_000, Bias::of_both(6.0 * s));
}

/// The slope of M adds a term of the order of the bias. M is at most 1.5.
#[test]
fn sgrld() {
    assert_moments(Sgrld::new(wavy()), (S, 1.5), 30_000, Bias::of_both(4.0 * S));
}

/// The scores x − E x have the same variance everywhere, 1/3 for the data 0, 1, 1: N Î = 1. In steps of h this lowers the temperature by
/// hNÎ/4 relative to the noise b = 1.
#[test]
fn sgfs() {
    fn both<D: TensorTree>(target: &Posterior<Tensor<1>, D>, law: Law) {
        for t in [0.5, 2.0] {
            let right = law.tempered(t);
            let h = right.step(S) / t;
            let mut chain =
                run(target, Sgfs::diagonal(), h).temperature(t).start(&full([COPIES], right.mean())).unwrap();
            check("Sgfs", &mut chain, (law, t), 15_000, Bias::of_variance(2.0 * S + 0.25 * h));
        }
    }
    let data = Dataset::new(array(vec![0.0, 1.0, 1.0], [3, 1]).unwrap()).unwrap();
    let counts = Model::new(|rate: Tensor<1>, x: Tensor<2>| {
        Poisson::new(rate.unsqueeze_dim::<2>(0)).log_prob(x).sum_dim(1).squeeze_dim::<1>(1)
    })
    .prior(|rate: Tensor<1>| Gamma::new(1.0, 1.0).log_prob(rate).sum())
    .constrain("theta", Constraint::Positive);
    both(&counts.with(&data), Law::Gamma { a: 3.0, b: 4.0 });
    let outcomes = Model::new(|p: Tensor<1>, x: Tensor<2>| {
        Bernoulli::new(p.unsqueeze_dim::<2>(0)).log_prob(x).sum_dim(1).squeeze_dim::<1>(1)
    })
    .prior(|p: Tensor<1>| Beta::new(2.0, 0.5).log_prob(p).sum())
    .constrain("theta", Constraint::UnitInterval);
    both(&outcomes.with(&data), Law::Beta { a: 4.0, b: 1.5 });
}

/// H is at most 1, the γ and 1/λ of the default. It depends on the chain it moves to the order of the bias.
#[test]
fn hamcmc() {
    assert_moments(Hamcmc::default(), (S, 1.0), 60_000, Bias::of_both(4.0 * S));
}

#[test]
fn sghmc() {
    let alpha = *Sghmc::default().alpha.common();
    assert_moments(Sghmc::default(), (S, 1.0), 10_000, Bias::of_variance(2.0 * S + alpha));
}

/// The thermostat has mean a, and with a friction of ξ the variance of Euler's rule is smaller by ξ/2.
#[test]
fn sgnht() {
    let a = 0.03;
    assert_moments(Sgnht { a: a.into(), ..Sgnht::default() }, (S, 1.0), 30_000, Bias::of_both(a + 2.0 * S));
}

#[test]
fn baoab() {
    assert_moments(Baoab::default(), (S, 1.0), 20_000, Bias::of_variance(2.0 * S));
}

#[test]
fn badodab() {
    assert_moments(Badodab { a: 0.1.into(), ..Badodab::default() }, (S, 1.0), 20_000, Bias::of_both(2.0 * S));
}

/// Steps ten times as long: these methods have no bias. QNHMC looks for steps that suit its matrix.
#[test]
fn with_an_accept_step() {
    let long = (10.0 * S, 1.0);
    assert_moments(Mala::default(), long, 20_000, Bias::NONE);
    assert_moments(RiemannianMala::new(wavy()), (10.0 * S, 1.5), 20_000, Bias::NONE);
    assert_moments(Hmc { steps: 3, ..Hmc::default() }, long, 10_000, Bias::NONE);
    let adapt = Some(DualAveraging::new(1000));
    let qnhmc = Qnhmc { steps: 3, adaptation: Adaptation::First(500), adapt, ..Qnhmc::default() };
    assert_moments(qnhmc, long, 10_000, Bias::NONE);
    assert_moments(HmcBfgs { steps: 3, ..HmcBfgs::default() }, long, 10_000, Bias::NONE);
}

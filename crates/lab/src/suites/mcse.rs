//! The reported Monte Carlo error compared with the true one, for every algorithm.
//!
//! Each algorithm samples the mean of a correlated normal sample in three dimensions in many runs with different seeds.
//! The standard deviation of the estimated means over the runs is the true Monte Carlo error. The reported error is the
//! root mean square of `mcse_mean` over the runs, because its square estimates the variance of the mean. Both are
//! pooled over the coordinates.
//!
//! Criterion: reported / true is within [0.75, 1.35], and all chains complete. A standard deviation over R runs has a
//! relative standard error of 1/√(2(R − 1)), 7.1 % for R = 100, if all coordinates err together, and less if they do
//! not. With at least 100 effective draws a run, Geyer's estimate of the error is off by a few per cent on average. The
//! bounds are 3.5 standard errors on the low side and more on the high side, so that about 1 run of this suite in 100
//! fails by accident; errors that ignore interleaving are wrong by factors of 2 to 9.

use std::fmt::Debug;
use std::ops::RangeInclusive;

use sgmcmc::AnalyticTree;
use sgmcmc::Fit;
use sgmcmc::algorithms::Dynamics;
use sgmcmc::algorithms::{
    Adaptation, Badodab, Baoab, CyclicalSgld, DualAveraging, Hamcmc, Hmc, HmcBfgs, InitialScale, Mala, Metric,
    PreconditionedSgld, Psgld, Qnhmc, RiemannianMala, Sgfs, Sghmc, Sgld, Sgnht, Sgrld,
};
use sgmcmc::diagnostics::standard_deviation;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::{ControlVariate, FullGradient, GradientEstimator, MinibatchGradient, Saga, Svrg};
use sgmcmc::minibatch::{Epochs, WithoutReplacement};
use sgmcmc::prelude::*;
use sgmcmc::schedule::{CyclicalCosine, Polynomial};
use sgmcmc_testkit::models::gaussian::Gaussian;

use crate::Result;
use crate::suites::Outcome;

const RUNS: u64 = 100;
const CHAINS: usize = 2;
const DRAWS: usize = 6000;
const BURN_IN: u64 = 1000;

const OBSERVATIONS: usize = 100;
const MINIBATCH: usize = 10;
const DIMENSIONS: usize = 3;

/// The approximate inverse of the mean curvature of the posterior, whose eigenvalues are between 60 and 190.
const SCALE: f64 = 1.0 / (1.2 * OBSERVATIONS as f64);

/// The step size of Langevin methods without a matrix, with autocorrelation times of up to 25 iterations.
const LANGEVIN: f64 = 0.3 * SCALE;

const BOUNDS: RangeInclusive<f64> = 0.75..=1.35;

/// Runs all algorithms.
pub(crate) fn run() -> Result<Outcome> {
    let model = Gaussian::simulate(OBSERVATIONS, DIMENSIONS, 1);
    println!(
        "{RUNS} runs of {CHAINS} chains of {DRAWS} draws; the mean of a normal sample in {DIMENSIONS} dimensions, \
         {OBSERVATIONS} observations, minibatches of {MINIBATCH}"
    );
    println!("{:<34} {:>7} {:>6} {:>10} {:>10} {:>7}", "algorithm", "chains", "ESS", "reported", "true", "ratio");
    let precision = model.posterior_precision();
    let start = array(model.posterior_mean(), [DIMENSIONS])?;
    let mut suite = Suite { target: model.target(), start, failures: 0 };
    suite.stochastic(&precision)?;
    suite.interleaved()?;
    suite.exact()?;
    suite.nuts()?;
    Ok(Outcome::from_failures(suite.failures))
}

struct Suite {
    target: AnalyticTree<Tensor<1>>,
    start: Tensor<1>,
    failures: usize,
}

impl Suite {
    /// Checks algorithms with noisy gradients, and gradient estimators other than the plain minibatch.
    fn stochastic(&mut self, precision: &[f64]) -> Result<()> {
        let scheme = WithoutReplacement::new(MINIBATCH);
        let minibatch = MinibatchGradient::new(scheme);
        self.check("SGLD", Sgld, minibatch, LANGEVIN)?;
        self.check("SGLD, epochs", Sgld, MinibatchGradient::new(Epochs::new(MINIBATCH)), LANGEVIN)?;
        self.check("SGLD, full gradient", Sgld, FullGradient, LANGEVIN)?;
        self.check("SGLD, control variates", Sgld, ControlVariate::new(scheme), LANGEVIN)?;
        self.check("SGLD, SVRG", Sgld, Svrg::new(scheme, 10), LANGEVIN)?;
        self.check("SGLD, SAGA", Sgld, Saga::new(scheme), LANGEVIN)?;
        let decreasing = Polynomial { a: 2.0 * LANGEVIN, b: 1.0, gamma: 0.2 };
        self.check("SGLD, falling steps", Sgld, minibatch, decreasing)?;
        let cosine = CyclicalCosine { h: 2.0 * LANGEVIN, period: 50 };
        self.check("cyclical SGLD", CyclicalSgld::new(50), minibatch, cosine)?;
        let friction = || 0.1.into();
        self.check("SGHMC", Sghmc { alpha: friction(), ..Sghmc::default() }, minibatch, LANGEVIN)?;
        self.check("SGNHT", Sgnht { a: friction(), ..Sgnht::default() }, minibatch, 0.3 * LANGEVIN)?;
        self.check("BAOAB", Baoab { alpha: 0.2, ..Baoab::default() }, minibatch, 0.3 * LANGEVIN)?;
        self.check("BADODAB", Badodab { a: friction(), ..Badodab::default() }, minibatch, 0.3 * LANGEVIN)?;
        let preconditioned = PreconditionedSgld::from_precision(precision, DIMENSIONS)?;
        self.check("preconditioned SGLD", preconditioned, minibatch, 0.1)?;
        self.check("pSGLD", Psgld::default(), minibatch, 0.3 * LANGEVIN)?;
        self.check("pSGLD with Γ", Psgld { gamma: true, ..Psgld::default() }, minibatch, 0.3 * LANGEVIN)?;
        self.check("SGRLD", Sgrld::new(metric()), minibatch, LANGEVIN)?;
        self.check("SGFS", Sgfs::default(), minibatch, 0.05)?;
        self.check("SGFS, diagonal", Sgfs::diagonal(), minibatch, 0.05)
    }

    /// Checks algorithms with interleaved chains.
    fn interleaved(&mut self) -> Result<()> {
        let minibatch = MinibatchGradient::new(WithoutReplacement::new(MINIBATCH));
        let hamcmc = |memory| Hamcmc { memory, gamma: InitialScale::Fixed(SCALE), ..Hamcmc::default() };
        for memory in 2..=5 {
            self.check(&format!("HAMCMC, M = {memory}"), hamcmc(memory), minibatch, 0.1)?;
        }
        let (target, start) = (self.target.clone(), self.start.clone());
        self.judge("HAMCMC, M = 3, thinned by 3", |seed| {
            let run = Builder::new(target.clone(), hamcmc(3), minibatch, 0.1).seed(seed).chains(CHAINS);
            run.burn_in(BURN_IN).thin(3).sample(&start, DRAWS)
        })?;
        for chains in [3, 5] {
            let dynamics = HmcBfgs { chains, steps: 2, gamma: SCALE, ..HmcBfgs::default() };
            self.check(&format!("HMC-BFGS, K = {chains}"), dynamics, FullGradient, 0.04)?;
        }
        Ok(())
    }

    /// Checks algorithms with a Metropolis step.
    fn exact(&mut self) -> Result<()> {
        self.check("MALA", Mala::default(), FullGradient, SCALE)?;
        self.check("corrected Langevin", RiemannianMala::new(metric()), FullGradient, SCALE)?;
        let (steps, jitter) = (2, 0.3);
        self.check("HMC", Hmc { steps, jitter, ..Hmc::default() }, FullGradient, 0.05 * SCALE)?;
        let (adaptation, adapt) = (Adaptation::First(300), Some(DualAveraging::new(600)));
        self.check("QNHMC", Qnhmc { steps, jitter, adaptation, adapt, ..Qnhmc::default() }, FullGradient, 1e-3)
    }

    #[cfg(feature = "nuts")]
    fn nuts(&mut self) -> Result<()> {
        let (target, start) = (self.target.clone(), self.start.clone());
        self.judge("NUTS", |seed| {
            sgmcmc::algorithms::Nuts { chains: CHAINS, seed, ..sgmcmc::algorithms::Nuts::default() }.sample(
                &target,
                &start,
                DRAWS / 10,
            )
        })
    }

    #[cfg(not(feature = "nuts"))]
    fn nuts(&mut self) -> Result<()> {
        println!("NUTS is not run: the feature `nuts` is off");
        Ok(())
    }

    fn check<D, G>(&mut self, name: &str, dynamics: D, gradient: G, steps: impl Into<StepSize>) -> Result<()>
    where
        D: Dynamics<G> + Clone + Debug + 'static,
        G: GradientEstimator + Clone + Debug + 'static,
    {
        let run = Builder::new(self.target.clone(), dynamics, gradient, steps).chains(CHAINS).burn_in(BURN_IN);
        let start = self.start.clone();
        self.judge(name, |seed| run.clone().seed(seed).sample(&start, DRAWS))
    }

    /// Runs an algorithm with all seeds and prints a row. Counts a failure if the criterion does not hold.
    fn judge(&mut self, name: &str, run: impl Fn(u64) -> sgmcmc::gradient::Result<Fit>) -> Result<()> {
        let (mut means, mut reported) = (vec![Vec::new(); DIMENSIONS], 0.0);
        let (mut sizes, mut chains, mut complete) = (0.0, 0, true);
        for seed in 1..=RUNS {
            let fit = run(seed)?;
            let summary = fit.summary();
            for (means, row) in means.iter_mut().zip(summary.rows()) {
                means.push(row.mean);
                reported += row.mcse_mean.powi(2) / RUNS as f64;
            }
            sizes += summary.rows().iter().map(|row| row.ess_bulk).fold(f64::INFINITY, f64::min);
            complete &= fit.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Complete);
            chains = fit.chains().len();
        }
        let equal = vec![1.0; RUNS as usize];
        let truth: f64 = means.iter().map(|means| standard_deviation(means, &equal).powi(2)).sum();
        let ratio = (reported / truth).sqrt();
        // NaN fails, because the range does not contain it.
        let passed = complete && BOUNDS.contains(&ratio);
        self.failures += usize::from(!passed);
        let pooled = |square: f64| (square / DIMENSIONS as f64).sqrt();
        println!(
            "{name:<34} {chains:>7} {:>6.0} {:>10.3e} {:>10.3e} {ratio:>7.3}  {}",
            sizes / RUNS as f64,
            pooled(reported),
            pooled(truth),
            if passed { "pass" } else { "FAIL" }
        );
        Ok(())
    }
}

/// Returns a metric that depends on θ and is about one at the posterior.
fn metric() -> Metric {
    Metric::diagonal(|theta, m| m.iter_mut().zip(theta).for_each(|(m, theta)| *m = 1.0 / (1.0 + theta * theta)))
}

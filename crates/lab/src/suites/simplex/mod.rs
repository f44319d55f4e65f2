//! Baker (2019), §5.2.3 and §5.3.2: SGRLD and SCIR on a sparse and a dense Dirichlet posterior.
//!
//! N = 1000 observations of 10 categories, α = 0.1, constant step sizes of table B.5.1, 1000 draws after 1000 steps of
//! burn-in. For every seed and algorithm the step size with the smallest Kolmogorov-Smirnov distance counts.

pub(super) mod figure_5_2_1;
pub(super) mod figure_5_3_1;

use std::fmt::Debug;

use sgmcmc::Builder;
use sgmcmc::algorithms::Dynamics;
use sgmcmc::diagnostics::distance::dirichlet_ks;
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::rng::ChainRng;
use sgmcmc::simplex::{CirTransition, Counts, ExpandedMean, Scir, SimplexTarget};

use crate::Result;

const ALPHA: f64 = 0.1;
const DRAWS: usize = 1000;
const BURN_IN: usize = 1000;
const SEEDS: u64 = 5;

/// The step sizes of table B.5.1.
const SCIR_STEPS: [f64; 7] = [1.0, 5e-1, 1e-1, 5e-2, 1e-2, 5e-3, 1e-3];
const SGRLD_STEPS: [f64; 8] = [5e-1, 1e-1, 5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4];

/// The number of observations of every category.
#[derive(Clone, Copy, Debug)]
struct Posterior {
    name: &'static str,
    totals: [usize; 10],
}

const SPARSE: Posterior = Posterior { name: "sparse", totals: [800, 100, 100, 0, 0, 0, 0, 0, 0, 0] };
const DENSE: Posterior = Posterior { name: "dense", totals: [112, 119, 92, 98, 95, 96, 102, 92, 91, 103] };

/// The two algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Algorithm {
    Scir,
    Sgrld,
}

/// The draws of a chain and their distance from the posterior.
#[derive(Clone, Debug)]
struct Sampled {
    step_size: f64,
    /// ω, draw by draw.
    draws: Vec<f64>,
    distance: f64,
}

impl Posterior {
    /// The parameter of the Dirichlet distribution.
    fn parameter(&self) -> [f64; 10] {
        self.totals.map(|total| ALPHA + total as f64)
    }

    fn target(&self) -> Result<SimplexTarget> {
        let labels: Vec<usize> = self.totals.iter().enumerate().flat_map(|(j, n)| vec![j; *n]).collect();
        Ok(SimplexTarget::new(vec![ALPHA; 10], Counts::from_labels(&labels, 10)?)?)
    }

    /// Draws from the posterior itself.
    fn exact(&self, seed: u64) -> Result<Sampled> {
        // After an infinite time the process has its stationary distribution, which normalizes to the posterior.
        let (process, mut rng) = (CirTransition::new(700.0)?, ChainRng::new(seed, 7));
        let target = self.target()?;
        let mut draws = Vec::new();
        for _ in 0..DRAWS {
            let mut log_theta = [0.0; 10];
            process.step_all(&mut log_theta, &self.parameter(), rng.noise());
            draws.extend(target.simplex_layout().values(&log_theta)?);
        }
        let distance = dirichlet_ks(&draws, &self.parameter())?;
        Ok(Sampled { step_size: f64::NAN, draws, distance })
    }

    /// Runs `algorithm` with all of its step sizes. Returns the run with the smallest distance.
    fn best(&self, algorithm: Algorithm, minibatch: usize, seed: u64) -> Result<Sampled> {
        // The sums of θ start at their stationary means.
        let total = self.totals.iter().sum::<usize>() as f64 + 10.0 * ALPHA;
        let steps: &[f64] = if algorithm == Algorithm::Scir { &SCIR_STEPS } else { &SGRLD_STEPS };
        let mut best: Option<Sampled> = None;
        for h in steps {
            let sampled = match algorithm {
                Algorithm::Scir => self.run(self.target()?.with_total(total)?, Scir, *h, minibatch, seed)?,
                Algorithm::Sgrld => self.run(self.target()?, ExpandedMean, *h, minibatch, seed)?,
            };
            if best.as_ref().is_none_or(|best| sampled.distance < best.distance) {
                best = Some(sampled);
            }
        }
        best.ok_or_else(|| "there is no step size".into())
    }

    fn run<D>(&self, target: SimplexTarget, dynamics: D, h: f64, minibatch: usize, seed: u64) -> Result<Sampled>
    where
        D: Dynamics<MinibatchGradient> + Clone + Debug + 'static,
    {
        let gradient = MinibatchGradient::new(WithoutReplacement::new(minibatch));
        let mut sampler = Builder::new(target.clone(), dynamics, gradient, h).seed(seed).start(&vec![0.1; 10])?;
        let mut draws = Vec::new();
        for step in 0..BURN_IN + DRAWS {
            if sampler.step().is_err() {
                // The chain has diverged.
                return Ok(Sampled { step_size: h, draws: Vec::new(), distance: 1.0 });
            }
            if step >= BURN_IN {
                draws.extend(target.simplex_layout().values(sampler.chain().position())?);
            }
        }
        let distance = dirichlet_ks(&draws, &self.parameter())?;
        Ok(Sampled { step_size: h, draws, distance })
    }
}

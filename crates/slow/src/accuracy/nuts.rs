//! NUTS at equal compute: one long run per posterior, of which every cell sees as much as its own budget pays for.

use sgmcmc::Fit;

use super::agreement::Agreement;
use super::tuning::Tuning;
use crate::Result;
use crate::posteriordb::Reference;

/// A run of NUTS in whitened coordinates.
#[derive(Debug)]
pub(crate) struct NutsRun {
    /// Draws of the reference parameters.
    fit: Fit,
    /// Full gradients of all chains up to the end of the warm-up, and of each round of one draw per chain after it.
    warm_up: f64,
    rounds: Vec<f64>,
    observations: f64,
}

/// What NUTS does with a budget.
#[derive(Clone, Debug)]
pub(crate) enum AtEqualCompute {
    /// Errors of its draws.
    Reached(Agreement),
    /// The budget is spent before the warm-up is over.
    InWarmUp,
}

impl NutsRun {
    /// Runs NUTS until it has used `budget` gradients of single observations.
    #[cfg(feature = "nuts")]
    pub(crate) fn of(tuning: &Tuning, budget: f64) -> Result<Option<Self>> {
        use super::plan::CHAINS;
        use crate::posteriors::coordinates::Coordinates;

        /// Iterations that find the step size: the metric is known, for the coordinates are whitened.
        const WARM_UP: u64 = 300;
        /// Draws per chain from which the cost of a draw is estimated.
        const PILOT: usize = 100;

        let nuts = sgmcmc::Nuts { warm_up: WARM_UP, chains: CHAINS, seed: 3, ..sgmcmc::Nuts::default() };
        let starts =
            tuning.starts(CHAINS).iter().map(|start| Coordinates::start(start)).collect::<sgmcmc::Result<Vec<_>>>()?;
        let observations = tuning.problem.observations as f64;
        let sample = |draws: usize| -> Result<Self> {
            let fit = nuts.sample(&tuning.whitened, &starts[..], draws)?;
            let mut rounds = vec![0.0; draws];
            for chain in fit.chains() {
                let steps = chain.stat("n_steps").ok_or("NUTS does not say how many steps it takes")?;
                rounds.iter_mut().zip(steps).for_each(|(round, steps)| *round += steps);
            }
            let all: u64 = fit.info().gradients.iter().sum();
            let warm_up = all as f64 - rounds.iter().sum::<f64>();
            let fit = tuning.problem.reported(&fit, |position| tuning.whitened.to_model(position))?;
            Ok(Self { fit, warm_up, rounds, observations })
        };
        let pilot = sample(PILOT)?;
        let per_round = pilot.rounds.iter().sum::<f64>() / PILOT as f64;
        let rounds = (budget / observations - pilot.warm_up) / per_round;
        // A little more, because the cost of a draw is an estimate.
        sample((1.1 * rounds).max(PILOT as f64) as usize).map(Some)
    }

    /// There is no NUTS without the feature `nuts`.
    #[cfg(not(feature = "nuts"))]
    pub(crate) fn of(_tuning: &Tuning, _budget: f64) -> Result<Option<Self>> {
        Ok(None)
    }

    /// The errors of the draws that `budget` gradients of single observations pay for, warm-up included.
    pub(crate) fn at(&self, budget: f64, reference: &[Reference]) -> Result<AtEqualCompute> {
        let mut left = budget / self.observations - self.warm_up;
        let paid = self.rounds.iter().take_while(|round| {
            left -= **round;
            left >= 0.0
        });
        let draws = paid.count();
        // Fewer have no effective sample size.
        if draws < 4 {
            return Ok(AtEqualCompute::InWarmUp);
        }
        Ok(AtEqualCompute::Reached(Agreement::of(&self.fit.first(draws), reference)?))
    }
}

//! NUTS at equal compute: one long run per posterior, truncated for each cell at the compute of that cell.

use sgmcmc::Fit;

use super::agreement::Agreement;
use super::tuning::Tuning;
use crate::Result;
use crate::suites::posteriordb::Reference;

/// A run of NUTS in whitened coordinates.
#[derive(Debug)]
pub(crate) struct NutsRun {
    /// Draws of the reference parameters.
    fit: Fit,
    /// The number of full gradients of all chains in the warm-up.
    warm_up: f64,
    /// The number of full gradients of each round of one draw per chain.
    rounds: Vec<f64>,
    observations: f64,
}

/// The result of NUTS with a budget.
#[derive(Clone, Debug)]
pub(crate) enum AtEqualCompute {
    /// The errors of its draws.
    Reached(Agreement),
    /// The budget is used up during the warm-up.
    InWarmUp,
}

impl NutsRun {
    /// Runs NUTS until it has used `budget` gradients of single observations.
    #[cfg(feature = "nuts")]
    pub(crate) fn new(tuning: &Tuning, budget: f64) -> Result<Option<Self>> {
        use super::plan::CHAINS;
        use crate::suites::posteriors::coordinates::Coordinates;

        /// The number of iterations that adapt the step size. The metric is the identity in whitened coordinates.
        const WARM_UP: u64 = 300;
        /// The number of draws per chain that estimate the cost of a draw.
        const PILOT: usize = 100;

        let nuts = sgmcmc::algorithms::Nuts {
            warm_up: WARM_UP,
            chains: CHAINS,
            seed: 3,
            ..sgmcmc::algorithms::Nuts::default()
        };
        let starts = tuning
            .starts(CHAINS)
            .iter()
            .map(|start| Coordinates::start(start))
            .collect::<sgmcmc::gradient::Result<Vec<_>>>()?;
        let observations = tuning.problem.observations as f64;
        let sample = |draws: usize| -> Result<Self> {
            let fit = nuts.sample(&tuning.whitened, &starts[..], draws)?;
            let mut rounds = vec![0.0; draws];
            for chain in fit.chains() {
                let steps = chain.stat("n_steps").ok_or("NUTS does not report its number of steps")?;
                rounds.iter_mut().zip(steps).for_each(|(round, steps)| *round += steps);
            }
            let all: u64 = fit.info().gradients.iter().sum();
            let warm_up = all as f64 - rounds.iter().sum::<f64>();
            let fit = tuning.problem.to_reference(&fit, |position| tuning.whitened.to_model(position))?;
            Ok(Self { fit, warm_up, rounds, observations })
        };
        let pilot = sample(PILOT)?;
        let per_round = pilot.rounds.iter().sum::<f64>() / PILOT as f64;
        let rounds = (budget / observations - pilot.warm_up) / per_round;
        // Add a margin, because the cost of a draw is an estimate.
        sample((1.1 * rounds).max(PILOT as f64) as usize).map(Some)
    }

    /// Returns `None`, because the feature `nuts` is disabled.
    #[cfg(not(feature = "nuts"))]
    pub(crate) fn new(_tuning: &Tuning, _budget: f64) -> Result<Option<Self>> {
        Ok(None)
    }

    /// Returns the errors of the draws within a budget of gradients of single observations, including the warm-up.
    pub(crate) fn within_budget(&self, budget: f64, reference: &[Reference]) -> Result<AtEqualCompute> {
        let mut remaining = budget / self.observations - self.warm_up;
        let affordable = self.rounds.iter().take_while(|round| {
            remaining -= **round;
            remaining >= 0.0
        });
        let draws = affordable.count();
        // The effective sample size needs at least four draws.
        if draws < 4 {
            return Ok(AtEqualCompute::InWarmUp);
        }
        Ok(AtEqualCompute::Reached(Agreement::new(&self.fit.first(draws), reference)?))
    }
}

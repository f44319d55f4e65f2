//! Simulation-based calibration.

use rand::RngExt;
use rayon::prelude::*;
use sgmcmc_fit::{Calibration, ChainOutcome, Fit};
use sgmcmc_gradient::error::{Error, Result};
use sgmcmc_gradient::rng::{ChainRng, StreamRng};
use sgmcmc_gradient::settings;

use crate::data::Dataset;
use crate::engine::Posterior;
use crate::model::Model;
use crate::tree::{TensorTree, TreeLayout};

/// The purpose of the streams of simulation-based calibration.
const CALIBRATION: u64 = 4;

/// Settings of simulation-based calibration.
///
/// # Examples
///
/// ```
/// use sgmcmc::predictive::SbcOptions;
///
/// assert_eq!(SbcOptions::default().simulations, 200);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SbcOptions {
    /// The number of simulated data sets. The default is 200.
    pub simulations: usize,
    /// The number of draws among which a true value is ranked. The default is 39. Runs should make at least this
    /// number of effective draws.
    pub ranked_draws: usize,
    /// The seed of the random number generators. The default is 0.
    pub seed: u64,
}

impl Default for SbcOptions {
    fn default() -> Self {
        Self { simulations: 200, ranked_draws: 39, seed: 0 }
    }
}

/// A simulated data set with the model, for one run of simulation-based calibration.
///
/// # Examples
///
/// See [`Model::sbc`].
#[derive(Debug)]
pub struct Simulated<'a, P, D> {
    /// The model and the simulated data.
    pub posterior: Posterior<P, D>,
    /// Parameters with the shapes of the model, to start from.
    pub start: &'a P,
    /// The seed of the run. Runs with equal seeds would have dependent ranks.
    pub seed: u64,
}

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Checks a method of inference by simulation-based calibration (Talts et al. 2018).
    ///
    /// Each simulation draws parameters from the prior and observations given them, with the covariates of `data` and
    /// the shapes of `like`. `run` samples the posterior of the simulated data, with the seed that it is given. The rank of each true value among the
    /// draws is uniform if the draws have the distribution of the posterior. Simulations run in parallel, and the result does
    /// not depend on the number of threads.
    ///
    /// A model whose density differs from its draws fails, as does a run that is too short or biased.
    ///
    /// # Errors
    ///
    /// Returns an error if the model cannot draw parameters or observations, or if a run fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::predictive::SbcOptions;
    /// use sgmcmc::prelude::*;
    ///
    /// #[derive(TensorTree)]
    /// struct Mean {
    ///     #[tree(prior = Normal::new(0.0, 1.0))]
    ///     mean: Tensor<1>,
    /// }
    ///
    /// let model = Model::observe(|p: Mean, _: Tensor<1>| Normal::new(p.mean, 1.0), |y: Tensor<1>| y);
    /// let options = SbcOptions { simulations: 20, ..SbcOptions::default() };
    /// let calibration = model.sbc(&Dataset::new(zeros([5]))?, &Mean { mean: zeros([1]) }, &options, |run| {
    ///     hmc(&model, run.posterior.data(), 0.2).seed(run.seed).burn_in(50).thin(4).sample(run.start, 100)
    /// })?;
    /// assert_eq!(calibration.counts("mean", 4)?.iter().sum::<usize>(), 20);
    /// println!("{calibration}");
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn sbc<E: From<Error> + Send>(
        &self,
        data: &Dataset<D>,
        like: &P,
        options: &SbcOptions,
        run: impl Fn(&Simulated<'_, P, D>) -> Result<Fit, E> + Sync,
    ) -> Result<Calibration, E> {
        settings::at_least("the number of simulations", options.simulations, 1, "simulate at least 1 data set")?;
        settings::at_least("the number of ranked draws", options.ranked_draws, 1, "rank among at least 1 draw")?;
        let layout = self.layout(like)?;
        let streams = ChainRng::streams(options.seed, CALIBRATION, options.simulations);
        let simulate = |mut rng: StreamRng| -> Result<Simulation, E> {
            let truth = self.draw_prior(like, &mut rng)?;
            let posterior = self.with(&self.simulate_by(&truth, data, &mut rng)?);
            let fit = run(&Simulated { posterior, start: like, seed: rng.random() })?;
            if let Some(ChainOutcome::Failed(error)) =
                fit.outcomes().iter().find(|outcome| matches!(outcome, ChainOutcome::Failed(_)))
            {
                return Err(error.clone().into());
            }
            fit.parameters_like(&layout)?;
            let truth = layout.values(&layout.flatten(&truth)?)?;
            let rows = fit.evenly_spaced(options.ranked_draws)?.into_iter().map(|row| row[..truth.len()].to_vec());
            Ok(Simulation { rows: rows.collect(), truth, rng })
        };
        let simulations = streams.into_par_iter().map(simulate).collect::<Result<Vec<_>, E>>()?;
        let mut calibration = Calibration::new(layout.value_names(), options.ranked_draws);
        for Simulation { truth, rows, mut rng } in simulations {
            calibration.push(&truth, &rows, &mut rng);
        }
        Ok(calibration)
    }
}

/// The true values and the ranked draws of one simulation.
struct Simulation {
    truth: Vec<f64>,
    rows: Vec<Vec<f64>>,
    rng: StreamRng,
}

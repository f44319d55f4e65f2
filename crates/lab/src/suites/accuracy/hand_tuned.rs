//! SGLD with control variates at the best setting of a grid, as a stand-in for tuning by hand.
//!
//! Settings: two minibatch sizes, six step sizes, and two matrices: the identity and the covariance of the Laplace
//! approximation, if it exists. Step sizes are relative to the inverse of the largest curvature: 1/λ for the identity,
//! where λ is the largest eigenvalue of the Hessian at the mode, and 1 for the Laplace metric. Each setting has a short
//! run. The settings whose bias is within the budget are repeated, the fastest first, until a run that is long enough is
//! within the budget, too. That run is the result.
//!
//! The budget is that of `auto`. The bias of a run is measured by its differences from the reference, with 3 combined
//! Monte Carlo errors added to the budget, and predicted by the law of the algorithm. The measurement alone would
//! accept settings of several times the budget, because the Monte Carlo errors exceed it.
//!
//! The cost of the result has the mode search, the metric and the run, and not the grid.

use std::fmt;
use std::fmt::Debug;
use std::time::Instant;

use sgmcmc::algorithms::{Dynamics, PreconditionedSgld, Sgld};
use sgmcmc::curvature::hessian;
use sgmcmc::fit::Bias;
use sgmcmc::gradient::{ControlVariate, Target};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::mode::LbfgsSearch;
use sgmcmc::numerics::SymmetricEigen;
use sgmcmc::prelude::*;
use sgmcmc::tuning::Goal;

use super::comparison::{Differences, MEAN_TOLERANCE, Moments};
use super::methods::{CHAINS, Gradients, Row, check_complete, sampling_gradients};
use crate::Result;

const MINIBATCHES: [usize; 2] = [50, 500];
/// The step sizes times the largest curvature. Without gradient noise the variance of the stiffest direction is 1/(1 −
/// h/4) times that of the posterior: 1.05 for the largest of them, which is the budget.
const STEPS: [f64; 6] = [0.02, 0.04, 0.08, 0.12, 0.16, 0.19];
/// The smallest effective sample size of a short run that is judged.
const JUDGED: f64 = 20.0;
/// The planned effective sample size of the long run, as a multiple of the goal of `auto`.
const MARGIN: f64 = 1.2;
/// The largest length of the long run, in lengths of a short run.
const LONGEST: f64 = 50.0;
/// The largest number of long runs.
const ATTEMPTS: usize = 4;
/// The number of iterations per draw of short runs.
const THIN: u64 = 4;
/// The largest number of draws per chain of the long run.
const DRAWS: u64 = 10_000;

/// Finds the best setting and returns its run. `steps` is the number of steps per chain of a short run.
///
/// # Errors
///
/// Returns an error if no setting is within the budget, and the errors of the model.
pub(super) fn best<T: Target + Clone>(
    target: &T,
    start: &T::Params,
    reference: &[Moments],
    steps: u64,
    seed: u64,
) -> Result<Row> {
    let grid = Grid::new(target, start, reference, seed)?;
    let (settings, mut candidates) = (grid.settings(), Vec::new());
    for setting in &settings {
        match grid.run(setting, steps, THIN) {
            Err(error) => println!("  grid: {setting}: {error}"),
            Ok(trial) if trial.row.ess >= JUDGED => match grid.outside_of_budget(&trial)? {
                None => candidates.push((setting, trial)),
                Some(reason) => println!("  grid: {setting}: {reason}"),
            },
            Ok(trial) => println!("  grid: {setting}: {:.0} effective draws, too few to judge", trial.row.ess),
        }
    }
    println!("  grid: {} of {} settings have a bias within the budget", candidates.len(), settings.len());
    candidates.sort_by(|a, b| a.1.projected_seconds().total_cmp(&b.1.projected_seconds()));
    for (setting, short) in candidates.iter().take(ATTEMPTS) {
        let steps = (short.extension().clamp(1.0, LONGEST) * steps as f64) as u64;
        let long = grid.run(setting, steps, steps.div_ceil(DRAWS).max(THIN))?;
        match grid.outside_of_budget(&long)? {
            None => return Ok(long.row),
            Some(reason) => println!("  grid: {setting}, long run: {reason}"),
        }
    }
    Err(format!("no setting of the grid has {JUDGED} effective draws in {steps} steps and a bias within the budget")
        .into())
}

/// A run of a setting.
struct Trial {
    row: Row,
    /// The time of the chains.
    sampling_seconds: f64,
    bias: Bias,
}

impl Trial {
    /// Returns the factor by which the run would have to be longer.
    fn extension(&self) -> f64 {
        MARGIN * Goal::default().effective_draws / self.row.ess
    }

    /// Returns the time of a run of the wanted effective sample size, with the mode and the metric.
    fn projected_seconds(&self) -> f64 {
        self.row.seconds + (self.extension() - 1.0) * self.sampling_seconds
    }
}

/// A setting of the grid.
#[derive(Clone, Debug)]
struct Setting {
    /// The matrix; `None` is the identity.
    metric: Option<PreconditionedSgld>,
    minibatch: usize,
    /// The step size times the largest curvature, and the step size.
    relative: f64,
    h: f64,
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metric, minibatch, relative, h } = self;
        match metric {
            Some(_) => write!(f, "SGLD-CV, Laplace metric, minibatch {minibatch}, h {h:.2}"),
            None => write!(f, "SGLD-CV, minibatch {minibatch}, h {h:.1e} = {relative}/λ"),
        }
    }
}

/// The problem and the parts that are common to all settings of the grid.
struct Grid<'a, T: Target> {
    target: &'a T,
    reference: &'a [Moments],
    /// The mode in coordinates, the center of the control variates, and as the start of the chains.
    center: Vec<f64>,
    start: T::Params,
    observations: usize,
    /// The cost of the mode.
    mode: Cost,
    /// The Laplace metric and its cost.
    metric: Option<(PreconditionedSgld, Cost)>,
    /// The largest curvature at the mode.
    stiffest: f64,
    seed: u64,
}

/// The cost of a preparation.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    passes: f64,
}

impl<'a, T: Target + Clone> Grid<'a, T> {
    /// Finds the mode, its curvature and the Laplace metric.
    fn new(target: &'a T, start: &T::Params, reference: &'a [Moments], seed: u64) -> Result<Self> {
        let begin = Instant::now();
        let mut evaluator = target.evaluator(start)?;
        evaluator.set_threads(rayon::current_num_threads());
        let (layout, observations) = (evaluator.layout().clone(), evaluator.observations());
        let mode = LbfgsSearch::default().run(evaluator.as_mut(), &target.flatten(&layout, start)?)?;
        let found = Cost { seconds: begin.elapsed().as_secs_f64(), passes: mode.full_passes as f64 };
        println!("  grid: mode search {mode}");
        let begin = Instant::now();
        let metric = match PreconditionedSgld::laplace(evaluator.as_mut(), &mode.theta) {
            Ok(metric) => {
                let passes = (2 * mode.theta.len() + 1) as f64;
                Some((metric, Cost { seconds: begin.elapsed().as_secs_f64(), passes }))
            }
            Err(error) => {
                println!("  grid: no Laplace metric: {error}");
                None
            }
        };
        let stiffest = SymmetricEigen::new(&hessian(evaluator.as_mut(), &mode.theta)?, mode.theta.len()).largest();
        let start = target.unflatten(&layout, start, &mode.theta)?;
        let center = mode.theta;
        Ok(Self { target, reference, center, start, observations, mode: found, metric, stiffest, seed })
    }

    /// Returns all settings.
    fn settings(&self) -> Vec<Setting> {
        let metric = self.metric.as_ref().map(|(metric, _)| (Some(metric.clone()), 1.0));
        let plain = (self.stiffest.is_finite() && self.stiffest > 0.0).then(|| (None, 1.0 / self.stiffest));
        let mut settings = Vec::new();
        for (metric, unit) in [metric, plain].into_iter().flatten() {
            for minibatch in MINIBATCHES.map(|minibatch| minibatch.min(self.observations)) {
                settings.extend(STEPS.map(|relative| {
                    let metric = metric.clone();
                    Setting { metric, minibatch, relative, h: relative * unit }
                }));
            }
        }
        settings
    }

    /// Runs a setting. The cost of the row has the mode and the metric.
    fn run(&self, setting: &Setting, steps: u64, thin: u64) -> Result<Trial> {
        let begin = Instant::now();
        let fit = match &setting.metric {
            Some(metric) => self.sample(metric.clone(), setting, steps, thin),
            None => self.sample(Sgld, setting, steps, thin),
        }?;
        let sampling_seconds = begin.elapsed().as_secs_f64();
        let mut cost = self.mode;
        if let (Some(_), Some((_, metric))) = (&setting.metric, &self.metric) {
            cost = Cost { seconds: cost.seconds + metric.seconds, passes: cost.passes + metric.passes };
        }
        check_complete(&fit)?;
        // Every chain evaluates the gradient at its center once.
        let tuning = (cost.passes + CHAINS as f64) * self.observations as f64;
        let gradients = Gradients { tuning, sampling: sampling_gradients(fit.info()) };
        let row = Row::new(setting.to_string(), &fit, cost.seconds + sampling_seconds, gradients);
        Ok(Trial { row, sampling_seconds, bias: fit.info().bias.clone() })
    }

    fn sample<A>(&self, dynamics: A, setting: &Setting, steps: u64, thin: u64) -> Result<Fit>
    where
        A: Dynamics<ControlVariate> + Clone + Debug + 'static,
    {
        let gradient = ControlVariate::new(WithoutReplacement::new(setting.minibatch)).with_center(self.center.clone());
        let run = Builder::new(self.target.clone(), dynamics, gradient, setting.h).seed(self.seed).chains(CHAINS);
        Ok(run.burn_in(steps / 10).thin(thin).sample(&self.start, (steps / thin).max(4) as usize)?)
    }

    /// Returns the reason why the bias of a run exceeds the budget of `auto`, if it does.
    fn outside_of_budget(&self, Trial { row, bias, .. }: &Trial) -> Result<Option<String>> {
        // The budget is the relative error of a variance, which is twice that of the standard deviation.
        let budget = 0.5 * Goal::default().bias;
        if let Bias::Predicted(predicted) = bias
            && predicted.worst_sd_error().abs() > budget
        {
            let error = predicted.worst_sd_error();
            return Ok(Some(format!("the predicted error of an sd is {error:+.3}, more than {budget}")));
        }
        Ok(Differences::new(&row.moments, self.reference)?.first_outside(MEAN_TOLERANCE, budget))
    }
}

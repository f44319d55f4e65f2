//! Sampling with the settings that tuning chose.

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_fit::{ChainOutcome, Finding, Fit, Severity, TuningRecord};
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ControlVariate, FullGradient, Layout, MinibatchGradient, Result, Target, WithoutReplacement};

use super::decisions::BURN_IN;
use super::plan::{
    Common, HamiltonianPlan, INITIAL_STEP, LEAPFROG_STEPS, SearchPlan, StochasticGradientPlan, coordinates,
};
use super::rounds::{Accuracy, RoundPlan, Sampled, until_good};
use super::search::Method;
use super::verdict::{Examined, GradientSource, MeasuredBias};
use super::{Auto, Tuned};
use crate::langevin::{AdaptiveSgld, Sgld};
use crate::run::Builder;

/// The largest number of rounds' worth of draws relative to the predicted number.
const MOST: usize = 64;
const MOST_HOPELESS: usize = 4;
/// The number of draws of the first round of a run with searched settings, and the number of iterations per draw.
const SEARCH_DRAWS: usize = 1000;
const SEARCH_THIN: u64 = 10;

/// The cost of a run, in gradients of single observations times parameters, below which it makes more draws than the goal
/// needs: about half a second.
const CHEAP: f64 = 5e8;

/// The lengths of a run, in draws per chain, and their cost in gradients of single observations.
struct Lengths {
    /// The predicted number of draws.
    first: usize,
    /// The smallest number of draws.
    least: usize,
    /// The cost of one draw of all chains.
    per_draw: u64,
    /// The cost before the first draw.
    before: u64,
}

/// The main run.
pub(super) struct Sampling<'a, T: Target> {
    pub(super) auto: &'a Auto<T>,
    pub(super) start: &'a T::Params,
    pub(super) deadline: Option<Instant>,
    pub(super) record: TuningRecord,
}

impl<T: Target> Sampling<'_, T> {
    /// Samples with control variates, and measures the bias of the draws.
    pub(super) fn stochastic_gradient(mut self, tuned: &Tuned, plan: &StochasticGradientPlan) -> Result<Fit> {
        let (auto, choice) = (self.auto, plan.choice);
        let chains = auto.chains;
        let time = choice.autocorrelation_time * plan.slowdown;
        let thin = (time / 6.0).floor().clamp(1.0, 1e6) as u64;
        let burn_in = (BURN_IN * time).ceil() as u64;
        let per_draw = thin * 2 * choice.minibatch as u64 * chains as u64;
        // Sampling is at least half as long as tuning was.
        let least = self.record.gradients / (2 * per_draw).max(1);
        let predicted = 1.2 * auto.goal.effective_draws * (time / thin as f64).max(1.0) / chains as f64;
        let first = predicted.ceil() as usize;
        let rounds =
            self.round_plan(Lengths { first, least: least as usize, per_draw, before: burn_in / thin * per_draw });
        let starts = auto.starts(self.start, &tuned.layout, &plan.approximation, chains, auto.seed)?;
        let common = Common { seed: auto.seed, chains, burn_in, thin, checkpoints: Some(auto.store()) };
        let run = auto.stochastic_gradient(plan, common)?;
        let Sampled { fit, accuracy } = until_good(run.as_ref(), &starts, &rounds)?;
        let draws = coordinates(&fit, &tuned.layout)?;
        if draws.len() > 1 {
            let examined = Examined { draws: &draws, effective: accuracy.effective };
            let source = GradientSource { weights: &plan.noise.weights, kappa: plan.noise.kappa };
            let make = || auto.target.evaluator(self.start);
            let bias = MeasuredBias::new(
                &make,
                &tuned.layout,
                &plan.approximation,
                source,
                &examined,
                auto.seed ^ 0x6269_6173,
            )?;
            self.record.gradients += bias.cost;
            self.record.decisions.push(format!(
                "measured at the draws: variance {:+.1} ± {:.1} % (predicted {:+.1} %), largest error of a mean {:.2} ± {:.2} standard \
                 deviations",
                100.0 * bias.variance,
                100.0 * bias.variance_error,
                100.0 * (choice.variance_ratio - 1.0),
                bias.mean.abs(),
                bias.mean_error
            ));
            self.record.findings.extend(bias.findings);
        }
        Ok(self.finish(fit, accuracy))
    }

    /// Samples with Hamiltonian Monte Carlo.
    pub(super) fn hamiltonian(self, tuned: &Tuned, plan: &HamiltonianPlan) -> Result<Fit> {
        let auto = self.auto;
        let chains = auto.chains;
        let starts = match &plan.approximation {
            Some(approximation) => auto.starts(self.start, &tuned.layout, approximation, chains, auto.seed)?,
            None => self.starts_around(&tuned.layout)?,
        };
        let observations = auto.target.evaluator(self.start)?.observations().max(1);
        let per_draw = observations as u64 * u64::from(LEAPFROG_STEPS) * chains as u64;
        // Where draws are cheap there are more of them, so that standard deviations are accurate, too.
        let cost = auto.goal.effective_draws * per_draw as f64 / chains as f64 * (tuned.layout.dim() + 5) as f64;
        let multiple = (CHEAP / cost).clamp(1.0, 4.0);
        let first = (multiple * 1.5 * auto.goal.effective_draws / chains as f64).ceil().max(250.0) as usize;
        // The warm-up uses at most half of the budget.
        let affordable = auto
            .goal
            .gradients
            .map_or(u64::MAX, |budget| budget.saturating_sub(self.record.gradients) / (2 * per_draw));
        let dynamics = plan.dynamics(affordable);
        let rounds =
            self.round_plan(Lengths { first, least: 0, per_draw, before: plan.warm_up(affordable) * per_draw });
        let common = Common { seed: auto.seed, chains, burn_in: 0, thin: 1, checkpoints: Some(auto.store()) };
        let run = auto.configured(Builder::new(auto.target.clone(), dynamics, FullGradient, INITIAL_STEP), common);
        let Sampled { fit, accuracy } = until_good(run.as_ref(), &starts, &rounds)?;
        Ok(self.finish(fit, accuracy))
    }

    /// Samples with the settings of a search.
    pub(super) fn searched(self, tuned: &Tuned, plan: &SearchPlan) -> Result<Fit> {
        let auto = self.auto;
        let chains = auto.chains;
        let SearchPlan { arm, center } = plan;
        let start = auto.target.unflatten(&tuned.layout, self.start, center)?;
        let starts = (0..chains)
            .map(|_| auto.target.unflatten(&tuned.layout, &start, center))
            .collect::<Result<Vec<T::Params>>>()?;
        let per_draw = SEARCH_THIN * 2 * arm.minibatch as u64 * chains as u64;
        let burn_in = SEARCH_THIN * SEARCH_DRAWS as u64 / 2;
        let before = SEARCH_DRAWS as u64 / 2 * per_draw;
        let rounds = self.round_plan(Lengths { first: SEARCH_DRAWS, least: 0, per_draw, before });
        let checkpoints = Some(auto.store());
        let common = Common { seed: auto.seed, chains, burn_in, thin: SEARCH_THIN, checkpoints };
        let scheme = WithoutReplacement::new(arm.minibatch);
        let (target, h) = (auto.target.clone(), arm.step_size);
        let plain = MinibatchGradient::new(scheme);
        let run = match arm.method {
            Method::Controlled => {
                let gradient = ControlVariate::new(scheme).with_center(center.clone());
                auto.configured(Builder::new(target, Sgld, gradient, h), common)
            }
            Method::Plain => auto.configured(Builder::new(target, Sgld, plain, h), common),
            Method::Adaptive => auto.configured(Builder::new(target, AdaptiveSgld::default(), plain, h), common),
        };
        let Sampled { fit, accuracy } = until_good(run.as_ref(), &starts, &rounds)?;
        Ok(self.finish(fit, accuracy))
    }

    /// Returns starts at a random distance from the start of the caller.
    fn starts_around(&self, layout: &Layout) -> Result<Vec<T::Params>> {
        let auto = self.auto;
        let theta = auto.target.flatten(layout, self.start)?;
        let mut rng = StreamRng::seed_from_u64(auto.seed ^ 0x7374_6172_7473);
        let mut near = || theta.iter().map(|x| x + 0.5 * rng.sample::<f64, _>(StandardNormal)).collect::<Vec<f64>>();
        (0..auto.chains).map(|_| auto.target.unflatten(layout, self.start, &near())).collect()
    }

    fn round_plan(&self, lengths: Lengths) -> RoundPlan {
        let (goal, Lengths { first, least, per_draw, before }) = (self.auto.goal, lengths);
        let spent = self.record.gradients.saturating_add(before);
        let affordable = goal.gradients.map(|budget| budget.saturating_sub(spent) / per_draw.max(1));
        // A run that cannot be trusted is not continued for long.
        let hopeless = self.record.findings.iter().any(|finding| finding.severity == Severity::Problem);
        let multiple = if hopeless { MOST_HOPELESS } else { MOST };
        let most = affordable.map_or(first.max(least).saturating_mul(multiple), |draws| (draws as usize).max(1));
        RoundPlan { goal, first, most, least, deadline: self.deadline, stop: self.auto.stop.clone() }
    }

    /// Adds the record of tuning to the fit, with what is missing.
    fn finish(mut self, fit: Fit, accuracy: Accuracy) -> Fit {
        let goal = &self.auto.goal;
        let Accuracy { effective, r_hat } = accuracy;
        self.record.decisions.push(format!(
            "sampled {} draws per chain: smallest effective sample size {effective:.0}, largest R-hat {r_hat:.3}",
            fit.chains().iter().map(|chain| chain.len()).max().unwrap_or(0)
        ));
        if !accuracy.reaches(goal) {
            let failed = fit.outcomes().iter().any(|outcome| matches!(outcome, ChainOutcome::Failed(_)));
            let reason = match (self.auto.stop.is_set(), failed) {
                (true, _) => "was stopped",
                (false, true) => "ended with a chain that failed",
                (false, false) => "used up its budget",
            };
            self.record.findings.push(Finding::new(
                Severity::Problem,
                format!(
                    "the run {reason} before its goal: {effective:.0} of {:.0} effective draws, R-hat {r_hat:.3} (goal {})",
                    goal.effective_draws, goal.r_hat
                ),
                "allow more gradients or time; if R-hat stays large, look for several modes, and reparameterize parameters whose scale depends on \
                 others",
            ));
        }
        let mut info = fit.info().clone();
        info.tuning = Some(self.record);
        fit.with_info(info)
    }
}

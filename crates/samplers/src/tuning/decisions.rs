//! The decisions of automatic tuning, from the mode to the settings of a run.

use sgmcmc_fit::{Finding, Severity, TuningRecord};
use sgmcmc_gradient::{Evaluator, Layout, Mode, Result, Target};

use super::Auto;
use super::approximation::NormalApproximation;
use super::choice::{Candidate, CurvatureRange, WhitenedProblem};
use super::location;
use super::noise::Noise;
use super::pilot::Pilot;
use super::plan::{Common, HamiltonianPlan, LEAPFROG_STEPS, Plan, SearchPlan, StochasticGradientPlan};
use super::search::{self, Found};

/// The number of gradients of single observations, times the number of parameters, below which the full gradient is
/// affordable: about two seconds.
const AFFORDABLE: f64 = 2e9;
/// The number of effective draws by which costs are compared.
const TYPICAL_DRAWS: f64 = 400.0;
/// The number above which the full gradient is too expensive even if there is no better choice.
const UNAFFORDABLE: f64 = 2e12;
/// The number of coordinates above which settings are searched for instead of predicted.
const LARGE_DIM: usize = 2000;
/// The budget of a search, in gradients of single observations.
const SEARCH_BUDGET: u64 = 40_000_000;
/// The largest number of corrections of the approximation by pilot chains.
const CORRECTIONS: usize = 3;
/// The burn-in in autocorrelation times.
pub(super) const BURN_IN: f64 = 6.0;
/// The curvatures of a posterior that is whitened by the covariance of pilot chains.
const CORRECTED_CURVATURE: CurvatureRange = CurvatureRange { smallest: 0.7, largest: 1.5 };
/// The largest kurtosis of the gradient noise in excess of a normal distribution.
const MOST_KURTOSIS: f64 = 1.0;

/// Tuning under way: the decisions made so far.
pub(super) struct Decisions<'a, T: Target> {
    auto: &'a Auto<T>,
    start: &'a T::Params,
    evaluator: Box<dyn Evaluator>,
    pub(super) layout: Layout,
    pub(super) mode: Option<Mode>,
    pub(super) plan: Plan,
    pub(super) record: TuningRecord,
}

impl<'a, T: Target> Decisions<'a, T> {
    pub(super) fn new(auto: &'a Auto<T>, start: &'a T::Params) -> Result<Self> {
        let mut evaluator = auto.target.evaluator(start)?;
        evaluator.set_threads(rayon::current_num_threads());
        let layout = evaluator.layout().clone();
        let plan = Plan::Hamiltonian(HamiltonianPlan { approximation: None });
        Ok(Self { auto, start, evaluator, layout, mode: None, plan, record: TuningRecord::default() })
    }

    fn decide(&mut self, sentence: String) {
        log::info!("{sentence}");
        self.record.decisions.push(sentence);
    }

    pub(super) fn find(&mut self, severity: Severity, what: impl Into<String>, remedy: &str) {
        self.record.findings.push(Finding::new(severity, what, remedy));
    }

    /// Makes all decisions.
    pub(super) fn make(&mut self) -> Result<()> {
        let theta = self.auto.target.flatten(&self.layout, self.start)?;
        let observations = self.evaluator.observations();
        let location = location::locate(self.evaluator.as_mut(), &theta, self.auto.seed)?;
        self.record.gradients += location.cost;
        self.decide(format!("the posterior was located with {} passes over all data", location.passes));
        let approximation = match &location.approximation {
            Ok(approximation) => approximation.clone(),
            Err(error) => {
                self.decide(format!("no normal approximation of the posterior: {error}"));
                return self.without_approximation(&location.reference.theta);
            }
        };
        if observations > 0 && self.layout.dim() > LARGE_DIM {
            self.decide(format!(
                "{} coordinates are too many for a prediction by a normal approximation",
                self.layout.dim()
            ));
            return self.search(&approximation.center);
        }
        self.compare_modes(&location, &approximation);
        self.report_flat_directions(&approximation);
        self.mode = location.mode.filter(Mode::is_close);
        let CurvatureRange { smallest: low, largest: high } = approximation.curvature;
        let quality = if approximation.converged { "close to normal" } else { "not close to normal" };
        self.decide(format!(
            "within one standard deviation of its center the posterior is {quality} (whitened curvatures {low:.2} to {high:.2})"
        ));
        if observations == 0 || self.exact_cost() <= AFFORDABLE {
            return self.hamiltonian(approximation, "the full gradient is affordable");
        }
        match Noise::measure(self.evaluator.as_mut(), &approximation, self.auto.seed) {
            Ok(noise) => self.stochastic_gradient(approximation, noise),
            Err(error) => {
                self.decide(format!("the gradient noise could not be measured: {error}"));
                self.hamiltonian(approximation, "there are no gradients of single observations")
            }
        }
    }

    /// Returns the predicted cost of Hamiltonian Monte Carlo: gradients of single observations times parameters.
    fn exact_cost(&self) -> f64 {
        let (observations, d) = (self.evaluator.observations() as f64, self.layout.dim() as f64);
        TYPICAL_DRAWS * f64::from(LEAPFROG_STEPS) * observations * (d + 5.0)
    }

    /// Chooses Hamiltonian Monte Carlo without an approximation of the posterior, or searches for settings if the full
    /// gradient is too expensive.
    fn without_approximation(&mut self, center: &[f64]) -> Result<()> {
        self.find(
            Severity::Warning,
            "the posterior has no usable normal approximation at its mode",
            "check the prior and the parameterization; scale parameters near zero and improper priors are frequent causes",
        );
        if self.exact_cost() > UNAFFORDABLE {
            return self.search(center);
        }
        self.fall_back_to_hamiltonian()
    }

    /// Chooses Hamiltonian Monte Carlo.
    fn hamiltonian(&mut self, approximation: NormalApproximation, reason: &str) -> Result<()> {
        self.decide(format!("Hamiltonian Monte Carlo, because {reason}: no bias"));
        self.plan = Plan::Hamiltonian(HamiltonianPlan { approximation: Some(approximation) });
        Ok(())
    }

    /// Searches for settings by the kernel Stein discrepancy of short chains.
    fn search(&mut self, center: &[f64]) -> Result<()> {
        let budget = self.auto.goal.gradients.map_or(SEARCH_BUDGET, |gradients| (gradients / 4).max(1));
        let found = search::search(&*self.auto.target, self.start, center, budget, self.auto.seed)?;
        let Some(Found { arm, arms, failed, cost }) = found else {
            self.decide("every combination of settings of the search failed".into());
            return self.fall_back_to_hamiltonian();
        };
        self.record.gradients += cost;
        self.decide(format!(
            "of {arms} combinations of algorithm, step size and minibatch size, of which {failed} failed, {} with step size {:.3e} and \
             minibatches of {} had the smallest kernel Stein discrepancy",
            arm.method.describe(),
            arm.step_size,
            sgmcmc_fit::count(arm.minibatch, "observation")
        ));
        self.find(
            Severity::Warning,
            "the step size was found by a search, so that its bias is not predicted",
            "compare with a run at half the step size (`Builder::halve_step_size`), or with a method with the full gradient",
        );
        self.plan = Plan::Search(SearchPlan { arm, center: center.to_vec() });
        Ok(())
    }

    fn fall_back_to_hamiltonian(&mut self) -> Result<()> {
        self.decide("Hamiltonian Monte Carlo from the start, with a mass matrix that is adapted".into());
        self.plan = Plan::Hamiltonian(HamiltonianPlan { approximation: None });
        Ok(())
    }

    /// Chooses the settings of stochastic-gradient dynamics, and corrects them by pilot chains.
    fn stochastic_gradient(&mut self, mut approximation: NormalApproximation, mut noise: Noise) -> Result<()> {
        let mut plan = self.choose(&approximation, noise.clone());
        for correction in 0..=CORRECTIONS {
            self.record.gradients += noise.cost;
            if self.auto.stop.is_set() {
                break;
            }
            let pilot = match self.pilot(&plan, correction) {
                Ok(pilot) => pilot,
                Err(_) if self.auto.stop.is_set() => break,
                Err(error) => {
                    self.decide(format!("pilot chains failed: {error}"));
                    if self.exact_cost() > UNAFFORDABLE {
                        return self.search(&approximation.center);
                    }
                    return self.hamiltonian(approximation, "pilot chains with minibatches failed");
                }
            };
            plan.slowdown = pilot.slowdown;
            if pilot.agrees || correction == CORRECTIONS {
                if !pilot.agrees {
                    self.find(
                        Severity::Warning,
                        format!("pilot chains do not agree with a normal approximation: {}", pilot.describe()),
                        "the posterior is far from normal: examine the draws, and compare with a method with the full gradient",
                    );
                }
                self.decide(format!("pilot chains: {}", pilot.describe()));
                break;
            }
            self.decide(format!("pilot chains moved the approximation: {}", pilot.describe()));
            let corrected = approximation.transformed(&pilot.shift, &pilot.covariance).and_then(|corrected| {
                let seed = self.auto.seed + 1 + correction as u64;
                let noise = Noise::measure(self.evaluator.as_mut(), &corrected, seed)?;
                Ok((corrected, noise))
            });
            (approximation, noise) = match corrected {
                Ok(corrected) => corrected,
                Err(error) => {
                    self.decide(format!("the approximation cannot be corrected: {error}"));
                    self.find(
                        Severity::Problem,
                        "pilot chains found no scale of the posterior: it may be improper, or parameters may not be identified",
                        "give every parameter a proper prior, or remove the parameters that the data do not determine",
                    );
                    break;
                }
            };
            approximation.curvature = CORRECTED_CURVATURE;
            plan = self.choose(&approximation, noise.clone());
        }
        self.describe(&plan);
        self.plan = Plan::StochasticGradient(plan);
        Ok(())
    }

    /// Chooses the settings for a noise.
    fn choose(&self, approximation: &NormalApproximation, noise: Noise) -> StochasticGradientPlan {
        let CurvatureRange { smallest, largest } = approximation.curvature;
        let bounded = |value: f64, or: f64| if value.is_finite() { value.clamp(0.2, 5.0) } else { or };
        let problem = WhitenedProblem {
            noise: noise.kappa,
            curvature: CurvatureRange {
                smallest: bounded(smallest, 0.5).min(1.0),
                largest: bounded(largest, 1.0).max(1.0),
            },
            observations: self.evaluator.observations(),
            dim: self.layout.dim(),
        };
        let mut choice = problem.choose(self.auto.goal.bias);
        // The excess kurtosis of a sum of n terms is that of one term divided by n.
        let least = (noise.kurtosis / MOST_KURTOSIS).ceil() as usize;
        if choice.minibatch < least {
            choice = problem.predict(choice.algorithm, choice.step_size, least.min(problem.observations));
        }
        StochasticGradientPlan { approximation: approximation.clone(), noise, choice, slowdown: 1.0 }
    }

    fn describe(&mut self, plan: &StochasticGradientPlan) {
        let StochasticGradientPlan { noise, choice, .. } = plan;
        self.decide(format!(
            "control variates at the center, minibatches of {} drawn by influence (noise {:.0} per observation; drawn uniformly it \
             would be {:.0})",
            sgmcmc_fit::count(choice.minibatch, "observation"),
            noise.kappa,
            noise.kappa_uniform
        ));
        let algorithm = match choice.algorithm {
            Candidate::Langevin => "preconditioned SGLD".to_owned(),
            Candidate::Baoab { alpha } => format!("BAOAB with friction {alpha:.2} per step"),
        };
        self.decide(format!(
            "{algorithm}, step size {:.4} in whitened coordinates: predicted variance {:+.1} %, {:.0} steps per effective draw",
            choice.step_size,
            100.0 * (choice.variance_ratio - 1.0),
            choice.autocorrelation_time
        ));
    }

    /// Runs short chains with the settings of `plan`.
    fn pilot(&mut self, plan: &StochasticGradientPlan, number: usize) -> Result<Pilot> {
        let (chains, d) = (self.auto.chains.max(2), self.layout.dim());
        let time = plan.choice.autocorrelation_time;
        // The estimate of a dense covariance needs several effective draws per coordinate.
        let effective = if plan.approximation.is_dense() { 12.0 * d as f64 } else { 0.0 };
        let steps = f64::max(200.0, f64::max(20.0 * time, effective * time / chains as f64)).min(1e6) as usize;
        let seed = self.auto.seed ^ (0x7069_6c6f_7400 + number as u64);
        let starts = self.auto.starts(self.start, &self.layout, &plan.approximation, chains, seed)?;
        let burn_in = (BURN_IN * time).ceil() as u64;
        let common = Common { seed, chains, burn_in, thin: 1, checkpoints: None };
        let fit = self.auto.stochastic_gradient(plan, common)?.sample_from(&starts, steps)?;
        self.record.gradients += chains as u64 * (burn_in + steps as u64) * 2 * plan.choice.minibatch as u64;
        Pilot::new(&fit, &self.layout, plan)
    }
}

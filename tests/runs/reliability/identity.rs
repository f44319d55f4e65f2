//! A run goes on from a checkpoint only if everything that its draws depend on is the same.

use sgmcmc::algorithms::{Dynamics, Metric, MetropolisHastings, RandomWalk, RiemannianMala, Sgld, Sgrld};
use sgmcmc::distributions::Normal;
use sgmcmc::gradient::{Error, FullGradient, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::run::CheckpointInterval;
use sgmcmc::schedule::Polynomial;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::{Builder, Engine, Posterior, StepSize};
use tempfile::TempDir;

type Data = Dataset<Tensor<1>>;

const N: usize = 100;

fn data(sign: f64) -> Data {
    Dataset::new(array((0..N).map(|k| sign * (0.5 + (k as f64).sin())).collect::<Vec<f64>>(), [N]).unwrap()).unwrap()
}

fn model(factor: f64, scale: f64) -> Model<Tensor<1>, Tensor<1>> {
    Model::new(move |m: Tensor<1>, x: Tensor<1>| Normal::new(m, 1.0).log_prob(x) * factor)
        .prior(move |m: Tensor<1>| Normal::new(0.0, scale).log_prob(m).sum())
}

/// Everything that can differ between two runs.
struct Run {
    data: Data,
    model: Model<Tensor<1>, Tensor<1>>,
    engine: Engine,
    step_size: StepSize,
    start: f64,
    draws: usize,
}

impl Run {
    fn new() -> Self {
        let (data, model) = (data(1.0), model(1.0, 10.0));
        Self { data, model, engine: Engine::Auto, step_size: 1e-3.into(), start: 0.0, draws: 40 }
    }

    fn builder(
        self,
        directory: &TempDir,
    ) -> Builder<Posterior<Tensor<1>, Tensor<1>>, Sgld, MinibatchGradient<WithoutReplacement>> {
        let posterior = self.model.with(&self.data).engine(self.engine);
        let gradient = MinibatchGradient { scheme: WithoutReplacement::new(10) };
        let store = FileCheckpoints::new(directory.path()).unwrap();
        Builder::new(posterior, Sgld, gradient, self.step_size).seed(3).checkpoint(store, CheckpointInterval::Steps(7))
    }

    fn sample(self, directory: &TempDir) -> Result<Fit, Error> {
        let (start, draws) = (full([1], self.start), self.draws);
        self.builder(directory).sample(&start, draws)
    }
}

/// The message with which `other` is refused a checkpoint of `first`.
fn refusal(first: Run, other: Run) -> String {
    let directory = tempfile::tempdir().unwrap();
    first.sample(&directory).unwrap();
    let message = other.sample(&directory).unwrap_err().to_string();
    assert!(message.starts_with("the checkpoint cannot be used: "), "{message}");
    message
}

#[test]
fn negated_data_are_other_data() {
    assert!(refusal(Run::new(), Run { data: data(-1.0), ..Run::new() }).contains("fingerprint of the data"));
}

#[test]
fn another_likelihood_prior_or_temperature_is_another_model() {
    let models = [model(2.0, 10.0), model(1.0, 5.0), model(1.0, 10.0).temperature(4.0).unwrap()];
    for engine in [Engine::Compiled, Engine::Eager] {
        for model in &models {
            let message = refusal(Run { engine, ..Run::new() }, Run { engine, model: model.clone(), ..Run::new() });
            assert!(message.contains("its model"), "{engine:?}: {message}");
        }
        // The same closures, made anew, are the same model.
        let directory = tempfile::tempdir().unwrap();
        Run { engine, ..Run::new() }.sample(&directory).unwrap();
        Run { engine, ..Run::new() }.sample(&directory).unwrap();
    }
    assert!(refusal(Run::new(), Run { engine: Engine::Eager, ..Run::new() }).contains("engine"));
}

/// Only far from the start, or only for few observations, do these closures differ: the recorded operations tell.
#[test]
fn models_that_differ_only_far_away_are_distinguished() {
    let kinked = |factor: f64| {
        let likelihood = move |m: Tensor<1>, x: Tensor<1>| {
            Normal::new(m.clone(), 1.0).log_prob(x) - (m - 50.0).clamp_min(0.0) * factor
        };
        Model::new(likelihood).prior(|m: Tensor<1>| Normal::new(0.0, 1.0).log_prob(m).sum())
    };
    let message = refusal(Run { model: kinked(1.0), ..Run::new() }, Run { model: kinked(2.0), ..Run::new() });
    assert!(message.contains("its model"), "{message}");
}

#[test]
fn another_start_is_another_run() {
    assert!(refusal(Run::new(), Run { start: 0.1, ..Run::new() }).contains("its start"));
}

#[test]
fn schedules_that_differ_late_are_other_schedules() {
    let closure = |late: f64| StepSize::from(move |t: u64| if t < 25 { 1e-3 } else { late });
    let first = Run { step_size: closure(1e-3), ..Run::new() };
    let message = refusal(first, Run { step_size: closure(2e-3), ..Run::new() });
    assert!(message.contains("its step size is 0.001 at iteration 25, but that of this run is 0.002"), "{message}");
    let falling = |gamma| StepSize::from(Polynomial { a: 1e-3, b: 1.0, gamma });
    let message =
        refusal(Run { step_size: falling(0.6), ..Run::new() }, Run { step_size: falling(0.65), ..Run::new() });
    assert!(message.contains("gamma: 0.6 ") && message.contains("gamma: 0.65"), "{message}");
    let named = |h: f64| StepSize::from(1e-3).parameter("theta", h);
    let message = refusal(Run { step_size: named(1e-3), ..Run::new() }, Run { step_size: named(2e-3), ..Run::new() });
    assert!(message.contains("its step size"), "{message}");

    let directory = tempfile::tempdir().unwrap();
    let heat = |late: f64| move |t: u64| if t < 30 { 1.0 } else { late };
    let start = full([1], 0.0);
    Run::new().builder(&directory).temperature(heat(1.0)).sample(&start, 40).unwrap();
    let error = Run::new().builder(&directory).temperature(heat(2.0)).sample(&start, 40).unwrap_err().to_string();
    assert!(error.contains("its temperature is 1 at iteration 30, but that of this run is 2"), "{error}");
}

#[test]
fn fewer_draws_than_were_saved_are_refused_and_more_are_made() {
    let message = refusal(Run::new(), Run { draws: 39, ..Run::new() });
    assert!(message.contains("it has 40 draws, but this run asks for 39"), "{message}");
    let directory = tempfile::tempdir().unwrap();
    Run::new().sample(&directory).unwrap();
    assert_eq!(Run { draws: 60, ..Run::new() }.sample(&directory).unwrap().chains()[0].len(), 60);
}

#[test]
fn a_gibbs_update_is_part_of_a_run() {
    let directory = tempfile::tempdir().unwrap();
    Run::new().sample(&directory).unwrap();
    let with = Run::new()
        .builder(&directory)
        .gibbs(|_| |_: &mut sgmcmc::algorithms::Values<'_>, _: &mut sgmcmc::rng::StreamRng| Ok(()));
    let error = with.sample(&full([1], 0.0), 40).unwrap_err().to_string();
    assert!(error.contains("it was made without updates, but this run is with them"), "{error}");
}

/// A run of `dynamics` with a checkpoint in `directory`.
fn with_dynamics<D>(directory: &TempDir, dynamics: D) -> Result<Fit, Error>
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    let Run { data, model, .. } = Run::new();
    let run = Builder::new(model.with(&data), dynamics, FullGradient, 1e-3).seed(3).chains(2);
    let store = FileCheckpoints::new(directory.path()).unwrap();
    run.checkpoint(store, CheckpointInterval::Steps(7)).sample(&full([1], 0.0), 40)
}

/// `first` is refused the checkpoint of `second`, and a copy of `first` is not.
fn other_metrics_are_refused<D>(make: impl Fn(Metric) -> D)
where
    D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static,
{
    // The metrics are equal at zero.
    let diagonal = |slope: f64| Metric::diagonal(move |theta, m| m[0] = 1.0 + slope * theta[0] * theta[0]);
    let dense = |slope: f64| Metric::dense(move |theta, m| m[0] = 1.0 + slope * theta[0] * theta[0]);
    let gamma = |value: f64| diagonal(0.1).with_gamma(move |theta, gamma| gamma[0] = value * theta[0]);
    for (first, second) in [(diagonal(0.1), diagonal(0.2)), (dense(0.1), dense(0.2)), (gamma(0.2), gamma(0.4))] {
        let directory = tempfile::tempdir().unwrap();
        with_dynamics(&directory, make(first.clone())).unwrap();
        with_dynamics(&directory, make(first)).unwrap();
        let message = with_dynamics(&directory, make(second)).unwrap_err().to_string();
        assert!(message.contains("its metric, or another function of the algorithm, is not that"), "{message}");
    }
}

#[test]
fn another_metric_is_another_run() {
    other_metrics_are_refused(Sgrld::new);
    other_metrics_are_refused(RiemannianMala::new);
}

#[test]
fn an_update_with_other_settings_is_another_update() {
    let sample = |directory: &TempDir, updates: &[(f64, usize)]| {
        let run = Run::new().builder(directory);
        let run = updates.iter().copied().fold(run, |run, (scale, repeats)| {
            run.update(move |_| MetropolisHastings::new("theta", RandomWalk { scale }).repeats(repeats))
        });
        run.sample(&full([1], 0.0), 40)
    };
    let directory = tempfile::tempdir().unwrap();
    let saved = [(0.5, 1)];
    sample(&directory, &saved).unwrap();
    sample(&directory, &saved).unwrap();
    for other in [&[(0.25, 1)][..], &[(0.5, 2)], &[(0.5, 1), (0.5, 1)]] {
        let message = sample(&directory, other).unwrap_err().to_string();
        assert!(message.contains("its list of updates is") && message.contains("scale: 0.5"), "{message}");
    }
}

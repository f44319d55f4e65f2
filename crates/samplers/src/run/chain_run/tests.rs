use std::time::Duration;

use rand::RngExt;
use sgmcmc_fit::checkpoint::saved_fit;
use sgmcmc_fit::codec::{decode, encode};

use super::*;
use crate::chain::StepInfo;
use crate::run::InMemoryCheckpoints;

const FIRST_STEP: Duration = Duration::from_millis(30);

/// A random walk whose state is its generators, its position and its number of steps.
#[derive(Debug)]
struct Walk {
    layout: Layout,
    rng: ChainRng,
    x: Vec<f64>,
    iterations: u64,
    fails_at: u64,
}

impl Chain for Walk {
    fn step(&mut self) -> Result<()> {
        if self.iterations == self.fails_at {
            panic!("a walk ends");
        }
        // The first step takes a time that a run without it cannot have.
        if self.iterations == 0 {
            std::thread::sleep(FIRST_STEP);
        }
        self.x[0] += self.rng.noise().random::<f64>() - 0.5;
        self.iterations += 1;
        Ok(())
    }

    fn position(&self) -> &[f64] {
        &self.x
    }

    fn info(&self) -> StepInfo {
        StepInfo { log_posterior: -self.x[0].abs(), ..StepInfo::new(self.iterations) }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.rng, &self.x, self.iterations))
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        (self.rng, self.x, self.iterations) = decode(saved)?;
        Ok(())
    }

    fn stat_names(&self) -> Vec<String> {
        vec!["squared".into()]
    }

    fn stats(&self, out: &mut [f64]) {
        out[0] = self.x[0] * self.x[0];
    }
}

fn walk(rng: ChainRng, fails_at: u64) -> Result<Box<dyn Chain>> {
    Ok(Box::new(Walk { layout: Layout::vector("x", 1), rng, x: vec![0.0], iterations: 0, fails_at }))
}

fn run() -> ChainRun {
    ChainRun::new("walk", |_, rng| walk(rng, u64::MAX)).seed(3).chains(3).burn_in(5).thin(2)
}

#[test]
fn draws_statistics_and_settings_are_those_of_the_chains() {
    let fit = run().sample(20).unwrap();
    assert_eq!((fit.chains().len(), fit.chains()[0].len()), (3, 20));
    assert_eq!((fit.info().algorithm.as_str(), fit.info().burn_in, fit.info().thin), ("walk", 5, 2));
    assert_eq!(fit.info().iterations, [45; 3]);
    for (index, draws) in fit.chains().iter().enumerate() {
        let mut chain = walk(ChainRng::new(3, index as u64), u64::MAX).unwrap();
        let mut expected = Vec::new();
        for iteration in 1..=45 {
            chain.step().unwrap();
            if iteration > 5 && (iteration - 5) % 2 == 0 {
                expected.push(chain.position()[0]);
            }
        }
        assert_eq!(draws.values(), expected);
        let squares: Vec<f64> = expected.iter().map(|x| x * x).collect();
        assert_eq!(draws.stat("squared").unwrap(), squares);
    }
}

#[test]
fn a_resumed_run_is_the_run_without_interruption() {
    let store = InMemoryCheckpoints::default();
    let saved = || run().checkpoint(store.clone(), CheckpointInterval::Steps(4));
    saved().sample(7).unwrap();
    let resumed = saved().sample(20).unwrap();
    let whole = run().sample(20).unwrap();
    for (resumed, whole) in resumed.chains().iter().zip(whole.chains()) {
        assert_eq!(resumed.values(), whole.values());
    }
    let first = FIRST_STEP.as_secs_f64();
    assert!(
        resumed.info().seconds.iter().all(|seconds| (first..1000.0 * first).contains(seconds)),
        "{:?}",
        resumed.info()
    );
    let read = saved_fit(&store, 0..3).unwrap().unwrap();
    assert_eq!(read.info().seconds.len(), 3);
    assert!(read.info().seconds.iter().all(|seconds| *seconds >= first), "{:?}", read.info());
    let other = ChainRun::new("another walk", |_, rng| walk(rng, u64::MAX)).seed(3).chains(3).burn_in(5).thin(2);
    let error = other.checkpoint(store.clone(), CheckpointInterval::Steps(4)).sample(20).unwrap_err().to_string();
    assert!(error.contains("is not that of this run"), "{error}");
    let error = saved().seed(4).sample(20).unwrap_err().to_string();
    assert!(error.contains("seed"), "{error}");
}

#[test]
fn a_chain_that_fails_keeps_its_draws_and_the_others_run() {
    let run = ChainRun::new("walk", |chain, rng| match chain {
        0 => Err(Error::EmptyModel),
        1 => walk(rng, 10),
        _ => walk(rng, u64::MAX),
    });
    let fit = run.clone().chains(3).sample(20).unwrap();
    let lengths: Vec<_> = fit.chains().iter().map(|chain| chain.len()).collect();
    assert_eq!(lengths, [0, 10, 20]);
    assert!(matches!(&fit.outcomes()[1], ChainOutcome::Failed(error) if error.to_string().contains("a walk ends")));
    assert!(run.sample(20).is_err());
}

#[test]
fn chains_of_different_layouts_are_an_error() {
    let run = ChainRun::new("walk", |chain, rng| {
        let name = if chain == 0 { "x" } else { "y" };
        let layout = Layout::vector(name, 1);
        Ok(Box::new(Walk { layout, rng, x: vec![0.0], iterations: 0, fails_at: u64::MAX }) as Box<dyn Chain>)
    });
    let error = run.chains(2).sample(10).unwrap_err().to_string();
    assert!(error.contains("chain 1"), "{error}");
}

#[test]
fn a_signal_and_a_memory_limit_end_runs() {
    let signal = StopSignal::new();
    signal.stop();
    let fit = run().stop_on(&signal).sample(20).unwrap();
    assert!(fit.outcomes().iter().all(|outcome| matches!(outcome, ChainOutcome::Stopped)));
    assert!(run().memory_limit(100).sample(20).unwrap_err().to_string().contains("memory_limit"));
}

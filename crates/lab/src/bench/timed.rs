//! The duration of chains, without the work before the first step.

use std::time::Instant;

use sgmcmc::algorithms::Sgld;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::gradient::{Result, Target};
use sgmcmc::prelude::*;
use sgmcmc::sink::Memory;
use sgmcmc::sink::{Draw, Schema, Sink};

use crate::bench::workloads::{STEP_SIZE, Size};

/// A sink that keeps every draw in memory and records the times at which the chain begins and ends.
#[derive(Debug, Default)]
struct TimedSink {
    memory: Memory,
    began: Option<Instant>,
}

/// The time span of a chain.
#[derive(Clone, Copy, Debug)]
struct Span {
    began: Instant,
    ended: Instant,
}

impl Sink for TimedSink {
    type Output = Span;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.began = Some(Instant::now());
        self.memory.begin(schema)
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        self.memory.record(draw)
    }

    fn save(&self) -> Result<Vec<u8>> {
        self.memory.save()
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.memory.restore(saved)
    }

    fn finish(self) -> Span {
        let ended = Instant::now();
        std::hint::black_box(self.memory.finish());
        Span { began: self.began.unwrap_or(ended), ended }
    }
}

/// Returns the seconds of `chains` chains of SGLD with `draws` draws each, all stored in memory, without the
/// construction of the evaluators.
pub(crate) fn sgld_seconds<T: Target>(
    target: T,
    start: &T::Params,
    size: Size,
    chains: usize,
    draws: usize,
) -> Result<f64> {
    let gradient = MinibatchGradient::new(size.scheme());
    let run = Builder::new(target, Sgld, gradient, STEP_SIZE).chains(chains).seed(1);
    let mut spans = Vec::with_capacity(chains);
    for (span, outcome) in run.sample_into(start, draws, |_| TimedSink::default())? {
        match outcome {
            ChainOutcome::Failed(error) => return Err(error),
            _ => spans.push(span),
        }
    }
    let began = spans.iter().map(|span| span.began).min();
    let ended = spans.iter().map(|span| span.ended).max();
    Ok(began.zip(ended).map_or(f64::NAN, |(began, ended)| (ended - began).as_secs_f64()))
}

//! How long chains take, without what comes before the first step.

use std::time::Instant;

use sgmcmc::prelude::*;
use sgmcmc::run::Ending;
use sgmcmc::sink::{Draw, Schema, Sink};
use sgmcmc::{Result, Target};

use crate::workloads::{STEP_SIZE, Size};

/// Keeps every draw in memory, and looks at the clock when the chain begins and when it ends.
#[derive(Debug, Default)]
struct Timed {
    memory: Memory,
    began: Option<Instant>,
}

/// When a chain took its steps.
#[derive(Clone, Copy, Debug)]
struct Span {
    began: Instant,
    ended: Instant,
}

impl Sink for Timed {
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

/// Seconds in which `chains` chains of SGLD make `draws` draws each, all kept in memory. Making the evaluators does not count.
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
    for (span, ending) in run.sample_into(start, draws, |_| Timed::default())? {
        match ending {
            Ending::Failed(error) => return Err(error),
            _ => spans.push(span),
        }
    }
    let began = spans.iter().map(|span| span.began).min();
    let ended = spans.iter().map(|span| span.ended).max();
    Ok(began.zip(ended).map_or(f64::NAN, |(began, ended)| (ended - began).as_secs_f64()))
}

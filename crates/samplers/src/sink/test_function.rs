//! Evaluates a function of the parameters at every draw, and keeps its values instead of the draws.

use serde::{Deserialize, Serialize};
use sgmcmc_core::Result;

use super::{Draw, Schema, Sink};
use crate::run::{decode, encode};

/// The values of a test function along a chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The iterations it was evaluated in.
    pub iterations: Vec<u64>,
    /// Its values.
    pub values: Vec<f64>,
    /// The weights of the draws.
    pub weights: Vec<f64>,
}

/// Evaluates g(θ) at every draw, for instance the log loss on a test set.
pub struct TestFunction<F> {
    function: F,
    trace: Trace,
    /// How many values are in a checkpoint.
    appended: usize,
}

impl<F> std::fmt::Debug for TestFunction<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestFunction").field("trace", &self.trace).finish_non_exhaustive()
    }
}

impl<F: FnMut(&[f64]) -> Result<f64> + Send> TestFunction<F> {
    /// Keeps the values of `function`, which takes the flat values of the parameters.
    pub fn new(function: F) -> Self {
        Self { function, trace: Trace::default(), appended: 0 }
    }
}

impl<F: FnMut(&[f64]) -> Result<f64> + Send> Sink for TestFunction<F> {
    type Output = Trace;

    fn begin(&mut self, _schema: &Schema) -> Result<()> {
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        let value = (self.function)(draw.values)?;
        self.trace.iterations.push(draw.iteration);
        self.trace.values.push(value);
        self.trace.weights.push(draw.weight);
        Ok(())
    }

    fn append(&mut self) -> Result<Vec<u8>> {
        let Self { trace: Trace { iterations, values, weights }, appended, .. } = self;
        if *appended == values.len() {
            return Ok(Vec::new());
        }
        let part = encode(&(&iterations[*appended..], &values[*appended..], &weights[*appended..]))?;
        *appended = values.len();
        Ok(part)
    }

    fn replay(&mut self, part: &[u8]) -> Result<()> {
        let (iterations, values, weights): (Vec<u64>, Vec<f64>, Vec<f64>) = decode(part)?;
        self.trace.iterations.extend(iterations);
        self.trace.values.extend(values);
        self.trace.weights.extend(weights);
        self.appended = self.trace.values.len();
        Ok(())
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.trace.values.len())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        super::check_count(decode(saved)?, self.trace.values.len())
    }

    fn finish(self) -> Trace {
        self.trace
    }
}

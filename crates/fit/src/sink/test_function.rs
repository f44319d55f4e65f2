//! A sink that evaluates a function of the parameters at every draw.

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::Result;

use super::{Draw, Schema, Sink};
use crate::codec::{decode, encode};

/// The values of a test function along a chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The iteration of each draw.
    pub iterations: Vec<u64>,
    /// The value of the function at each draw.
    pub values: Vec<f64>,
    /// The weight of each draw.
    pub weights: Vec<f64>,
}

/// A sink that evaluates a function g(θ) at every draw, for instance the log loss on a test set. It keeps the values
/// instead of the draws.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::sink::TestFunction;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let sink = |_chain: usize| TestFunction::new(|theta: &[f64]| Ok(theta[0] * theta[1]));
/// let chains = hmc(&model, &Dataset::none(), 0.025).sample_into(&zeros([2]), 50, sink)?;
/// let (trace, _outcome) = &chains[0];
/// assert_eq!(trace.values.len(), 50);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub struct TestFunction<F> {
    function: F,
    trace: Trace,
    /// The number of values that are in a checkpoint.
    appended: usize,
}

impl<F> std::fmt::Debug for TestFunction<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestFunction").field("trace", &self.trace).finish_non_exhaustive()
    }
}

impl<F: FnMut(&[f64]) -> Result<f64> + Send> TestFunction<F> {
    /// Creates a sink that evaluates `function`, which takes the flat values of the parameters.
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

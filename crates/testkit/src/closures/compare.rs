//! The comparison of the compiled engine with the eager engine.
//!
//! The eager engine in double precision is the reference. The eager engine in single precision measures the
//! amplification of rounding errors: A = max |xᵢ(single) − xᵢ|/ε(single) over the value and the gradient. The error of
//! the compiled engine may be at most [`FACTOR`] · ε · (A + s), where ε is the machine epsilon of its precision and s
//! is the scale of the numbers: their largest absolute value or, for sums, the sum of the absolute values. Derivatives
//! are products that start from one, so s is at least one.

use sgmcmc::Engine;
use sgmcmc::data::{Precision, Rows};
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;

/// The allowed number of rounding errors.
const FACTOR: f64 = 32.0;

/// Results that are compared with one tolerance.
struct Comparison {
    name: &'static str,
    /// The results of the compiled engine.
    found: Vec<f64>,
    /// The results of the eager engine in double precision.
    exact: Vec<f64>,
    /// The scale of the terms of a sum.
    size: f64,
}

/// The largest discrepancy between two engines.
#[derive(Clone, Debug, Default)]
pub struct Discrepancy {
    /// The error divided by the allowed error; at most one if the engines agree.
    pub ratio: f64,
    /// The result with the largest error, for messages.
    pub location: String,
}

/// Returns the value of the log prior plus the weighted terms, followed by its gradient.
fn posterior(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> Vec<f64> {
    let mut gradient = vec![0.0; theta.len()];
    let value = evaluator.posterior(theta, rows, &mut gradient).expect("the posterior");
    std::iter::once(value).chain(gradient).collect()
}

/// Returns the largest finite absolute value.
fn largest(list: impl Iterator<Item = f64>) -> f64 {
    list.map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// Returns the gradient of the log prior, followed by its value.
fn prior(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Vec<f64> {
    let mut results = vec![0.0; theta.len()];
    let value = evaluator.prior(theta, &mut results).expect("the prior");
    results.push(value);
    results
}

/// Returns the log likelihood of each observation.
fn terms(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> Vec<f64> {
    let mut terms = vec![0.0; rows.len()];
    evaluator.log_likelihood_per_observation(theta, rows, &mut terms).expect("the terms");
    terms
}

/// Returns the gradient of each term.
fn term_gradients(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> Vec<f64> {
    let mut gradients = vec![0.0; rows.len() * theta.len()];
    evaluator.gradient_per_observation(theta, rows, &mut gradients).expect("the gradient of each term");
    gradients
}

/// Three evaluators of the same posterior.
#[derive(Debug)]
pub struct Engines {
    /// The compiled engine.
    pub compiled: Box<dyn Evaluator>,
    /// The eager engine in single precision.
    pub single: Box<dyn Evaluator>,
    /// The eager engine in double precision.
    pub double: Box<dyn Evaluator>,
    precision: Precision,
}

impl Engines {
    /// Creates the compiled engine in `precision` and the eager engine in both precisions.
    ///
    /// # Errors
    ///
    /// Returns an error if the model cannot be compiled.
    pub fn new<P: TensorTree, D: TensorTree>(
        model: &Model<P, D>,
        data: &Dataset<D>,
        start: impl Fn(Precision) -> P,
        precision: Precision,
    ) -> Result<Self, sgmcmc::gradient::Error> {
        let on = |precision: Precision, engine| {
            let data = if data.observations() > 0 { data.clone().with_precision(precision) } else { data.clone() };
            model.with(&data).engine(engine).evaluator(&start(precision))
        };
        Ok(Self {
            single: on(Precision::Single, Engine::Eager)?,
            double: on(Precision::Double, Engine::Eager)?,
            compiled: on(precision, Engine::Compiled)?,
            precision,
        })
    }

    /// Returns the largest discrepancy of the compiled engine at `theta`. The gradients of single observations are
    /// compared for the first `few` observations only, because the eager engine computes them slowly.
    ///
    /// # Panics
    ///
    /// Panics if an evaluation fails.
    pub fn largest_discrepancy(&mut self, theta: &[f64], rows: Rows<'_>, few: usize) -> Discrepancy {
        let single = posterior(self.single.as_mut(), theta, rows);
        let exact = posterior(self.double.as_mut(), theta, rows);
        let amplified = largest(single.iter().zip(&exact).map(|(a, b)| a - b)) / f64::from(f32::EPSILON);
        let epsilon = match self.precision {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        let mut worst = Discrepancy::default();
        for Comparison { name, found, exact, size } in self.comparisons(theta, rows, few, exact) {
            let scale = largest(exact.iter().copied()).max(size);
            let allowed = FACTOR * epsilon * (amplified + scale);
            for (index, (found, exact)) in found.iter().zip(&exact).enumerate() {
                let equal = found.to_bits() == exact.to_bits() || (found.is_nan() && exact.is_nan());
                let ratio = if equal { 0.0 } else { (found - exact).abs() / allowed };
                if ratio > worst.ratio || ratio.is_nan() {
                    let ratio = if ratio.is_nan() { f64::INFINITY } else { ratio };
                    worst = Discrepancy { ratio, location: format!("{name} {index}: {found:e} for {exact:e}") };
                }
            }
        }
        worst
    }

    fn comparisons(&mut self, theta: &[f64], rows: Rows<'_>, few: usize, exact: Vec<f64>) -> [Comparison; 5] {
        let Self { compiled, double, .. } = self;
        let (compiled, double) = (compiled.as_mut(), double.as_mut());
        let density = vec![compiled.log_density(theta, rows).expect("the log density")];
        let all = term_gradients(compiled, theta, rows);
        let first: Vec<usize> = (0..few.min(rows.len())).map(|position| rows.row(position)).collect();
        let exact_each = term_gradients(double, theta, Rows::list(&first));
        let exact_terms = terms(double, theta, rows);
        let sizes = all
            .chunks(theta.len())
            .zip(&exact_terms)
            .map(|(gradient, term)| largest(gradient.iter().chain([term, &1.0]).copied()));
        let sum: f64 = sizes.zip(rows.iter()).map(|(size, (_, weight))| size * weight).sum();
        let comparison = |name, found, exact, size| Comparison { name, found, exact, size };
        [
            comparison("log density", density, exact[..1].to_vec(), sum),
            comparison("value and gradient", posterior(compiled, theta, rows), exact, sum),
            comparison("prior", prior(compiled, theta), prior(double, theta), 1.0),
            comparison("terms", terms(compiled, theta, rows), exact_terms, 1.0),
            comparison("gradient of each term", all[..exact_each.len()].to_vec(), exact_each, 1.0),
        ]
    }

    /// Checks that the error of the compiled engine is within the allowed error.
    ///
    /// # Panics
    ///
    /// Panics if it is not.
    pub fn assert_agree(&mut self, what: &str, theta: &[f64], rows: Rows<'_>) {
        let Discrepancy { ratio, location } = self.largest_discrepancy(theta, rows, 2);
        assert!(ratio <= 1.0, "{what}: {location}, {ratio:.1} times the allowed error in {:?}", self.precision);
    }
}

/// Returns the compiled and the eager evaluator of a posterior.
///
/// # Errors
///
/// Returns an error if the posterior cannot be compiled.
pub fn both<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    start: &P,
) -> Result<[Box<dyn Evaluator>; 2], sgmcmc::gradient::Error> {
    let engine = |engine| posterior.clone().engine(engine).evaluator(start);
    Ok([engine(Engine::Compiled)?, engine(Engine::Eager)?])
}

//! What two engines say, and how far apart they may be.
//!
//! The eager engine in double precision is the measure. How much a computation amplifies rounding is seen from the eager
//! engine in single precision: with A = max |xᵢ(single) − xᵢ|/ε(single) over the value and the
//! gradient, and s the largest of the numbers that are compared together or, of sums, the sum of the absolute values, the compiled engine may be off by
//! [`FACTOR`] · ε · (A + s), ε that of its own precision. Derivatives are products that start from one, so s is one at least.

use sgmcmc::prelude::*;

/// Roundings allowed, times what the computation makes of each.
const FACTOR: f64 = 32.0;

/// What is compared together: a name, what the compiled engine says, the eager one in double precision, and the size of
/// what was added up.
struct Part {
    name: &'static str,
    found: Vec<f64>,
    exact: Vec<f64>,
    size: f64,
}

/// The value of log prior and weighted terms, and its gradient.
fn posterior(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> Vec<f64> {
    let mut gradient = vec![0.0; theta.len()];
    let value = evaluator.posterior(theta, rows, &mut gradient).expect("the posterior");
    std::iter::once(value).chain(gradient).collect()
}

/// The largest absolute value that is finite.
fn largest(list: impl Iterator<Item = f64>) -> f64 {
    list.map(f64::abs).filter(|x| x.is_finite()).fold(0.0, f64::max)
}

fn prior(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Vec<f64> {
    let mut answer = vec![0.0; theta.len()];
    let value = evaluator.prior(theta, &mut answer).expect("the prior");
    answer.push(value);
    answer
}

fn terms(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> Vec<f64> {
    let mut terms = vec![0.0; rows.len()];
    evaluator.pointwise(theta, rows, &mut terms).expect("the terms");
    terms
}

/// The gradient of each term.
fn each(evaluator: &mut dyn Evaluator, theta: &[f64], rows: Rows<'_>) -> Vec<f64> {
    let mut each = vec![0.0; rows.len() * theta.len()];
    evaluator.per_datum(theta, rows, &mut each).expect("the gradient of each term");
    each
}

/// The same posterior run in three ways.
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
    /// The compiled engine in `precision`, and the eager one in both.
    ///
    /// # Errors
    ///
    /// If the model is not compiled.
    pub fn new<P: TensorTree, D: TensorTree>(
        model: &Model<P, D>,
        data: &Dataset<D>,
        start: impl Fn(Precision) -> P,
        precision: Precision,
    ) -> Result<Self, sgmcmc::Error> {
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

    /// How many allowed errors the compiled engine is off at most, and in what; one or less is right. Of each term, the
    /// gradient is compared for the first `few` rows, since the eager engine takes long for them.
    pub fn worst(&mut self, theta: &[f64], rows: Rows<'_>, few: usize) -> (f64, String) {
        let single = posterior(self.single.as_mut(), theta, rows);
        let exact = posterior(self.double.as_mut(), theta, rows);
        let amplified = largest(single.iter().zip(&exact).map(|(a, b)| a - b)) / f64::from(f32::EPSILON);
        let epsilon = match self.precision {
            Precision::Single => f64::from(f32::EPSILON),
            Precision::Double => f64::EPSILON,
        };
        let mut worst = (0.0, String::new());
        for Part { name, found, exact, size } in self.parts(theta, rows, few, exact) {
            let scale = largest(exact.iter().copied()).max(size);
            let allowed = FACTOR * epsilon * (amplified + scale);
            for (index, (found, exact)) in found.iter().zip(&exact).enumerate() {
                let alike = found.to_bits() == exact.to_bits() || (found.is_nan() && exact.is_nan());
                let off = if alike { 0.0 } else { (found - exact).abs() / allowed };
                if off > worst.0 || off.is_nan() {
                    let off = if off.is_nan() { f64::INFINITY } else { off };
                    worst = (off, format!("{name} {index}: {found:e} for {exact:e}"));
                }
            }
        }
        worst
    }

    fn parts(&mut self, theta: &[f64], rows: Rows<'_>, few: usize, exact: Vec<f64>) -> [Part; 5] {
        let Self { compiled, double, .. } = self;
        let (compiled, double) = (compiled.as_mut(), double.as_mut());
        let density = vec![compiled.log_density(theta, rows).expect("the log density")];
        let all = each(compiled, theta, rows);
        let first: Vec<usize> = (0..few.min(rows.len())).map(|position| rows.row(position)).collect();
        let exact_each = each(double, theta, Rows::list(&first));
        let exact_terms = terms(double, theta, rows);
        let sizes = all
            .chunks(theta.len())
            .zip(&exact_terms)
            .map(|(gradient, term)| largest(gradient.iter().chain([term, &1.0]).copied()));
        let sum: f64 = sizes.zip(rows.iter()).map(|(size, (_, weight))| size * weight).sum();
        let part = |name, found, exact, size| Part { name, found, exact, size };
        [
            part("log density", density, exact[..1].to_vec(), sum),
            part("value and gradient", posterior(compiled, theta, rows), exact, sum),
            part("prior", prior(compiled, theta), prior(double, theta), 1.0),
            part("terms", terms(compiled, theta, rows), exact_terms, 1.0),
            part("gradient of each term", all[..exact_each.len()].to_vec(), exact_each, 1.0),
        ]
    }

    /// Fails if the compiled engine is off by more than is allowed.
    pub fn assert_agree(&mut self, what: &str, theta: &[f64], rows: Rows<'_>) {
        let (worst, place) = self.worst(theta, rows, 2);
        assert!(worst <= 1.0, "{what}: {place}, {worst:.1} times what is allowed in {:?}", self.precision);
    }
}

/// A posterior compiled and eager.
///
/// # Errors
///
/// If it is not compiled.
pub fn both<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    start: &P,
) -> Result<[Box<dyn Evaluator>; 2], sgmcmc::Error> {
    let engine = |engine| posterior.clone().engine(engine).evaluator(start);
    Ok([engine(Engine::Compiled)?, engine(Engine::Eager)?])
}

//! The compiled engine: it records the closures once, differentiates the recording, and runs it without Burn.
//!
//! 1. [`capture`] runs the closures on Burn's capture device.
//! 2. [`import`] converts the recording to a graph for one observation.
//! 3. [`compilation`] differentiates and simplifies the graph.
//! 4. [`check`] compares the resulting programs with the eager engine before the run, and [`monitor`] during the run.
//!
//! Models that cannot be compiled return a [`CompileError`] and run on the eager engine.

mod cache;
mod capture;
mod check;
mod columns;
mod compilation;
mod compile_error;
mod explain;
mod import;
mod monitor;
mod parallel;
mod run;

use std::fmt;
use std::sync::Arc;

use sgmcmc_compiler::program::{Call, Output, Program, Real, RowSelection};

pub(super) use cache::CompilationCache;
pub(super) use compile_error::CompileError;
pub(super) use explain::explain;

use self::columns::InPlace;
use self::compilation::Compilation;
use self::monitor::ComparisonSchedule;
use self::parallel::{ParallelProgram, split_count};
use self::run::{Task, run};
use super::eager::Eager;
use sgmcmc_gradient::evaluator::{check_arguments, check_output};
use sgmcmc_gradient::{Evaluator, ModelIdentity};

use super::Posterior;
use crate::array::dtype;
use crate::sequence::{briefly, within};
use crate::tree::TensorTree;
use sgmcmc_gradient::data::{Precision, Rows, Selection, Weights};
use sgmcmc_gradient::error::{Error, Result};
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_gradient::layout::Layout;

/// The programs of one chain.
struct Compiled<P, D, T> {
    posterior: Posterior<P, D>,
    /// The eager engine, for numbers of observations at which the recording of the closure differs.
    eager: Eager<P, D>,
    compilation: Arc<Compilation>,
    likelihood: Option<Program<T>>,
    prior: Option<Program<T>>,
    /// The program for both the likelihood and the prior, for calls that are not split.
    joint: Option<Program<T>>,
    parallel: ParallelProgram<T>,
    /// Programs that are compiled on first use.
    lazy: LazyPrograms<T>,
    /// Numbers of observations at which the recording of the closure is known to be the same.
    valid_counts: Vec<usize>,
    /// Numbers of observations at which the recording of the closure is known to differ.
    invalid_counts: Vec<usize>,
    comparisons: ComparisonSchedule,
}

/// Programs that are compiled on first use, because many chains do not need them.
struct LazyPrograms<T> {
    weighted: Option<Program<T>>,
    log_likelihood_per_observation: Option<Program<T>>,
    gradient_per_observation: Option<Program<T>>,
    prior_value: Option<Program<T>>,
}

impl<P, D, T> fmt::Debug for Compiled<P, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("posterior", &self.posterior).finish_non_exhaustive()
    }
}

/// Creates an evaluator that runs compiled programs.
///
/// # Errors
///
/// Returns an error if the closures cannot be compiled.
pub(super) fn evaluator<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: Eager<P, D>,
) -> std::result::Result<Box<dyn Evaluator>, CompileError> {
    let compilation = compile(posterior, &eager)?;
    Ok(match eager.precision() {
        Precision::Single => Box::new(Compiled::<P, D, f32>::new(posterior, eager, compilation)?),
        Precision::Double => Box::new(Compiled::<P, D, f64>::new(posterior, eager, compilation)?),
    })
}

/// Returns the compilation for the layout of `eager`. It is compiled and checked once for all chains.
fn compile<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
) -> std::result::Result<Arc<Compilation>, CompileError> {
    posterior.compiled().get_or_compile(eager.layout(), || {
        let captured = capture::capture(posterior, eager.template(), eager.layout(), dtype(eager.precision()))?;
        let mut compilation = Compilation::new(captured, eager.layout().clone(), eager.observations())?;
        let compared = compilation.brief.as_deref().unwrap_or(&compilation);
        briefly(|| check::check(posterior, eager, compared)).0?;
        if let Some((longer, steps)) = compilation.longer.take() {
            within(steps, || check::check_once(posterior, eager, &longer)).0?;
        }
        Ok(compilation)
    })
}

impl<P: TensorTree, D: TensorTree, T: Real> Compiled<P, D, T> {
    /// Compiles the programs that every chain needs.
    fn new(
        posterior: &Posterior<P, D>,
        eager: Eager<P, D>,
        compilation: Arc<Compilation>,
    ) -> std::result::Result<Self, CompileError> {
        let (likelihood, prior) =
            (compilation.program(&compilation.likelihood)?, compilation.program(&compilation.prior)?);
        let joint = compilation.program(&compilation.posterior)?;
        Ok(Self {
            posterior: posterior.clone(),
            eager,
            compilation,
            likelihood,
            prior,
            joint,
            parallel: ParallelProgram::new(),
            lazy: LazyPrograms::new(),
            valid_counts: vec![],
            invalid_counts: vec![],
            comparisons: ComparisonSchedule::new(),
        })
    }

    /// Returns whether the programs are valid for `n` observations, that is, whether the recording of the closure is
    /// the same.
    fn is_valid_for(&mut self, n: usize) -> bool {
        if n == 0 || self.compilation.likelihood.is_none() || self.valid_counts.contains(&n) {
            return true;
        }
        if self.invalid_counts.contains(&n) {
            return false;
        }
        let Self { posterior, eager, compilation, .. } = &*self;
        let dtype = dtype(eager.precision());
        let checked = capture::check_row_count(
            posterior,
            eager.template(),
            &compilation.layout,
            dtype,
            n,
            &compilation.signature,
        );
        if checked.is_ok() {
            self.valid_counts.push(n)
        } else {
            self.invalid_counts.push(n)
        }
        checked.is_ok()
    }

    /// Returns whether the programs are valid for the chunks into which the eager engine would divide `rows`.
    fn is_valid_for_rows(&mut self, rows: Rows<'_>) -> bool {
        let chunk = self.posterior.chunk();
        let (whole, rest) = (rows.len() / chunk, rows.len() % chunk);
        (whole == 0 || self.is_valid_for(chunk)) && self.is_valid_for(rest)
    }

    /// Checks that the closure returns one term per observation, which `what` requires.
    fn require_terms(&self, what: &'static str) -> Result<()> {
        // The sum over one observation is its term.
        if self.compilation.summed && self.observations() > 1 { Err(Error::SummedLikelihood { what }) } else { Ok(()) }
    }

    /// Adds the gradient of power · Σ wᵢ log p(xᵢ|θ) to `grad`, and returns the value.
    fn run_likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        let power = self.posterior.model().powers().likelihood;
        let columns = self.posterior.data().columns();
        let chunk = self.posterior.chunk();
        if matches!(rows.weights(), Weights::Each(_)) {
            self.require_terms("weighted subsampling")?;
            self.lazy.compile(&self.compilation)?;
            let Some(program) = &mut self.lazy.weighted else { return Ok(0.0) };
            let mut run_chunk = |rows| run(program, Task { columns, theta, rows, power }, Output::Gradient(&mut *grad));
            return rows.chunks(chunk).map(&mut run_chunk).sum();
        }
        let Self { likelihood, parallel, compilation, .. } = self;
        let Some(program) = likelihood else { return Ok(0.0) };
        let mut run_chunk = |rows| {
            let task = Task { columns, theta, rows, power };
            parallel.run(program, compilation, task, &mut *grad, |_| Ok(0.0))
        };
        rows.chunks(chunk).map(&mut run_chunk).sum()
    }
}

impl<P: TensorTree, D: TensorTree, T: Real> Evaluator for Compiled<P, D, T> {
    fn precision(&self) -> Precision {
        self.eager.precision()
    }

    fn identity(&mut self, _theta: &[f64]) -> Result<ModelIdentity> {
        let mut parts = Fingerprinter::new();
        parts.bytes(&self.compilation.fingerprint.to_le_bytes());
        let powers = self.posterior.model().powers();
        parts.numbers(&[powers.likelihood, powers.prior]);
        Ok(ModelIdentity::Recorded(parts.finish()))
    }

    fn layout(&self) -> &Layout {
        &self.compilation.layout
    }

    fn observations(&self) -> usize {
        self.posterior.data().observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.compilation.layout, 0, theta, grad, Rows::range(0..0))?;
        let Some(program) = &mut self.prior else { return Ok(0.0) };
        run(program, Task::prior(theta), Output::Gradient(grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.compilation.layout, self.observations(), theta, grad, rows)?;
        if self.is_valid_for_rows(rows) {
            self.compare_if_due(theta, rows)?;
            self.run_likelihood(theta, rows, grad)
        } else {
            self.eager.likelihood(theta, rows, grad)
        }
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.compilation.layout, self.observations(), theta, grad, rows)?;
        // The first observations are fetched while shared values are computed.
        if let (Some(program), Selection::List(list)) = (&self.likelihood, rows.selection()) {
            let columns = InPlace(self.posterior.data().columns());
            let (selection, rows) = (RowSelection::List(list), list.len());
            program.prefetch(Call { theta, columns: &columns, selection, rows, weights: None, scale: 1.0 });
        }
        self.compare_if_due(theta, rows)?;
        let uniform = matches!(rows.weights(), Weights::Same(_));
        if uniform && rows.len() <= self.posterior.chunk() && self.is_valid_for(rows.len()) {
            let power = self.posterior.model().powers().likelihood;
            let Self { posterior, compilation, likelihood, prior, joint, parallel, .. } = self;
            let task = Task { columns: posterior.data().columns(), theta, rows, power };
            if let Some(program) = joint.as_mut().filter(|program| split_count(program, rows.len()) == 1) {
                return run(program, task, Output::Gradient(grad));
            }
            if let Some(program) = likelihood {
                let prior = |grad: &mut [f64]| match prior {
                    Some(program) => run(program, Task::prior(theta), Output::Gradient(grad)),
                    None => Ok(0.0),
                };
                return parallel.run(program, compilation, task, grad, prior);
            }
        }
        let prior = self.prior(theta, grad)?;
        let likelihood = if self.is_valid_for_rows(rows) {
            self.run_likelihood(theta, rows, grad)?
        } else {
            self.eager.likelihood(theta, rows, grad)?
        };
        Ok(prior + likelihood)
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        check_arguments(&self.compilation.layout, self.observations(), theta, theta, rows)?;
        if !self.is_valid_for_rows(rows) {
            return self.eager.log_density(theta, rows);
        }
        self.lazy.compile(&self.compilation)?;
        let power = self.posterior.model().powers().likelihood;
        let mut total = match &mut self.lazy.prior_value {
            Some(program) => run(program, Task::prior(theta), Output::Total)?,
            None => 0.0,
        };
        let columns = self.posterior.data().columns();
        if let Some(program) = &mut self.lazy.log_likelihood_per_observation {
            for rows in rows.chunks(self.posterior.chunk()) {
                total += run(program, Task { columns, theta, rows, power }, Output::Total)?;
            }
        }
        Ok(total)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        check_arguments(&self.compilation.layout, self.observations(), theta, theta, rows)?;
        check_output("the output for the log-likelihood of each row", rows.len(), out.len())?;
        self.require_terms("the pointwise log-likelihood")?;
        if !self.is_valid_for_rows(rows) {
            return self.eager.log_likelihood_per_observation(theta, rows, out);
        }
        self.lazy.compile(&self.compilation)?;
        let Some(program) = &mut self.lazy.log_likelihood_per_observation else {
            out.fill(0.0);
            return Ok(());
        };
        let (chunk, columns) = (self.posterior.chunk(), self.posterior.data().columns());
        for (rows, out) in rows.scaled(1.0).chunks(chunk).zip(out.chunks_mut(chunk)) {
            run(program, Task { columns, theta, rows, power: 1.0 }, Output::Rows(out))?;
        }
        Ok(())
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        check_arguments(&self.compilation.layout, self.observations(), theta, theta, rows)?;
        check_output("the output for the gradient of each row", rows.len() * dim, out.len())?;
        self.require_terms("the gradient of each observation")?;
        if !self.is_valid_for_rows(rows) {
            return self.eager.gradient_per_observation(theta, rows, out);
        }
        self.lazy.compile(&self.compilation)?;
        let Some(program) = &mut self.lazy.gradient_per_observation else {
            out.fill(0.0);
            return Ok(());
        };
        let power = self.posterior.model().powers().likelihood;
        let (chunk, columns) = (self.posterior.chunk(), self.posterior.data().columns());
        for (rows, out) in rows.scaled(1.0).chunks(chunk).zip(out.chunks_mut((chunk * dim).max(1))) {
            run(program, Task { columns, theta, rows, power }, Output::RowGradients(out))?;
        }
        Ok(())
    }

    fn allocate_on_this_thread(&mut self) -> Result<()> {
        let program = |subgraph| self.compilation.program(subgraph).map_err(not_compiled);
        self.likelihood = program(&self.compilation.likelihood)?;
        self.prior = program(&self.compilation.prior)?;
        self.joint = program(&self.compilation.posterior)?;
        Ok(())
    }

    fn set_threads(&mut self, threads: usize) {
        self.parallel.multithreaded = threads > 1;
    }
}

impl<T: Real> LazyPrograms<T> {
    /// Creates an empty set of programs.
    fn new() -> Self {
        Self { weighted: None, log_likelihood_per_observation: None, gradient_per_observation: None, prior_value: None }
    }

    /// Compiles the programs on the first call.
    fn compile(&mut self, compilation: &Compilation) -> Result<()> {
        let program = |subgraph| compilation.program(subgraph).map_err(not_compiled);
        if self.log_likelihood_per_observation.is_none() && self.prior_value.is_none() {
            let lazy = compilation.lazy().map_err(not_compiled)?;
            self.weighted = program(&lazy.weighted)?;
            self.log_likelihood_per_observation = program(&lazy.log_likelihood_per_observation)?;
            self.gradient_per_observation = program(&lazy.gradient_per_observation)?;
            self.prior_value = program(&lazy.prior_value)?;
        }
        Ok(())
    }
}

/// Converts a compile error to an error of the evaluator.
fn not_compiled(error: CompileError) -> Error {
    Error::NotCompiled { reason: error.to_string() }
}

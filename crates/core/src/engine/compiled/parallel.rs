//! Evaluation of a likelihood by several programs in parallel.
//!
//! The observations of an expensive call are split into chunks. The number of chunks depends on the amount of work and
//! not on the number of threads. The sums are therefore taken in the same order for every number of threads, and a
//! chain does not depend on it.

use sgmcmc_compiler::program::{Output, Program, Real};

use super::compilation::Compilation;
use super::compile_error::CompileError;
use super::not_compiled;
use super::run::{Task, run};
use sgmcmc_gradient::data::Rows;
use sgmcmc_gradient::error::Result;

/// The number of multiplications that justify a chunk.
const CHUNK_WORK: usize = 1 << 25;
/// The maximum number of chunks.
const MAX_CHUNKS: usize = 8;

/// The programs that evaluate the chunks after the first.
#[derive(Debug)]
pub(super) struct ParallelProgram<T> {
    workers: Vec<Worker<T>>,
    /// True if the chunks may be evaluated on several threads.
    pub(super) multithreaded: bool,
}

/// A program and its result for one chunk.
#[derive(Debug)]
struct Worker<T> {
    program: Program<T>,
    gradient: Vec<f64>,
    value: Result<f64>,
}

/// A task that is split into chunks of observations.
#[derive(Clone, Copy)]
struct SplitTask<'a> {
    task: Task<'a>,
    split_count: usize,
}

impl<'a> SplitTask<'a> {
    /// Returns the task for the observations of one chunk.
    fn chunk(&self, chunk: usize) -> Task<'a> {
        let rows: Rows<'a> = self.task.rows;
        let (start, end) = (chunk * rows.len() / self.split_count, (chunk + 1) * rows.len() / self.split_count);
        Task { rows: rows.part(start, end - start), ..self.task }
    }
}

impl<T: Real> ParallelProgram<T> {
    /// Creates an evaluator without workers, which runs on one thread.
    pub(super) fn new() -> Self {
        Self { workers: vec![], multithreaded: false }
    }

    /// Runs `before` and adds the gradient of the log-likelihood of `task` to `gradient`. Returns the sum of the value
    /// of `before` and the log-likelihood.
    ///
    /// Waking other threads takes time, so they are started first and `before` runs in the meantime.
    ///
    /// # Errors
    ///
    /// Returns the error of `before` or of a program.
    pub(super) fn run(
        &mut self,
        first: &mut Program<T>,
        compilation: &Compilation,
        task: Task<'_>,
        gradient: &mut [f64],
        before: impl FnOnce(&mut [f64]) -> Result<f64> + Send,
    ) -> Result<f64> {
        let split_count = split_count(first, task.rows.len());
        if split_count == 1 {
            let value = before(&mut *gradient)?;
            return Ok(value + run(first, task, Output::Gradient(gradient))?);
        }
        while self.workers.len() + 1 < split_count {
            self.workers.push(Worker::new(compilation, task.theta.len())?);
        }
        let split = SplitTask { task, split_count };
        let workers = &mut self.workers[..split_count - 1];
        let run_first = || -> Result<f64> {
            let value = before(&mut *gradient)?;
            Ok(value + run(first, split.chunk(0), Output::Gradient(&mut *gradient))?)
        };
        let mut total = if self.multithreaded {
            rayon::join(run_first, || run_workers(workers, 1, split)).0?
        } else {
            let total = run_first()?;
            workers.iter_mut().enumerate().for_each(|(index, worker)| worker.run(1 + index, split));
            total
        };
        for worker in workers {
            total += std::mem::replace(&mut worker.value, Ok(0.0))?;
            gradient.iter_mut().zip(&worker.gradient).for_each(|(sum, g)| *sum += g);
        }
        Ok(total)
    }
}

/// Returns the number of chunks for this number of observations.
pub(super) fn split_count<T: Real>(program: &Program<T>, observations: usize) -> usize {
    (program.work().saturating_mul(observations) / CHUNK_WORK).clamp(1, MAX_CHUNKS.min(observations.max(1)))
}

impl<T: Real> Worker<T> {
    /// Creates a worker with a program for the likelihood.
    fn new(compilation: &Compilation, dim: usize) -> Result<Self> {
        let program = compilation.program(&compilation.likelihood).map_err(not_compiled)?;
        let program = program.ok_or_else(|| not_compiled(CompileError::new("there is no likelihood")))?;
        Ok(Self { program, gradient: vec![0.0; dim], value: Ok(0.0) })
    }

    /// Evaluates one chunk.
    fn run(&mut self, chunk: usize, split: SplitTask<'_>) {
        self.gradient.fill(0.0);
        self.value = run(&mut self.program, split.chunk(chunk), Output::Gradient(&mut self.gradient));
    }
}

/// Evaluates the chunks from `first` on, one per worker, in parallel.
fn run_workers<T: Real>(workers: &mut [Worker<T>], first: usize, split: SplitTask<'_>) {
    match workers {
        [] => {}
        [worker] => worker.run(first, split),
        several => {
            let half = several.len() / 2;
            let (left, right) = several.split_at_mut(half);
            rayon::join(|| run_workers(left, first, split), || run_workers(right, first + half, split));
        }
    }
}

//! One likelihood divided among several programs.
//!
//! The rows of a call with much to multiply are divided into as many pieces as the work is worth, whatever the number of threads: the
//! sums are then taken in the same order, and a chain does not depend on how many threads there are.

use sgmcmc_compiler::program::{Program, Real, Sink};

use super::reason::Reason;
use super::sheet::Sheet;
use super::{not_compiled, run};
use crate::data::{Column, Rows};
use crate::error::Result;

/// Multiplications that are worth a piece of their own.
const PIECE: usize = 1 << 25;
const MOST_PIECES: usize = 8;

/// The programs of the pieces after the first.
#[derive(Debug)]
pub(super) struct Team<T> {
    members: Vec<Member<T>>,
    /// Whether the pieces may be computed at the same time.
    pub(super) parallel: bool,
}

#[derive(Debug)]
struct Member<T> {
    program: Program<T>,
    gradient: Vec<f64>,
    value: Result<f64>,
}

/// What all members compute.
#[derive(Clone, Copy)]
struct Task<'a> {
    columns: &'a [Column],
    theta: &'a [f64],
    power: f64,
    rows: Rows<'a>,
    pieces: usize,
}

impl Task<'_> {
    /// The rows of piece number `piece`.
    fn piece(&self, piece: usize) -> Rows<'_> {
        let (start, end) = (piece * self.rows.len() / self.pieces, (piece + 1) * self.rows.len() / self.pieces);
        self.rows.part(start, end - start)
    }
}

impl<T: Real> Team<T> {
    pub(super) fn new() -> Self {
        Self { members: vec![], parallel: false }
    }

    /// Adds the gradient of `power` · Σ wᵢ log p(xᵢ|θ) over `rows` to `gradient`, and what `before` adds to it; returns the value of both.
    ///
    /// Other threads take a while to wake up: they are called first, and `before` runs meanwhile.
    pub(super) fn run(
        &mut self,
        first: &mut Program<T>,
        sheet: &Sheet,
        (columns, theta, power): (&[Column], &[f64], f64),
        rows: Rows<'_>,
        gradient: &mut [f64],
        before: impl FnOnce(&mut [f64]) -> Result<f64> + Send,
    ) -> Result<f64> {
        let pieces = pieces(first, rows.len());
        if pieces == 1 {
            let value = before(&mut *gradient)?;
            return Ok(value + run(first, columns, theta, rows, power, Sink::Gradient(gradient))?);
        }
        while self.members.len() + 1 < pieces {
            self.members.push(member(sheet, theta.len())?);
        }
        let task = Task { columns, theta, power, rows, pieces };
        let others = &mut self.members[..pieces - 1];
        let begin = || -> Result<f64> {
            let value = before(&mut *gradient)?;
            Ok(value + run(first, columns, theta, task.piece(0), power, Sink::Gradient(&mut *gradient))?)
        };
        let mut total = if self.parallel {
            rayon::join(begin, || divide(others, 1, task)).0?
        } else {
            let total = begin()?;
            others.iter_mut().enumerate().for_each(|(number, member)| member.work(1 + number, task));
            total
        };
        for member in others {
            total += std::mem::replace(&mut member.value, Ok(0.0))?;
            gradient.iter_mut().zip(&member.gradient).for_each(|(sum, g)| *sum += g);
        }
        Ok(total)
    }
}

/// How many pieces so many rows are divided into.
pub(super) fn pieces<T: Real>(program: &Program<T>, rows: usize) -> usize {
    (program.work().saturating_mul(rows) / PIECE).clamp(1, MOST_PIECES.min(rows.max(1)))
}

impl<T: Real> Member<T> {
    fn work(&mut self, piece: usize, task: Task<'_>) {
        self.gradient.fill(0.0);
        let sink = Sink::Gradient(&mut self.gradient);
        self.value = run(&mut self.program, task.columns, task.theta, task.piece(piece), task.power, sink);
    }
}

/// Lets the members compute the pieces from `first` on at the same time.
fn divide<T: Real>(members: &mut [Member<T>], first: usize, task: Task<'_>) {
    match members {
        [] => {}
        [only] => only.work(first, task),
        several => {
            let half = several.len() / 2;
            let (left, right) = several.split_at_mut(half);
            rayon::join(|| divide(left, first, task), || divide(right, first + half, task));
        }
    }
}

fn member<T: Real>(sheet: &Sheet, dim: usize) -> Result<Member<T>> {
    let program = sheet.program(&sheet.likelihood).map_err(not_compiled)?;
    let program = program.ok_or_else(|| not_compiled(Reason::new("there is no likelihood")))?;
    Ok(Member { program, gradient: vec![0.0; dim], value: Ok(0.0) })
}

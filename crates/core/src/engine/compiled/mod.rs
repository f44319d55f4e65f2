//! The compiled engine: closures recorded once, differentiated and run without Burn.
//!
//! [`capture`] runs the closures on Burn's capture device and [`import`]s what was recorded into a graph for one observation;
//! [`sheet`] has it differentiated and simplified; [`check`] compares the programs with the eager engine before they are
//! trusted. What cannot be compiled has a [`Reason`], and the eager engine takes over.

mod cache;
mod capture;
mod check;
mod columns;
mod explain;
mod import;
mod reason;
mod sheet;
mod team;
mod watch;

use std::fmt;
use std::sync::Arc;

use sgmcmc_compiler::program::{Call, Lines, Program, Real, RunError, Sink};

pub(super) use cache::SheetCache;
pub(super) use explain::explain;
pub(super) use reason::Reason;

use self::columns::InPlace;
use self::sheet::Sheet;
use self::team::Team;
use self::watch::Watch;
use super::eager::Eager;
use super::{Evaluator, ModelIdentity, Posterior, check_call, check_output};
use crate::data::{Column, Precision, Rows, Selection, Weights};
use crate::error::{Closure, Error, Result};
use crate::fingerprint::Fingerprinter;
use crate::layout::Layout;
use crate::tree::TensorTree;

/// The programs of one chain.
struct Compiled<P, D, T> {
    posterior: Posterior<P, D>,
    /// Takes over at row counts for which the closure records something else.
    eager: Eager<P, D>,
    sheet: Arc<Sheet>,
    likelihood: Option<Program<T>>,
    prior: Option<Program<T>>,
    /// Both in one, for rows that need not be divided.
    together: Option<Program<T>>,
    team: Team<T>,
    /// Made when first asked for.
    others: Others<T>,
    /// Row counts at which the closure was seen to record the same, and at which it was not.
    same: Vec<usize>,
    different: Vec<usize>,
    watch: Watch,
}

/// Programs that many chains never need.
struct Others<T> {
    weighted: Option<Program<T>>,
    pointwise: Option<Program<T>>,
    per_datum: Option<Program<T>>,
    prior_value: Option<Program<T>>,
}

impl<P, D, T> fmt::Debug for Compiled<P, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("posterior", &self.posterior).finish_non_exhaustive()
    }
}

/// An evaluator that runs the closures compiled.
///
/// # Errors
///
/// The reason why they cannot be.
pub(super) fn evaluator<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: Eager<P, D>,
) -> std::result::Result<Box<dyn Evaluator>, Reason> {
    let sheet = sheet(posterior, &eager)?;
    Ok(match eager.precision() {
        Precision::Single => Box::new(Compiled::<P, D, f32>::new(posterior, eager, sheet)?),
        Precision::Double => Box::new(Compiled::<P, D, f64>::new(posterior, eager, sheet)?),
    })
}

/// What is compiled for parameters laid out as `eager` has them; made and checked once for all chains.
fn sheet<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
) -> std::result::Result<Arc<Sheet>, Reason> {
    posterior.compiled().get_or_make(eager.layout(), || {
        let captured = capture::capture(posterior, eager.template(), eager.layout(), eager.precision().dtype())?;
        let sheet = Sheet::new(captured, eager.layout().clone())?;
        check::check(posterior, eager, &sheet)?;
        Ok(sheet)
    })
}

impl<P: TensorTree, D: TensorTree, T: Real> Compiled<P, D, T> {
    fn new(posterior: &Posterior<P, D>, eager: Eager<P, D>, sheet: Arc<Sheet>) -> std::result::Result<Self, Reason> {
        let (likelihood, prior) = (sheet.program(&sheet.likelihood)?, sheet.program(&sheet.prior)?);
        let together = sheet.program(&sheet.posterior)?;
        let others = Others { weighted: None, pointwise: None, per_datum: None, prior_value: None };
        let (same, different) = (vec![], vec![]);
        Ok(Self {
            posterior: posterior.clone(),
            eager,
            sheet,
            likelihood,
            prior,
            together,
            team: Team::new(),
            others,
            same,
            different,
            watch: Watch::new(),
        })
    }

    /// Whether the closure records the same at `n` rows as when it was compiled.
    fn serves(&mut self, n: usize) -> bool {
        if n == 0 || self.sheet.likelihood.is_none() || self.same.contains(&n) {
            return true;
        }
        if self.different.contains(&n) {
            return false;
        }
        let Self { posterior, eager, sheet, .. } = &*self;
        let dtype = eager.precision().dtype();
        let same = capture::same_at(posterior, eager.template(), &sheet.layout, dtype, n, &sheet.signature);
        if same.is_ok() {
            self.same.push(n)
        } else {
            self.different.push(n)
        }
        same.is_ok()
    }

    /// Whether the program serves these rows in the pieces that the closure would be given.
    fn serves_rows(&mut self, rows: Rows<'_>) -> bool {
        let chunk = self.posterior.chunk();
        let (whole, rest) = (rows.len() / chunk, rows.len() % chunk);
        (whole == 0 || self.serves(chunk)) && self.serves(rest)
    }

    fn require_terms(&self, what: &'static str) -> Result<()> {
        // The sum over one row is its term.
        if self.sheet.summed && self.observations() > 1 { Err(Error::SummedLikelihood { what }) } else { Ok(()) }
    }

    /// Adds the gradient of power · Σ wᵢ log p(xᵢ|θ) to `grad`; returns the value.
    fn run_likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        let (power, _) = self.posterior.model().powers();
        let columns = self.posterior.data().columns();
        let chunk = self.posterior.chunk();
        if matches!(rows.weights(), Weights::Each(_)) {
            self.require_terms("weighted subsampling")?;
            self.others.make(&self.sheet)?;
            let Some(program) = &mut self.others.weighted else { return Ok(0.0) };
            let mut run = |rows| run(program, columns, theta, rows, power, Sink::Gradient(&mut *grad));
            return rows.chunks(chunk).map(&mut run).sum();
        }
        let Self { likelihood, team, sheet, .. } = self;
        let Some(program) = likelihood else { return Ok(0.0) };
        let mut run = |rows| team.run(program, sheet, (columns, theta, power), rows, &mut *grad, |_| Ok(0.0));
        rows.chunks(chunk).map(&mut run).sum()
    }
}

impl<P: TensorTree, D: TensorTree, T: Real> Evaluator for Compiled<P, D, T> {
    fn precision(&self) -> Precision {
        self.eager.precision()
    }

    fn identity(&mut self, _theta: &[f64]) -> Result<ModelIdentity> {
        let mut parts = Fingerprinter::new();
        parts.bytes(&self.sheet.fingerprint.to_le_bytes());
        let (likelihood, prior) = self.posterior.model().powers();
        parts.numbers(&[likelihood, prior]);
        Ok(ModelIdentity::Recorded(parts.finish()))
    }

    fn layout(&self) -> &Layout {
        &self.sheet.layout
    }

    fn observations(&self) -> usize {
        self.posterior.data().observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        check_call(&self.sheet.layout, 0, theta, grad, Rows::range(0..0))?;
        let Some(program) = &mut self.prior else { return Ok(0.0) };
        run(program, &[], theta, Rows::range(0..0), 1.0, Sink::Gradient(grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_call(&self.sheet.layout, self.observations(), theta, grad, rows)?;
        if self.serves_rows(rows) {
            self.watch(theta, rows)?;
            self.run_likelihood(theta, rows, grad)
        } else {
            self.eager.likelihood(theta, rows, grad)
        }
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_call(&self.sheet.layout, self.observations(), theta, grad, rows)?;
        // The first rows come while what does not depend on them is computed.
        if let (Some(program), Selection::List(list)) = (&self.likelihood, rows.selection()) {
            let columns = InPlace(self.posterior.data().columns());
            let (lines, rows) = (Lines::List(list), list.len());
            program.prefetch(Call { theta, columns: &columns, lines, rows, weights: None, scale: 1.0 });
        }
        self.watch(theta, rows)?;
        let uniform = matches!(rows.weights(), Weights::Same(_));
        if uniform && rows.len() <= self.posterior.chunk() && self.serves(rows.len()) {
            let (power, _) = self.posterior.model().powers();
            let Self { posterior, sheet, likelihood, prior, together, team, .. } = self;
            let columns = posterior.data().columns();
            if let Some(program) = together.as_mut().filter(|program| team::pieces(program, rows.len()) == 1) {
                return run(program, columns, theta, rows, power, Sink::Gradient(grad));
            }
            if let Some(program) = likelihood {
                let prior = |grad: &mut [f64]| match prior {
                    Some(program) => run(program, &[], theta, Rows::range(0..0), 1.0, Sink::Gradient(grad)),
                    None => Ok(0.0),
                };
                return team.run(program, sheet, (columns, theta, power), rows, grad, prior);
            }
        }
        let prior = self.prior(theta, grad)?;
        let likelihood = if self.serves_rows(rows) {
            self.run_likelihood(theta, rows, grad)?
        } else {
            self.eager.likelihood(theta, rows, grad)?
        };
        Ok(prior + likelihood)
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        check_call(&self.sheet.layout, self.observations(), theta, theta, rows)?;
        if !self.serves_rows(rows) {
            return self.eager.log_density(theta, rows);
        }
        self.others.make(&self.sheet)?;
        let (power, _) = self.posterior.model().powers();
        let mut total = match &mut self.others.prior_value {
            Some(program) => run(program, &[], theta, Rows::range(0..0), 1.0, Sink::Total)?,
            None => 0.0,
        };
        if let Some(program) = &mut self.others.pointwise {
            for chunk in rows.chunks(self.posterior.chunk()) {
                total += run(program, self.posterior.data().columns(), theta, chunk, power, Sink::Total)?;
            }
        }
        Ok(total)
    }

    fn pointwise(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        check_call(&self.sheet.layout, self.observations(), theta, theta, rows)?;
        check_output("the output for the log-likelihood of each row", rows.len(), out.len())?;
        self.require_terms("the pointwise log-likelihood")?;
        if !self.serves_rows(rows) {
            return self.eager.pointwise(theta, rows, out);
        }
        self.others.make(&self.sheet)?;
        let Some(program) = &mut self.others.pointwise else {
            out.fill(0.0);
            return Ok(());
        };
        let chunk = self.posterior.chunk();
        for (rows, out) in rows.scaled(1.0).chunks(chunk).zip(out.chunks_mut(chunk)) {
            run(program, self.posterior.data().columns(), theta, rows, 1.0, Sink::Rows(out))?;
        }
        Ok(())
    }

    fn per_datum(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        check_call(&self.sheet.layout, self.observations(), theta, theta, rows)?;
        check_output("the output for the gradient of each row", rows.len() * dim, out.len())?;
        self.require_terms("the gradient of each observation")?;
        if !self.serves_rows(rows) {
            return self.eager.per_datum(theta, rows, out);
        }
        self.others.make(&self.sheet)?;
        let Some(program) = &mut self.others.per_datum else {
            out.fill(0.0);
            return Ok(());
        };
        let (power, _) = self.posterior.model().powers();
        let chunk = self.posterior.chunk();
        for (rows, out) in rows.scaled(1.0).chunks(chunk).zip(out.chunks_mut((chunk * dim).max(1))) {
            run(program, self.posterior.data().columns(), theta, rows, power, Sink::RowGradients(out))?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        let made = |part| self.sheet.program(part).map_err(not_compiled);
        self.likelihood = made(&self.sheet.likelihood)?;
        self.prior = made(&self.sheet.prior)?;
        self.together = made(&self.sheet.posterior)?;
        Ok(())
    }

    fn set_threads(&mut self, threads: usize) {
        self.team.parallel = threads > 1;
    }
}

impl<T: Real> Others<T> {
    fn make(&mut self, sheet: &Sheet) -> Result<()> {
        let made = |part| sheet.program(part).map_err(not_compiled);
        if self.pointwise.is_none() && self.prior_value.is_none() {
            let others = sheet.others().map_err(not_compiled)?;
            self.weighted = made(&others.weighted)?;
            self.pointwise = made(&others.pointwise)?;
            self.per_datum = made(&others.per_datum)?;
            self.prior_value = made(&others.prior_value)?;
        }
        Ok(())
    }
}

fn not_compiled(reason: Reason) -> Error {
    Error::NotCompiled { reason: reason.to_string() }
}

/// Runs `program` on `rows`; returns `power` · Σ wᵢ (value of row i) + the shared value, and their gradient.
fn run<T: Real>(
    program: &mut Program<T>,
    columns: &[Column],
    theta: &[f64],
    rows: Rows<'_>,
    power: f64,
    sink: Sink<'_>,
) -> Result<f64> {
    let (weights, scale) = match rows.weights() {
        Weights::Same(weight) => (None, weight * power),
        Weights::Each(weights) => (Some(weights), power),
    };
    columns.iter().try_for_each(Column::check_readable)?;
    let staged: Vec<Column>;
    let (columns, lines) = if columns.iter().all(Column::in_place) {
        (
            columns,
            match rows.selection() {
                Selection::Range { start, .. } => Lines::Range(start),
                Selection::List(rows) => Lines::List(rows),
            },
        )
    } else {
        // Columns that are read from a file are read row by row, not page by page.
        staged = columns.iter().map(|column| column.take(rows)).collect();
        // Again, because a file may have been cut while it was read.
        columns.iter().try_for_each(Column::check_readable)?;
        (staged.as_slice(), Lines::Range(0))
    };
    let columns = InPlace(columns);
    let call = Call { theta, columns: &columns, lines, rows: rows.len(), weights, scale };
    program.run(call, sink).map_err(failed)
}

/// An index out of range, as the eager engine reports it: the closure's fault.
fn failed(error: RunError) -> Error {
    Error::ClosurePanicked { closure: Closure::LogLikelihood, message: error.to_string() }
}

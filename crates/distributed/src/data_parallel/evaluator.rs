//! The evaluator of observations that are divided among ranks.

use std::sync::Arc;

use sgmcmc_gradient::data::{Selection, Weights};
use sgmcmc_gradient::evaluator::{check_arguments, check_output};
use sgmcmc_gradient::{Evaluator, Result, Rows};
use xxhash_rust::xxh3::Xxh3;

use crate::collective::{Collective, Error, agree};

/// The evaluator of a [`DataParallel`](super::DataParallel) density. All ranks must call its methods with the same
/// arguments in the same order.
#[derive(Debug)]
pub struct DataParallelEvaluator {
    local: Box<dyn Evaluator>,
    ranks: Arc<dyn Collective>,
    /// The number of the evaluator: ranks that mix up chains evaluate different ones.
    number: u64,
    /// The index of the first observation of each rank, and the number of all observations.
    offsets: Vec<usize>,
    /// The gradient of the observations of this rank, followed by the [`Tail`].
    sums: Vec<f64>,
    picked: Picked,
}

/// The numbers that are added together with a gradient.
enum Tail {
    /// The value.
    Value,
    /// A hash of the arguments, which all ranks must have in common.
    Arguments,
    /// The number of ranks whose model failed.
    Failures,
}

const TAIL: usize = 3;

/// The observations of this rank among those of a selection.
#[derive(Debug, Default)]
struct Picked {
    rows: Vec<usize>,
    weights: Vec<f64>,
    /// The positions in the selection.
    positions: Vec<usize>,
}

impl DataParallelEvaluator {
    /// Creates evaluator number `number` from that of the observations of this rank.
    pub(super) fn new(local: Box<dyn Evaluator>, ranks: Arc<dyn Collective>, number: u64) -> Result<Self> {
        let mut counts = vec![0.0; ranks.size() + 1];
        counts[ranks.rank() + 1] = local.observations() as f64;
        ranks.all_reduce_sum(&mut counts)?;
        let mut total = 0;
        let offsets = counts.iter().map(|count| {
            total += *count as usize;
            total
        });
        let offsets = offsets.collect();
        let sums = vec![0.0; local.dim() + TAIL];
        let evaluator = Self { local, ranks, number, offsets, sums, picked: Picked::default() };
        evaluator.check_layouts()?;
        Ok(evaluator)
    }

    /// Checks that all ranks have the same parameters.
    fn check_layouts(&self) -> Result<()> {
        let all = self.ranks.all_gather(format!("{:?}", self.local.layout()).as_bytes())?;
        match all.iter().position(|layout| *layout != all[0]) {
            None => Ok(()),
            Some(rank) => {
                let what = format!("the parameters of the model: those of rank {rank} differ from those of rank 0");
                Err(Error::Disagreement { what, remedy: "give all ranks the same model and the same start" }.into())
            }
        }
    }

    /// Returns the index of the first observation of this rank, and the index after its last.
    fn own(&self) -> (usize, usize) {
        (self.offsets[self.ranks.rank()], self.offsets[self.ranks.rank() + 1])
    }

    /// Adds the local results in `sums` over all ranks.
    ///
    /// `arguments` is a hash of the arguments of the call, `value` the local value.
    fn reduce(&mut self, arguments: f64, value: Result<f64>) -> Result<f64> {
        let tail = self.local.dim();
        self.sums[tail + Tail::Value as usize] = *value.as_ref().unwrap_or(&0.0);
        self.sums[tail + Tail::Arguments as usize] = arguments;
        self.sums[tail + Tail::Failures as usize] = f64::from(u8::from(value.is_err()));
        self.ranks.all_reduce_sum(&mut self.sums)?;
        let failures = self.sums[tail + Tail::Failures as usize];
        if failures > 0.0 {
            agree(&*self.ranks, value)?;
        }
        self.check_same(self.sums[tail + Tail::Arguments as usize], arguments)?;
        Ok(self.sums[tail + Tail::Value as usize])
    }

    /// Checks that all ranks have the same arguments, by the sum of their hashes.
    fn check_same(&self, sum: f64, own: f64) -> Result<()> {
        // Hashes have 40 bits, so that the sum is exact.
        if sum.to_bits() == (own * self.ranks.size() as f64).to_bits() {
            return Ok(());
        }
        let what = "the point at which the density is evaluated".into();
        let remedy = "use the same seed, start and settings on all ranks, and run several chains one after another \
                      with `chains::in_order`";
        Err(Error::Disagreement { what, remedy }.into())
    }

    /// Returns a hash of the arguments of a call.
    fn hash(&self, theta: &[f64], rows: Rows<'_>) -> f64 {
        let mut hasher = Xxh3::new();
        hasher.update(&self.number.to_le_bytes());
        hasher.update(bytemuck::cast_slice(theta));
        match rows.selection() {
            Selection::Range { start, length } => hasher.update(bytemuck::cast_slice(&[start, length])),
            Selection::List(rows) => hasher.update(bytemuck::cast_slice(rows)),
        }
        (hasher.digest() >> 24) as f64
    }

    /// Calls `call` with the local evaluator, the observations of this rank among `rows`, and the place of the
    /// gradient. The place of the gradient is zero.
    fn on_own_rows<R>(
        &mut self,
        rows: Rows<'_>,
        call: impl FnOnce(&mut dyn Evaluator, Rows<'_>, &mut [f64]) -> Result<R>,
    ) -> Result<R> {
        let (first, end) = self.own();
        let Self { local, sums, picked, .. } = self;
        let dim = local.dim();
        let gradient = &mut sums[..dim];
        gradient.fill(0.0);
        match rows.selection() {
            Selection::Range { start, length } => {
                let from = start.clamp(first, end);
                let to = (start + length).clamp(first, end).max(from);
                let range = Rows::range(from - first..to - first);
                let own = match rows.weights() {
                    Weights::Same(weight) => range.scaled(weight),
                    Weights::Each(weights) => {
                        range.weighted(part_of(weights, from.saturating_sub(start), to - from))?
                    }
                };
                call(local.as_mut(), own, gradient)
            }
            Selection::List(_) => {
                picked.pick(rows, first, end);
                let own = Rows::list(&picked.rows);
                let own = match rows.weights() {
                    Weights::Same(weight) => own.scaled(weight),
                    Weights::Each(_) => own.weighted(&picked.weights)?,
                };
                call(local.as_mut(), own, gradient)
            }
        }
    }

    /// Fills `out`, which has `width` numbers per observation of `rows`, by the results of `call` on the observations
    /// of each rank.
    fn per_observation(
        &mut self,
        theta: &[f64],
        rows: Rows<'_>,
        width: usize,
        out: &mut [f64],
        call: impl FnOnce(&mut dyn Evaluator, Rows<'_>, &mut [f64]) -> Result<()>,
    ) -> Result<()> {
        let (first, end) = self.own();
        let arguments = self.hash(theta, rows);
        self.picked.pick(rows, first, end);
        let own = Rows::list(&self.picked.rows).weighted(&self.picked.weights)?;
        let mut results = vec![0.0; own.len() * width];
        let called = call(self.local.as_mut(), own, &mut results);
        self.sums.fill(0.0);
        self.reduce(arguments, called.map(|()| 0.0))?;
        out.fill(0.0);
        for (position, result) in self.picked.positions.iter().zip(results.chunks_exact(width.max(1))) {
            out[position * width..(position + 1) * width].copy_from_slice(result);
        }
        Ok(self.ranks.all_reduce_sum(out)?)
    }
}

/// Returns `length` weights from `start` on. A part without observations may start after the end.
fn part_of(weights: &[f64], start: usize, length: usize) -> &[f64] {
    if length == 0 { &[] } else { &weights[start..start + length] }
}

impl Picked {
    /// Finds the observations of `rows` from `first` to `end`, and numbers them from `first`.
    fn pick(&mut self, rows: Rows<'_>, first: usize, end: usize) {
        self.rows.clear();
        self.weights.clear();
        self.positions.clear();
        for (position, (row, weight)) in rows.iter().enumerate() {
            if (first..end).contains(&row) {
                self.rows.push(row - first);
                self.weights.push(weight);
                self.positions.push(position);
            }
        }
    }
}

impl Evaluator for DataParallelEvaluator {
    crate::evaluator::same_computation!(local);

    fn observations(&self) -> usize {
        self.offsets[self.ranks.size()]
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        self.local.prior(theta, grad)
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_arguments(self.local.layout(), self.observations(), theta, grad, rows)?;
        let arguments = self.hash(theta, rows);
        let value =
            self.on_own_rows(
                rows,
                |local, own, gradient| {
                    if own.is_empty() { Ok(0.0) } else { local.likelihood(theta, own, gradient) }
                },
            );
        let value = self.reduce(arguments, value)?;
        grad.iter_mut().zip(&self.sums).for_each(|(grad, sum)| *grad += sum);
        Ok(value)
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        self.local.layout().check_length(theta)?;
        rows.check(self.observations())?;
        let arguments = self.hash(theta, rows);
        let none = Rows::range(0..0);
        let prior = self.local.log_density(theta, none);
        let value = match prior.clone() {
            Ok(prior) => self.on_own_rows(rows, |local, own, _| {
                if own.is_empty() { Ok(0.0) } else { Ok(local.log_density(theta, own)? - prior) }
            }),
            Err(error) => Err(error),
        };
        Ok(self.reduce(arguments, value)? + prior?)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.local.layout().check_length(theta)?;
        rows.check(self.observations())?;
        check_output("the output for the log-likelihood of each observation", rows.len(), out.len())?;
        self.per_observation(theta, rows, 1, out, |local, own, out| {
            local.log_likelihood_per_observation(theta, own, out)
        })
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.local.layout().check_length(theta)?;
        rows.check(self.observations())?;
        let dim = self.dim();
        check_output("the output for the gradient of each observation", rows.len() * dim, out.len())?;
        self.per_observation(theta, rows, dim, out, |local, own, out| local.gradient_per_observation(theta, own, out))
    }
}

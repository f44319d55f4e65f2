//! The evaluator of a posterior of simplexes: estimates of a, or gradients by log θ.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use sgmcmc_gradient::evaluator::{check_arguments, check_output};
use sgmcmc_gradient::{Evaluator, Layout, Result, Rows};

use super::statistics::{Observation, Statistics};
use super::step::Simplexes;

/// The vector that an evaluator returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// α of the prior and zᵢ of an observation, in place of their gradients.
    Statistics,
    /// The gradients by log θ: αⱼ − θⱼ of the prior and zᵢⱼ − ωⱼ Σ zᵢ of an observation.
    Gradient,
}

/// The evaluator of a [`SimplexTarget`](super::SimplexTarget).
pub(super) struct SimplexEvaluator {
    alpha: Arc<[f64]>,
    statistics: Arc<dyn Statistics>,
    layout: Layout,
    ranges: Vec<Range<usize>>,
    output: Output,
    omega: Vec<f64>,
    log_omega: Vec<f64>,
    counts: Vec<f64>,
}

impl SimplexEvaluator {
    pub(super) fn new(
        alpha: Arc<[f64]>,
        statistics: Arc<dyn Statistics>,
        layout: Layout,
        output: Output,
    ) -> Result<Self> {
        let ranges = Simplexes::of(&layout)?.ranges().collect();
        let zeros = || vec![0.0; alpha.len()];
        let (omega, log_omega, counts) = (zeros(), zeros(), zeros());
        Ok(Self { alpha, statistics, layout, ranges, output, omega, log_omega, counts })
    }

    /// Computes ω and log ω, the latter without underflow.
    fn locate(&mut self, theta: &[f64]) -> Result<()> {
        self.layout.values_into(theta, &mut self.omega)?;
        for range in &self.ranges {
            let log_total = log_sum_exp(&theta[range.clone()]);
            let out = self.log_omega[range.clone()].iter_mut().zip(&theta[range.clone()]);
            out.for_each(|(out, theta)| *out = theta - log_total);
        }
        Ok(())
    }

    /// Returns the log prior of the simplexes and adds its vector to `grad`, after [`locate`](Self::locate).
    fn add_prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        for ((grad, alpha), theta) in grad.iter_mut().zip(&*self.alpha).zip(theta) {
            *grad += match self.output {
                Output::Statistics => *alpha,
                Output::Gradient => alpha - theta.exp(),
            };
        }
        match self.output {
            Output::Statistics => self.alpha.iter().zip(&self.log_omega).map(|(alpha, log)| (alpha - 1.0) * log).sum(),
            Output::Gradient => self.alpha.iter().zip(theta).map(|(alpha, theta)| alpha * theta - theta.exp()).sum(),
        }
    }

    /// Returns the weighted log-likelihood of `rows` and adds its vector to `grad`, after [`locate`](Self::locate).
    fn add_likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> f64 {
        let (counts, hash) = (&mut self.counts, OnceCell::new());
        counts.fill(0.0);
        for (row, weight) in rows.iter() {
            let observation = Observation { row, weight, omega: &self.omega, log_theta: theta, hash: &hash };
            self.statistics.add(&observation, counts);
        }
        if self.output == Output::Gradient {
            for range in &self.ranges {
                let total: f64 = counts[range.clone()].iter().sum();
                let moved = grad[range.clone()].iter_mut().zip(&self.omega[range.clone()]);
                moved.for_each(|(grad, omega)| *grad -= total * omega);
            }
        }
        grad.iter_mut().zip(&*counts).for_each(|(grad, count)| *grad += count);
        // A count of zero contributes zero, also where log ω is the largest negative number.
        counts.iter().zip(&self.log_omega).filter(|(count, _)| **count != 0.0).map(|(count, log)| count * log).sum()
    }
}

/// Returns log Σ eˣ without overflow.
pub(super) fn log_sum_exp(x: &[f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    largest + x.iter().map(|x| (x - largest).exp()).sum::<f64>().ln()
}

impl fmt::Debug for SimplexEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimplexEvaluator").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Evaluator for SimplexEvaluator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.statistics.observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, 0, theta, grad, Rows::range(0..0))?;
        self.locate(theta)?;
        Ok(self.add_prior(theta, grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, self.observations(), theta, grad, rows)?;
        self.locate(theta)?;
        Ok(self.add_likelihood(theta, rows, grad))
    }

    fn posterior(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, self.observations(), theta, grad, rows)?;
        self.locate(theta)?;
        Ok(self.add_prior(theta, grad) + self.add_likelihood(theta, rows, grad))
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        let mut discarded = vec![0.0; theta.len()];
        self.posterior(theta, rows, &mut discarded)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let mut discarded = vec![0.0; theta.len()];
        check_arguments(&self.layout, self.observations(), theta, &discarded, rows)?;
        check_output("the output for the log-likelihood of each observation", rows.len(), out.len())?;
        self.locate(theta)?;
        for (out, (row, _)) in out.iter_mut().zip(rows.iter()) {
            *out = self.add_likelihood(theta, Rows::list(&[row]), &mut discarded);
        }
        Ok(())
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        self.layout.check_length(theta)?;
        rows.check(self.observations())?;
        check_output("the output for the gradient of each observation", rows.len() * dim, out.len())?;
        self.locate(theta)?;
        out.fill(0.0);
        for (gradient, (row, _)) in out.chunks_exact_mut(dim.max(1)).zip(rows.iter()) {
            self.add_likelihood(theta, Rows::list(&[row]), gradient);
        }
        Ok(())
    }
}

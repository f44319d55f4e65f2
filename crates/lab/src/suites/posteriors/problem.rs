//! A type-erased reference posterior: an evaluator, a start, and the reference parameters as functions of a draw.

use sgmcmc::TreeLayout;
use std::fmt;
use std::sync::Arc;

use sgmcmc::Layout;
use sgmcmc::algorithms::Metric;
use sgmcmc::fit::ChainDraws;
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;
use sgmcmc::sink::Draw;

use crate::Result;

type MakeEvaluator = dyn Fn() -> sgmcmc::gradient::Result<Box<dyn Evaluator>> + Send + Sync;
type Report = dyn Fn(&[f64]) -> Vec<f64> + Send + Sync;

/// A reference posterior.
#[derive(Clone)]
pub(crate) struct Problem {
    /// The name of the posterior in posteriordb.
    pub(crate) name: &'static str,
    /// The number N of observations.
    pub(crate) observations: usize,
    /// A description of the model.
    pub(crate) model: &'static str,
    /// The names of the reference parameters, in the order of [`report`](Self::report).
    pub(crate) parameters: Vec<String>,
    /// The start of the mode search.
    pub(crate) start: Vec<f64>,
    /// A position-dependent metric in the coordinates of the model, if the expected information is known.
    pub(crate) metric: Option<Metric>,
    layout: Layout,
    evaluator: Arc<MakeEvaluator>,
    report: Arc<Report>,
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Problem").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The name of a reference posterior and a description of its model.
#[derive(Clone, Copy)]
pub(crate) struct Title {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
}

impl Problem {
    /// Creates a problem with the reference parameters `parameters`, which `report` computes from the values of a draw.
    ///
    /// # Errors
    ///
    /// Returns the error of the evaluator.
    pub(crate) fn new<P: TensorTree, D: TensorTree>(
        title: Title,
        posterior: Posterior<P, D>,
        start: P,
        parameters: Vec<String>,
        report: impl Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static,
    ) -> Result<Self> {
        let evaluator = posterior.evaluator(&start)?;
        let (layout, observations) = (evaluator.layout().clone(), evaluator.observations());
        Ok(Self {
            name: title.name,
            model: title.model,
            observations,
            parameters,
            start: layout.flatten(&start)?,
            metric: None,
            layout,
            evaluator: Arc::new(move || posterior.evaluator(&start)),
            report: Arc::new(report),
        })
    }

    /// Returns the problem with a position-dependent metric.
    pub(crate) fn with_metric(self, metric: Metric) -> Self {
        Self { metric: Some(metric), ..self }
    }

    /// Returns a new evaluator in the coordinates of the model.
    pub(crate) fn evaluator(&self) -> sgmcmc::gradient::Result<Box<dyn Evaluator>> {
        (self.evaluator)()
    }

    /// Returns the reference parameters at the coordinates `theta`.
    pub(crate) fn report(&self, theta: &[f64]) -> sgmcmc::gradient::Result<Vec<f64>> {
        Ok((self.report)(&self.layout.values(theta)?))
    }

    /// Converts `fit` to draws of the reference parameters; `to_model` maps the values of a draw to the coordinates of
    /// the model. Outcomes and run information are kept.
    pub(crate) fn to_reference(&self, fit: &Fit, to_model: impl Fn(&[f64]) -> Vec<f64>) -> Result<Fit> {
        let layout = Layout::new(self.parameters.iter().map(|name| (name.clone(), vec![1], None)))?;
        let chains = fit.chains().iter().map(|chain| {
            let mut reported = ChainDraws::new(layout.value_count(), Vec::new());
            let weights = chain.weights().iter().zip(chain.log_posterior()).zip(chain.iterations());
            for (row, ((weight, log_posterior), iteration)) in chain.rows().zip(weights) {
                let values = self.report(&to_model(row))?;
                let (weight, log_posterior, iteration) = (*weight, *log_posterior, *iteration);
                reported.push(&Draw { iteration, values: &values, weight, log_posterior, stats: &[] })?;
            }
            Ok(reported)
        });
        let chains = chains.collect::<sgmcmc::gradient::Result<Vec<_>>>()?;
        Ok(Fit::new(layout.clone(), chains)?.with_outcomes(fit.outcomes().to_vec())?.with_info(fit.info().clone()))
    }
}

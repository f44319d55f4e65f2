//! A reference posterior without its types: an evaluator, a start, and the reference parameters as functions of a draw.

use std::fmt;
use std::sync::Arc;

use sgmcmc::prelude::*;
use sgmcmc::{ChainDraws, Layout, sink::Draw};

use crate::Result;

type MakeEvaluator = dyn Fn() -> sgmcmc::Result<Box<dyn Evaluator>> + Send + Sync;
type Report = dyn Fn(&[f64]) -> Vec<f64> + Send + Sync;

/// A reference posterior.
#[derive(Clone)]
pub(crate) struct Problem {
    /// The name of the posterior in posteriordb.
    pub(crate) name: &'static str,
    /// The number of observations, N.
    pub(crate) observations: usize,
    /// The model in one line.
    pub(crate) model: &'static str,
    /// The names of the reference parameters, in the order of [`report`](Self::report).
    pub(crate) parameters: Vec<String>,
    /// The coordinates at which the search for the mode starts.
    pub(crate) start: Vec<f64>,
    /// A position-dependent metric in the coordinates of the model, where the expected information is known.
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

/// The name of a reference posterior and its model in one line.
#[derive(Clone, Copy)]
pub(crate) struct Title {
    pub(crate) name: &'static str,
    pub(crate) model: &'static str,
}

impl Problem {
    /// A problem whose reference parameters are `parameters`, made by `report` from the values of a draw.
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

    /// The same problem with a position-dependent metric.
    pub(crate) fn with_metric(self, metric: Metric) -> Self {
        Self { metric: Some(metric), ..self }
    }

    /// A new evaluator in the coordinates of the model.
    pub(crate) fn evaluator(&self) -> sgmcmc::Result<Box<dyn Evaluator>> {
        (self.evaluator)()
    }

    /// The reference parameters at the coordinates `theta`.
    pub(crate) fn report(&self, theta: &[f64]) -> sgmcmc::Result<Vec<f64>> {
        Ok((self.report)(&self.layout.values(theta)?))
    }

    /// Returns the draws of `fit`, whose values are coordinates mapped to those of the model by `to_model`, as draws of the
    /// reference parameters. Endings and run information stay.
    pub(crate) fn reported(&self, fit: &Fit, to_model: impl Fn(&[f64]) -> Vec<f64>) -> Result<Fit> {
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
        let chains = chains.collect::<sgmcmc::Result<Vec<_>>>()?;
        Ok(Fit::new(layout.clone(), chains)?.with_endings(fit.endings().to_vec())?.with_info(fit.info().clone()))
    }
}

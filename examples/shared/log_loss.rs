//! The log loss: −1/|T| times the log-likelihood of a test set T (Baker 2019, eq. (4.5.2)).

use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;

/// The log loss on one test set.
pub struct LogLoss {
    evaluator: Box<dyn Evaluator>,
    terms: Vec<f64>,
}

impl LogLoss {
    /// Creates the log loss of `model` on `test`; `start` has the shape of the parameters.
    pub fn new<P: TensorTree, D: TensorTree>(
        model: &Model<P, D>,
        test: &Dataset<D>,
        start: &P,
    ) -> sgmcmc::gradient::Result<Self> {
        Ok(Self { evaluator: model.with(test).evaluator(start)?, terms: vec![0.0; test.observations()] })
    }

    /// Returns the log loss at these values of the parameters.
    pub fn at(&mut self, values: &[f64]) -> sgmcmc::gradient::Result<f64> {
        let theta = self.evaluator.layout().coordinates(values)?;
        self.evaluator.log_likelihood_per_observation(&theta, self.evaluator.all_rows(), &mut self.terms)?;
        Ok(-self.terms.iter().sum::<f64>() / self.terms.len() as f64)
    }
}

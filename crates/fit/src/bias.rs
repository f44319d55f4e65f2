//! The asymptotic bias of chains.

use serde::{Deserialize, Serialize};

/// The difference between the stationary distribution of the chains of a run and the posterior.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Bias;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([1]), 50)?;
/// assert_eq!(fit.info().bias, Bias::Exact);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bias {
    /// Nothing is known about the run.
    #[default]
    Unknown,
    /// The algorithm accepts or rejects proposals. Its stationary distribution is the posterior.
    Exact,
    /// The variances were predicted from the stationary distribution of the algorithm on a normal posterior.
    Predicted(PredictedBias),
    /// The bias was not examined. The text gives the reason.
    NotExamined(String),
}

/// Predicted variances: those of the stationary distribution of the algorithm on a normal posterior.
///
/// Curvature and gradient noise are measured at the last position of each chain. The prediction is the worst of all
/// chains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedBias {
    /// The prediction in the direction of the largest curvature, where the step size has the largest effect.
    pub stiffest: DirectionBias,
    /// The prediction in the direction of the largest gradient noise.
    pub noisiest: DirectionBias,
    /// A bias of the algorithm that the prediction does not include.
    pub caveat: Option<String>,
}

/// The predicted variance in one direction.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::DirectionBias;
///
/// let direction = DirectionBias { curvature: 0.1, noise: 0.2, variance_ratio: Some(1.21) };
/// assert!((direction.sd_error() - 0.1).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionBias {
    /// The step size times the curvature, whitened by the preconditioner of the algorithm.
    pub curvature: f64,
    /// The step size times the variance of the gradient estimate, whitened by the preconditioner of the algorithm.
    pub noise: f64,
    /// The ratio of the predicted variance to that of the posterior. `None` if the step size is above the stability
    /// limit.
    pub variance_ratio: Option<f64>,
}

impl DirectionBias {
    /// Returns the relative error of the predicted standard deviation. It is infinite above the stability limit.
    pub fn sd_error(&self) -> f64 {
        self.variance_ratio.map_or(f64::INFINITY, |ratio| ratio.max(0.0).sqrt() - 1.0)
    }
}

impl PredictedBias {
    /// Returns the error of the standard deviation with the larger absolute value.
    pub fn worst_sd_error(&self) -> f64 {
        let [a, b] = [self.stiffest.sd_error(), self.noisiest.sd_error()];
        if a.abs() >= b.abs() { a } else { b }
    }
}

impl Bias {
    /// Returns the bias of a run from the biases of its chains: the worst prediction, or the reason of the first chain
    /// without one.
    pub fn worst(chains: impl IntoIterator<Item = Self>) -> Self {
        chains.into_iter().reduce(Self::worse).unwrap_or_default()
    }

    /// Returns the worse of two predictions, or the one that exists.
    fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Predicted(a), Self::Predicted(b)) => {
                let larger = |a: DirectionBias, b: DirectionBias| {
                    if b.sd_error().abs() > a.sd_error().abs() { b } else { a }
                };
                Self::Predicted(PredictedBias {
                    stiffest: larger(a.stiffest, b.stiffest),
                    noisiest: larger(a.noisiest, b.noisiest),
                    caveat: a.caveat.or(b.caveat),
                })
            }
            // Failed chains have no prediction. The prediction of one other chain is enough.
            (predicted @ Self::Predicted(_), _) | (_, predicted @ Self::Predicted(_)) => predicted,
            (first, _) => first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(ratio: Option<f64>) -> Bias {
        let direction = |variance_ratio| DirectionBias { curvature: 0.1, noise: 0.1, variance_ratio };
        Bias::Predicted(PredictedBias { stiffest: direction(Some(1.0)), noisiest: direction(ratio), caveat: None })
    }

    #[test]
    fn the_worst_chain_counts() {
        let worst = Bias::worst([Bias::NotExamined("short".into()), predicted(Some(1.2)), predicted(Some(1.4))]);
        assert_eq!(worst, predicted(Some(1.4)));
        assert_eq!(Bias::worst([predicted(Some(0.5)), predicted(Some(1.4))]), predicted(Some(0.5)));
        assert_eq!(Bias::worst([predicted(None), predicted(Some(1.4))]), predicted(None));
        assert_eq!(Bias::worst([]), Bias::Unknown);
    }
}

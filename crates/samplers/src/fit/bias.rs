//! The bias of a chain: whether it was examined, and what was predicted.

use serde::{Deserialize, Serialize};

/// Whether the stationary law of the chains of a run differs from the posterior.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bias {
    /// Nothing is known of the run.
    #[default]
    Unknown,
    /// The algorithm accepts or rejects proposals, so that it has the posterior as its stationary law.
    Exact,
    /// The variances were predicted by the law of the algorithm.
    Predicted(PredictedBias),
    /// The bias was not examined, for this reason.
    NotExamined(String),
}

/// Variances predicted by the law of the algorithm on a normal posterior, with the curvature and the gradient noise at the position of a chain
/// when it ended; the worst of all chains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedBias {
    /// In the direction of the largest curvature, where the step size matters most.
    pub stiffest: DirectionBias,
    /// In the direction of the largest gradient noise.
    pub noisiest: DirectionBias,
    /// A bias that the law does not describe, if the algorithm has one.
    pub caveat: Option<String>,
}

/// The prediction in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirectionBias {
    /// The step size times the curvature, whitened by the matrix of the algorithm.
    pub curvature: f64,
    /// The step size times the variance of the gradient estimate, whitened likewise.
    pub noise: f64,
    /// The predicted variance over that of the posterior; `None` if the step is beyond the limit of stability.
    pub variance_ratio: Option<f64>,
}

impl DirectionBias {
    /// Returns the relative error of the predicted standard deviation; infinite beyond the limit of stability.
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
    /// Returns what is known of a run from what is known of each of its chains: the worst prediction, or the reason why a chain has none.
    pub(crate) fn worst(of: impl IntoIterator<Item = Self>) -> Self {
        of.into_iter().reduce(Self::worse).unwrap_or_default()
    }

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
            // One prediction is enough: chains that failed have none.
            (predicted @ Self::Predicted(_), _) | (_, predicted @ Self::Predicted(_)) => predicted,
            (first, _) => first,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(ratio: Option<f64>) -> Bias {
        let at = |variance_ratio| DirectionBias { curvature: 0.1, noise: 0.1, variance_ratio };
        Bias::Predicted(PredictedBias { stiffest: at(Some(1.0)), noisiest: at(ratio), caveat: None })
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

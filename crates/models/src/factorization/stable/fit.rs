//! The draws of an α-stable factorization, and averages over them.

use std::ops::Range;

use sgmcmc_fit::Fit;
use sgmcmc_gradient::{Error, Result, settings};

use super::model::Shape;

/// The draws of a [`StableFactorization`](super::StableFactorization).
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::{StableData, StableFactorization};
///
/// let model = StableFactorization::new(1.2, 2);
/// let data = StableData::complex(8, 6, &model.simulate(8, 6, 1)?.x)?;
/// let fit = model.burn_in(50).fit(&data, 100)?;
/// let dispersions = fit.dispersions()?;
/// assert_eq!(dispersions.mean.len(), 48);
/// assert!(fit.share(0..1)?.iter().all(|share| (0.0..=1.0).contains(share)));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StableFit {
    draws: Fit,
    shape: Shape,
}

/// The posterior of the dispersions λᵢⱼ = Σₖ Wᵢₖ Hₖⱼ of all entries, in row-major order.
///
/// # Examples
///
/// See [`StableFit`].
#[derive(Clone, Debug, PartialEq)]
pub struct Dispersions {
    /// The posterior mean.
    pub mean: Vec<f64>,
    /// The posterior standard deviation.
    pub sd: Vec<f64>,
    /// The posterior mean of log λ, which is robust to the heavy tail of λ.
    pub log_mean: Vec<f64>,
}

impl StableFit {
    pub(super) fn new(draws: Fit, shape: Shape) -> Self {
        Self { draws, shape }
    }

    /// Returns the draws of W and H.
    pub fn draws(&self) -> &Fit {
        &self.draws
    }

    /// Returns the posterior of the dispersions of all entries.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no draws.
    pub fn dispersions(&self) -> Result<Dispersions> {
        let zeros = vec![0.0; self.shape.rows * self.shape.columns];
        let (mut mean, mut squares, mut log_mean) = (zeros.clone(), zeros.clone(), zeros);
        let total = self.average(|values, share, index, row, column| {
            let lambda = self.shape.dispersion(values, row, column);
            let difference = lambda - mean[index];
            mean[index] += share * difference;
            squares[index] += (1.0 - share) * share * difference * difference - share * squares[index];
            log_mean[index] += share * (lambda.max(f64::MIN_POSITIVE).ln() - log_mean[index]);
        });
        self.check(total)?;
        Ok(Dispersions { mean, sd: squares.into_iter().map(f64::sqrt).collect(), log_mean })
    }

    /// Returns the posterior mean of the share of some components in the dispersion of each entry, in row-major order.
    ///
    /// The share times x is the conditional expectation of the sum of these components given x, W and H: the Wiener
    /// filter of α-stable sources. It is meaningful if the components have a meaning, as when W is known.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no draws, or no such components.
    pub fn share(&self, components: Range<usize>) -> Result<Vec<f64>> {
        let rank = self.shape.rank;
        settings::within("the end of the components", components.end, 1..=rank, "it must be at most the rank")?;
        settings::within("the first component", components.start, 0..components.end, "the range must not be empty")?;
        let mut shares = vec![0.0; self.shape.rows * self.shape.columns];
        let total = self.average(|values, share, index, row, column| {
            let [w, h] = self.shape.split(values);
            let (w, h) = (&w[row * rank..][..rank], &h[column * rank..][..rank]);
            let part: f64 = w[components.clone()].iter().zip(&h[components.clone()]).map(|(w, h)| w * h).sum();
            let whole = self.shape.dispersion(values, row, column).max(f64::MIN_POSITIVE);
            shares[index] += share * (part / whole - shares[index]);
        });
        self.check(total)?;
        Ok(shares)
    }

    /// Calls `each` with the values of every draw, its share in the weights so far, and every entry. Returns the sum of
    /// the weights.
    fn average(&self, mut each: impl FnMut(&[f64], f64, usize, usize, usize)) -> f64 {
        let mut total = 0.0;
        for chain in self.draws.chains() {
            for (values, weight) in chain.rows().zip(chain.weights()) {
                total += weight;
                for row in 0..self.shape.rows {
                    for column in 0..self.shape.columns {
                        each(values, weight / total, row * self.shape.columns + column, row, column);
                    }
                }
            }
        }
        total
    }

    /// Checks that there are draws.
    fn check(&self, total: f64) -> Result<()> {
        if total > 0.0 { Ok(()) } else { Err(Error::Draws { reason: "there are none".into() }) }
    }
}

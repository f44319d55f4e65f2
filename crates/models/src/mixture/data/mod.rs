//! Observations of mixtures.

mod counts;
mod levels;
mod points;

pub use counts::Counts;
pub use levels::Levels;
pub use points::Points;

use sgmcmc_gradient::fingerprint::Fingerprinter;

/// Observations that can be counted and identified.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::mixture::{Observations, Points};
///
/// let points = Points::new(vec![0.0, 0.0, 1.0, 1.0], 2)?;
/// assert_eq!(points.observations(), 2);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Observations: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Returns the number of observations.
    fn observations(&self) -> usize;

    /// Adds the observations to a fingerprint, which tells data sets apart when a run is resumed.
    fn fingerprint(&self, hasher: &mut Fingerprinter);
}

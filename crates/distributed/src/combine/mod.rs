//! Combination of the draws of subposteriors into draws of the posterior.
//!
//! | method | rule | exact for | draws |
//! |---|---|---|---|
//! | [`Consensus`] | weighted averages of draws | normal subposteriors | one per draw of a shard, with its autocorrelation |
//! | [`GaussianProduct`] | product of normal approximations | normal subposteriors | independent |
//! | [`Swiss`] | affine map of the draws of each shard | normal subposteriors | all draws of all shards |
//! | [`Kdemc`] | product of kernel density estimates | bandwidth → 0 | new, by Metropolis within Gibbs |
//! | [`SemiparametricKdemc`] | the same, times normal approximations | bandwidth → 0, and nearly for normal ones | new, by Metropolis within Gibbs |
//! | [`Weierstrass`] | averages of pairs of draws that are close to each other | acceptance → 0, and normal ones | new, by rejection |
//! | [`GeometricMedian`] | geometric median of the distributions | – (robust to bad shards) | resampled from the shards |
//!
//! All but [`GeometricMedian`] combine the subposteriors p(θ)^{1/S} Π p(xᵢ|θ), whose product is the posterior.
//! [`GeometricMedian`] combines the inflated ones, p(θ) Π p(xᵢ|θ)^S, and [`Swiss`] both, see [`Tempering`].
//!
//! A [`Combination`] takes [`Draws`], plain tables of coordinates, from any source. [`combine_fits`] takes fits,
//! checks that they are those of one set of shards, and converts constrained parameters. The combination of one shard
//! is the shard.
//!
//! To add a method, add a file with a type that implements [`Combination`], and an entry to [`METHODS`].

mod components;
mod consensus;
mod draws;
mod error;
mod fits;
mod gaussian_product;
mod geometric_median;
mod kdemc;
mod normal;
mod semiparametric;
mod swiss;
#[cfg(test)]
mod tests;
mod weierstrass;

use std::fmt::Debug;

use rand::SeedableRng;
use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;

pub use components::{Bandwidth, ComponentSampling};
pub use consensus::{Consensus, Weights};
pub use draws::Draws;
pub use error::{Error, Result};
pub use fits::{CombineOptions, combine_fits};
pub use gaussian_product::GaussianProduct;
pub use geometric_median::GeometricMedian;
pub use kdemc::Kdemc;
pub use semiparametric::SemiparametricKdemc;
pub use swiss::Swiss;
pub use weierstrass::Weierstrass;

/// The relation of combined draws to the draws of the shards.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Consensus, DrawOrder};
///
/// assert_eq!(Consensus::default().order(), DrawOrder::Paired);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawOrder {
    /// Combined draw i is made of draw i of every shard.
    Paired,
    /// The combined draws are those of the first shard, then those of the second one, and so on.
    ByShard,
    /// The combined draws are new.
    New,
}

/// A method that combines the draws of subposteriors.
///
/// # Examples
///
/// A method that keeps the draws of the shard with the smallest index:
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, DrawOrder, Draws, Result};
/// use sgmcmc::fit::Tempering;
/// use sgmcmc::rng::StreamRng;
///
/// #[derive(Debug)]
/// struct First;
///
/// impl Combination for First {
///     fn name(&self) -> &'static str { "first" }
///     fn order(&self) -> DrawOrder { DrawOrder::Paired }
///     fn apply(&self, shards: &[Draws], _tempering: Tempering, _rng: &mut StreamRng) -> Result<Draws> {
///         Ok(shards[0].clone())
///     }
/// }
///
/// let shard = Draws::new(vec![1.0, 2.0], 1)?;
/// assert_eq!(First.combine(&[shard.clone(), shard.clone()], 0)?, shard);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Combination: Debug + Send + Sync {
    /// Returns the name of the method, as in the program `sgmcmc`.
    fn name(&self) -> &'static str;

    /// Returns the relation of the combined draws to those of the shards.
    fn order(&self) -> DrawOrder;

    /// Returns the powers of prior and likelihood of the subposteriors that the method can combine. The first is that
    /// of [`combine`](Self::combine).
    fn temperings(&self) -> &'static [Tempering] {
        &[Tempering::FractionalPrior]
    }

    /// Combines the draws of at least two shards, which have the same number of coordinates and at least one draw each.
    ///
    /// This is the rule of the method. Call [`combine`](Self::combine), which checks its arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, if a shard has too few draws, or if a covariance is singular.
    fn apply(&self, shards: &[Draws], tempering: Tempering, rng: &mut StreamRng) -> Result<Draws>;

    /// Combines the draws of subposteriors. The result is a function of the draws and of `seed`. The combination of one
    /// shard is its draws.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`apply`](Self::apply), and an error if there is no shard, a shard has no draws, or two
    /// shards differ in the number of coordinates.
    fn combine(&self, shards: &[Draws], seed: u64) -> Result<Draws> {
        let tempering = self.temperings().first().copied().unwrap_or_default();
        self.combine_tempered(shards, tempering, seed)
    }

    /// Combines the draws of subposteriors with the given powers of prior and likelihood.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`combine`](Self::combine), and an error if the method cannot combine such subposteriors.
    fn combine_tempered(&self, shards: &[Draws], tempering: Tempering, seed: u64) -> Result<Draws> {
        let Some(first) = shards.first() else { return Err(Error::NoShards) };
        for (shard, draws) in shards.iter().enumerate() {
            let (found, expected) = (draws.dim(), first.dim());
            if found != expected {
                return Err(Error::Dimension { shard, found, expected });
            }
            if draws.is_empty() {
                return Err(Error::TooFewDraws { shard, found: 0, least: 1, method: self.name(), remedy: "" });
            }
        }
        if shards.len() == 1 {
            return Ok(first.clone());
        }
        check_tempering(self.name(), self.temperings(), tempering)?;
        self.apply(shards, tempering, &mut stream(seed))
    }
}

/// Returns an error if the method cannot combine subposteriors with these powers.
fn check_tempering(method: &'static str, accepted: &[Tempering], found: Tempering) -> Result<()> {
    let expected = accepted.first().copied().unwrap_or_default();
    let expected_name = match expected {
        Tempering::FractionalPrior => "Tempering::FractionalPrior",
        Tempering::Inflated => "Tempering::Inflated",
    };
    if accepted.contains(&found) { Ok(()) } else { Err(Error::Tempering { method, expected, expected_name, found }) }
}

/// A named method with default settings.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::METHODS;
///
/// assert!(METHODS.iter().any(|method| method.name == "consensus"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The name.
    pub name: &'static str,
    /// A short description for help texts.
    pub description: &'static str,
    /// Creates the method.
    pub create: fn() -> Box<dyn Combination>,
}

/// All methods, in the order of help texts.
pub const METHODS: &[Method] = &[
    Method {
        name: "consensus",
        description: "weighted averages of draws; exact for normal subposteriors",
        create: || Box::new(Consensus::default()),
    },
    Method {
        name: "gaussian-product",
        description: "product of normal approximations; exact for normal subposteriors",
        create: || Box::new(GaussianProduct::default()),
    },
    Method {
        name: "swiss",
        description: "affine maps of the draws of all shards; exact for normal subposteriors",
        create: || Box::new(Swiss),
    },
    Method {
        name: "kdemc",
        description: "product of kernel density estimates; a few dimensions, any shape",
        create: || Box::new(Kdemc::default()),
    },
    Method {
        name: "semiparametric-kdemc",
        description: "kernel density estimates around normal approximations",
        create: || Box::new(SemiparametricKdemc::default()),
    },
    Method {
        name: "weierstrass",
        description: "rejection of pairs of draws that are far apart; any shape",
        create: || Box::new(Weierstrass::default()),
    },
    Method {
        name: "geometric-median",
        description: "robust to bad shards; needs subposteriors with likelihood^S",
        create: || Box::new(GeometricMedian::default()),
    },
];

/// Returns the method called `name` with default settings.
///
/// # Errors
///
/// Returns an error with the names of all methods if the name is unknown.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine;
///
/// assert_eq!(combine::method("swiss")?.name(), "swiss");
/// assert!(combine::method("average").unwrap_err().to_string().contains("consensus"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn method(name: &str) -> Result<Box<dyn Combination>> {
    METHODS.iter().find(|method| method.name == name).map(|method| (method.create)()).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
        Error::UnknownMethod { name: name.into(), known: known.join(", ") }
    })
}

/// Returns the random number generator of a combination.
fn stream(seed: u64) -> StreamRng {
    StreamRng::seed_from_u64(seed)
}

/// Returns the number of draws of the shortest shard.
fn shortest(shards: &[Draws]) -> usize {
    shards.iter().map(Draws::len).min().unwrap_or(0)
}

/// Returns the number of draws to make: `requested`, or that of the shortest shard.
fn draw_count(requested: Option<usize>, shards: &[Draws]) -> Result<usize> {
    match requested {
        Some(0) => Err(Error::Setting { name: "the number of draws", value: 0.0, expected: "at least 1 is needed" }),
        Some(count) => Ok(count),
        None => Ok(shortest(shards)),
    }
}

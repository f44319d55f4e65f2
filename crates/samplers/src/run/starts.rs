//! Start positions of chains.

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{ChainRng, Error, Evaluator, Result, Target};

/// The start positions of chains: one for all, one per chain, or drawn at random.
///
/// [`Builder::sample`](crate::Builder::sample) takes every type that converts into this one: `&params`, `&[params]`,
/// [`Starts::drawn`], or [`Starts::from_prior`].
///
/// # Examples
///
/// ```
/// use rand::RngExt;
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|x: Tensor<1>| x.square() * -0.5);
/// let run = ula(&model, &Dataset::none(), 0.1).chains(2);
/// let same = run.sample(&zeros([1]), 100)?;
/// let each = run.sample(&[zeros([1]), ones([1])][..], 100)?;
/// let drawn = run.sample(Starts::drawn(|rng| full([1], rng.random::<f64>())), 100)?;
/// assert_eq!([same, each, drawn].map(|fit| fit.chains().len()), [2, 2, 2]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub enum Starts<'a, P> {
    /// One position for all chains. With several chains, each starts at a random distance from it, see
    /// [`Builder::jitter`](crate::Builder::jitter).
    Same(&'a P),
    /// One position per chain.
    Each(&'a [P]),
    /// A random position for each chain.
    Drawn(Draw<'a, P>),
    /// A draw from the prior of the model for each chain, with the structure of these parameters.
    Prior(&'a P),
}

/// A function that draws the start of one chain.
pub type Draw<'a, P> = Box<dyn Fn(&mut StreamRng) -> P + 'a>;

impl<P> std::fmt::Debug for Starts<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Same(_) => f.write_str("Same"),
            Self::Each(starts) => write!(f, "Each({})", starts.len()),
            Self::Drawn(_) => f.write_str("Drawn"),
            Self::Prior(_) => f.write_str("Prior"),
        }
    }
}

impl<'a, P> Starts<'a, P> {
    /// Creates random starts. `draw` is called with a separate RNG stream for each chain.
    pub fn drawn(draw: impl Fn(&mut StreamRng) -> P + 'a) -> Self {
        Self::Drawn(Box::new(draw))
    }

    /// Creates starts that are draws from the prior of the model, one for each chain. They have the shapes of `like`, whose
    /// values are not used. A model draws from its prior if the fields of its parameters have priors.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// #[derive(TensorTree)]
    /// struct Mean {
    ///     #[tree(prior = Normal::new(0.0, 3.0))]
    ///     mean: Tensor<1>,
    /// }
    ///
    /// let model = Model::observe(|p: Mean, _: Tensor<1>| Normal::new(p.mean, 1.0), |y: Tensor<1>| y);
    /// let data = Dataset::new(array(vec![0.5, 1.5, 1.0], [3])?)?;
    /// let like = Mean { mean: zeros([1]) };
    /// let fit = hmc(&model, &data, 0.3).chains(4).burn_in(100).sample(Starts::from_prior(&like), 100)?;
    /// assert_eq!(fit.chains().len(), 4);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn from_prior(like: &'a P) -> Self {
        Self::Prior(like)
    }
}

/// The start of one chain.
pub(crate) struct ChainStart {
    /// The evaluator of the model.
    pub(crate) evaluator: Box<dyn Evaluator>,
    /// The coordinates.
    pub(crate) theta: Vec<f64>,
}

impl<P: Send + Sync + 'static> Starts<'_, P> {
    /// Returns the start of chain number `chain` of `chains`.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of starts is wrong, a start is not in the support, or the model fails.
    pub(crate) fn resolve<T: Target<Params = P>>(
        &self,
        target: &T,
        chains: usize,
        seed: u64,
        chain: usize,
    ) -> Result<ChainStart> {
        let start_from = |params: &P| {
            let evaluator = target.evaluator(params)?;
            let theta = target.flatten(evaluator.layout(), params)?;
            Ok(ChainStart { evaluator, theta })
        };
        match self {
            Self::Same(params) => start_from(params),
            Self::Each(params) if params.len() == chains => start_from(&params[chain]),
            Self::Each(params) => {
                let (expected, found) = (chains, params.len());
                Err(Error::Length { what: "the list of starts (one per chain)", expected, found })
            }
            Self::Drawn(draw) => start_from(&draw(&mut ChainRng::before_start(seed, chain as u64))),
            Self::Prior(like) => start_from(&target.draw_prior(like, &mut ChainRng::before_start(seed, chain as u64))?),
        }
    }
}

impl<'a, P> From<&'a P> for Starts<'a, P> {
    fn from(start: &'a P) -> Self {
        Self::Same(start)
    }
}

impl<'a, P> From<&'a [P]> for Starts<'a, P> {
    fn from(starts: &'a [P]) -> Self {
        Self::Each(starts)
    }
}

//! Where chains start.

use sgmcmc_core::rng::StreamRng;
use sgmcmc_core::{ChainRng, Error, Evaluator, Result, Target, TensorTree};

/// Where chains start: one place for all, one each, or drawn.
///
/// `sample` takes anything that becomes one: `&params`, `&[params]`, or [`Starts::drawn`].
pub enum Starts<'a, P> {
    /// One place; with several chains each starts a little off it.
    Same(&'a P),
    /// One place per chain.
    Each(&'a [P]),
    /// Drawn for each chain.
    Drawn(Draw<'a, P>),
}

/// Draws the start of one chain.
pub type Draw<'a, P> = Box<dyn Fn(&mut StreamRng) -> P + 'a>;

impl<P> std::fmt::Debug for Starts<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Same(_) => f.write_str("Same"),
            Self::Each(starts) => write!(f, "Each({})", starts.len()),
            Self::Drawn(_) => f.write_str("Drawn"),
        }
    }
}

impl<'a, P> Starts<'a, P> {
    /// Starts drawn by `draw`, from a stream of each chain's own.
    pub fn drawn(draw: impl Fn(&mut StreamRng) -> P + 'a) -> Self {
        Self::Drawn(Box::new(draw))
    }
}

impl<P: TensorTree> Starts<'_, P> {
    /// What evaluates the model for chain number `chain` of `chains`, and its coordinates.
    pub(crate) fn place<T: Target<Params = P>>(
        &self,
        target: &T,
        chains: usize,
        seed: u64,
        chain: usize,
    ) -> Result<(Box<dyn Evaluator>, Vec<f64>)> {
        let at = |params: &P| {
            let evaluator = target.evaluator(params)?;
            let theta = evaluator.layout().flatten(params)?;
            Ok((evaluator, theta))
        };
        match self {
            Self::Same(params) => at(params),
            Self::Each(params) if params.len() == chains => at(&params[chain]),
            Self::Each(params) => {
                let (expected, found) = (chains, params.len());
                Err(Error::Length { what: "the list of starts (one per chain)", expected, found })
            }
            Self::Drawn(draw) => at(&draw(&mut ChainRng::before_start(seed, chain as u64))),
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

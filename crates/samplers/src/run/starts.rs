//! Where chains start.

use sgmcmc_core::rng::StreamRng;

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

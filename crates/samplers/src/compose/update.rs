//! Updates: see [`Update`].

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::Result;

use super::UpdateContext;

/// An update of some parameters or latent variables that follows every step of the dynamics.
///
/// [`Builder::update`](crate::Builder::update) adds one to a run. Closures
/// `FnMut(&mut UpdateContext) -> Result<()>` implement this trait. Everything that an update keeps between calls must be
/// in [`save`](Self::save), so that resumed runs continue bit for bit.
///
/// # Examples
///
/// The precision of normal observations is drawn from its conditional distribution, a gamma distribution, and the mean
/// moves by Langevin steps:
///
/// ```
/// use rand_distr::{Distribution, Gamma};
/// use sgmcmc::algorithms::UpdateContext;
/// use sgmcmc::distributions::Normal;
/// use sgmcmc::prelude::*;
///
/// #[derive(TensorTree)]
/// struct Params {
///     mean: Tensor<1>,
///     #[tree(positive)]
///     tau: Tensor<1>,
/// }
///
/// let x = vec![0.4, 1.5, 1.1, 2.0];
/// let data = Dataset::new(array(x.clone(), [4])?)?;
/// let model = Model::new(|p: Params, x: Tensor<1>| Normal::new(p.mean, p.tau.sqrt().recip()).log_prob(x))
///     .prior(|p: Params| p.tau.neg() - p.mean.square() * 0.01);
/// let draw_tau = move |context: &mut UpdateContext<'_>| {
///     let mean = context.get("mean")?[0];
///     let rate = 1.0 + 0.5 * x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
///     let tau = Gamma::new(1.0 + 0.5 * x.len() as f64, 1.0 / rate).map_or(1.0, |gamma| gamma.sample(context.rng()));
///     context.set("tau", &[tau])
/// };
/// let start = Params { mean: zeros([1]), tau: ones([1]) };
/// let fit = ula(&model, &data, 0.05).hold("tau").update(move |_chain| draw_tau.clone()).sample(&start, 500)?;
/// assert!(fit.summary().row("tau").is_some());
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Update: Send {
    /// Updates parameters or latent variables.
    ///
    /// # Errors
    ///
    /// Returns an error if the update fails. The chain then ends, and its draws are kept.
    fn update(&mut self, context: &mut UpdateContext<'_>) -> Result<()>;

    /// Returns the names of the statistics that are recorded with every draw. The default is none.
    fn stat_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Writes the statistics into `out`, one per name.
    fn stats(&self, out: &mut [f64]) {
        let _ = out;
    }

    /// Returns whether the update leaves the posterior invariant exactly. The default is `true`. Updates that use a
    /// minibatch in place of all observations return `false`.
    fn is_exact(&self) -> bool {
        true
    }

    /// Returns a description of the settings of the update. A run resumes from a checkpoint only if they are the same.
    /// The default is empty; the settings of closures are not compared.
    fn settings(&self) -> String {
        String::new()
    }

    /// Serializes the state of the update. The default is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the state cannot be encoded.
    fn save(&self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    /// Restores the state that [`save`](Self::save) returned.
    ///
    /// # Errors
    ///
    /// Returns an error if `saved` is not a state of this update.
    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let _ = saved;
        Ok(())
    }
}

impl<F: FnMut(&mut UpdateContext<'_>) -> Result<()> + Send> Update for F {
    fn update(&mut self, context: &mut UpdateContext<'_>) -> Result<()> {
        self(context)
    }
}

/// Creates the update of each chain from the index of the chain.
#[derive(Clone)]
pub(crate) struct UpdateFactory(Arc<dyn Fn(usize) -> Box<dyn Update> + Send + Sync>);

impl UpdateFactory {
    pub(crate) fn new<U: Update + 'static>(make: impl Fn(usize) -> U + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |chain| Box::new(make(chain))))
    }

    /// Creates the update of chain number `chain`.
    pub(crate) fn make(&self, chain: usize) -> Box<dyn Update> {
        (self.0)(chain)
    }
}

impl fmt::Debug for UpdateFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UpdateFactory")
    }
}

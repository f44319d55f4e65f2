//! Gibbs updates: see [`GibbsUpdate`].

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Block, Error, Layout, Result};

use super::{Update, UpdateContext};

/// The values of all parameters, accessible by name, for a [`GibbsUpdate`].
#[derive(Debug)]
pub struct Values<'a> {
    layout: &'a Layout,
    values: &'a mut [f64],
}

impl Values<'_> {
    /// Returns the values of the parameter `name`, in row-major order.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter of this name.
    pub fn get(&self, name: &str) -> Result<&[f64]> {
        Ok(&self.values[self.layout.block(name)?.values.clone()])
    }

    /// Sets the values of the parameter `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter of this name or it has another size. Constraints are checked after the
    /// update.
    pub fn set(&mut self, name: &str, values: &[f64]) -> Result<()> {
        let range = self.layout.block(name)?.values.clone();
        if range.len() != values.len() {
            let (expected, found) = (range.len(), values.len());
            return Err(Error::Length { what: "the values of a Gibbs step", expected, found });
        }
        self.values[range].copy_from_slice(values);
        Ok(())
    }
}

/// An update that draws some parameters from their conditional distribution given all others, after every step of the
/// dynamics.
///
/// It has access to the values of the parameters and the generator only; an [`Update`] also has access to the minibatch and the densities
/// of the model. State between calls, such as latent variables, can be part of checkpoints. Closures
/// `FnMut(&mut Values, &mut StreamRng) -> Result<()>` implement this trait.
///
/// # Examples
///
/// The second parameter is drawn from its conditional distribution, a standard normal:
///
/// ```
/// use rand::RngExt;
/// use rand_distr::StandardNormal;
/// use sgmcmc::algorithms::Values;
/// use sgmcmc::prelude::*;
/// use sgmcmc::rng::StreamRng;
///
/// let model = Model::density(|(a, b): (Tensor<1>, Tensor<1>)| (a.square() + b.square()) * -0.5);
/// let fit = ula(&model, &Dataset::none(), 0.1)
///     .gibbs(|_chain| |values: &mut Values<'_>, rng: &mut StreamRng| values.set("1", &[rng.sample(StandardNormal)]))
///     .sample(&(zeros([1]), zeros([1])), 100)?;
/// assert_eq!(fit.chains()[0].len(), 100);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait GibbsUpdate: Send {
    /// Draws some parameters from their conditional distribution given the others.
    ///
    /// # Errors
    ///
    /// Returns an error if the update fails. The chain then ends.
    fn update(&mut self, values: &mut Values<'_>, rng: &mut StreamRng) -> Result<()>;

    /// Returns a description of the settings: see [`Update::settings`]. The default is empty.
    fn settings(&self) -> String {
        String::new()
    }

    /// Serializes the state of the update.
    fn save(&self) -> Vec<u8> {
        Vec::new()
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

impl<F: FnMut(&mut Values<'_>, &mut StreamRng) -> Result<()> + Send> GibbsUpdate for F {
    fn update(&mut self, values: &mut Values<'_>, rng: &mut StreamRng) -> Result<()> {
        self(values, rng)
    }
}

/// A [`GibbsUpdate`] as an [`Update`].
pub(crate) struct GibbsStep<U> {
    update: U,
    /// The values that the update changes.
    values: Vec<f64>,
}

impl<U> GibbsStep<U> {
    pub(crate) fn new(update: U) -> Self {
        Self { update, values: Vec::new() }
    }
}

impl<U: GibbsUpdate> Update for GibbsStep<U> {
    fn update(&mut self, context: &mut UpdateContext<'_>) -> Result<()> {
        let Self { update, values } = self;
        let layout = context.layout();
        values.clear();
        values.extend_from_slice(context.values());
        update.update(&mut Values { layout, values }, context.rng())?;
        layout
            .blocks()
            .iter()
            .try_for_each(|Block { name, values: range, .. }| context.set(name, &values[range.clone()]))
    }

    fn settings(&self) -> String {
        self.update.settings()
    }

    fn save(&self) -> Result<Vec<u8>> {
        Ok(self.update.save())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        self.update.restore(saved)
    }
}

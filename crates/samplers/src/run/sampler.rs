//! A chain with typed parameters, to be stepped by hand.

use sgmcmc_core::{Layout, Mode, Result, TensorTree, default_device};

use crate::kernel::{Kernel, StepInfo};

/// One chain, moved by [`step`](Self::step); nothing is stored but where it is.
#[derive(Debug)]
pub struct Sampler<P> {
    kernel: Box<dyn Kernel>,
    template: P,
    values: Vec<f64>,
    mode: Option<Mode>,
}

impl<P: TensorTree> Sampler<P> {
    pub(super) fn new(kernel: Box<dyn Kernel>, template: P, mode: Option<Mode>) -> Result<Self> {
        let values = kernel.layout().values(kernel.position())?;
        Ok(Self { kernel, template, values, mode })
    }

    /// Moves the chain by one iteration.
    ///
    /// # Errors
    ///
    /// If the model fails or the chain diverges; it then stands where it stood before.
    pub fn step(&mut self) -> Result<()> {
        self.kernel.step()?;
        self.kernel.layout().values_into(self.kernel.position(), &mut self.values)
    }

    /// The values of the parameters, flat, in the order of [`layout`](Self::layout).
    pub fn position(&self) -> &[f64] {
        &self.values
    }

    /// The coordinates the chain moves: the values, freed of their constraints.
    pub fn coordinates(&self) -> &[f64] {
        self.kernel.position()
    }

    /// The parameters, as the model's closures see them.
    pub fn params(&self) -> Result<P> {
        self.kernel.layout().unflatten(&self.template, self.kernel.position(), &default_device())
    }

    /// What is known of the last step.
    pub fn info(&self) -> StepInfo {
        self.kernel.info()
    }

    /// The number M of Markov chains that take turns: 1 for most algorithms, more for
    /// [`Hamcmc`](crate::Hamcmc) and [`HmcBfgs`](crate::HmcBfgs).
    ///
    /// The position after iteration t belongs to chain (t − 1) mod M, with t = [`info().iterations`](StepInfo::iterations).
    /// Separate the draws by this number before you compute autocorrelations or effective sample sizes: the interleaved draws
    /// look nearly independent whatever the correlation within each chain.
    pub fn interleaved_chains(&self) -> usize {
        self.kernel.interleaved_chains()
    }

    /// Names, shapes and places of the parameters.
    pub fn layout(&self) -> &Layout {
        self.kernel.layout()
    }

    /// The posterior mode the chain started at, if one was looked for.
    pub fn mode(&self) -> Option<&Mode> {
        self.mode.as_ref()
    }

    /// The chain itself.
    pub fn kernel(&mut self) -> &mut dyn Kernel {
        self.kernel.as_mut()
    }
}

//! The view of a chain that updates have: see [`UpdateContext`].

use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Block, Error, Layout, Minibatch, Result, Rows};

use crate::chain::GradientChain;

/// The chain during an [`Update`](super::Update): its parameters, generator and minibatch, and the log densities of the
/// model.
///
/// Densities are those of the *values* of the parameters, without the Jacobians of constraints, at the current values:
/// those that this and earlier updates of the iteration have set.
///
/// # Examples
///
/// See [`Update`](super::Update).
#[derive(Debug)]
pub struct UpdateContext<'a> {
    pub(super) chain: &'a mut dyn GradientChain,
    pub(super) layout: &'a Layout,
    pub(super) theta: &'a mut [f64],
    pub(super) values: &'a mut [f64],
    pub(super) batch: &'a Minibatch,
    /// A buffer of gradients that are not needed.
    pub(super) scratch: &'a mut [f64],
}

impl<'a> UpdateContext<'a> {
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
    /// Returns an error if there is no parameter of this name, if it has another size, or if a value is not finite or
    /// violates the constraint. The parameter then keeps its values.
    pub fn set(&mut self, name: &str, values: &[f64]) -> Result<()> {
        let block = self.layout.block(name)?;
        check_length(block.values.len(), values.len())?;
        let current = &mut self.values[block.values.clone()];
        // The conversion between values and coordinates rounds. Unchanged parameters keep their coordinates.
        if current.iter().zip(values).all(|(old, new)| old.to_bits() == new.to_bits()) {
            return Ok(());
        }
        let mut theta = vec![0.0; block.range.len()];
        block.coordinates(values, &mut theta)?;
        self.theta[block.range.clone()].copy_from_slice(&theta);
        current.copy_from_slice(values);
        Ok(())
    }

    /// Returns the unconstrained coordinates of the parameter `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter of this name.
    pub fn coordinates(&self, name: &str) -> Result<&[f64]> {
        Ok(&self.theta[self.layout.block(name)?.range.clone()])
    }

    /// Sets the unconstrained coordinates of the parameter `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no parameter of this name, if it has another number of coordinates, or if one is
    /// not finite. The parameter then keeps its coordinates.
    pub fn set_coordinates(&mut self, name: &str, theta: &[f64]) -> Result<()> {
        let block = self.layout.block(name)?;
        check_length(block.range.len(), theta.len())?;
        if let Some(index) = theta.iter().position(|y| !y.is_finite()) {
            let element = self.layout.coordinate_name(block.range.start + index);
            return Err(Error::StartNotFinite { element, value: theta[index] });
        }
        self.theta[block.range.clone()].copy_from_slice(theta);
        block.values_into(theta, &mut self.values[block.values.clone()])
    }

    /// Returns the values of all parameters, in the order of the [layout](Self::layout).
    pub fn values(&self) -> &[f64] {
        self.values
    }

    /// Returns the names, shapes and constraints of the parameters.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Returns the random number generator of the chain, the only source of randomness that updates may use.
    pub fn rng(&mut self) -> &mut StreamRng {
        self.chain.noise()
    }

    /// Returns the number of the iteration, counted from 1.
    pub fn iteration(&self) -> u64 {
        self.chain.info().iterations
    }

    /// Returns the temperature T. The target of the chain is p(θ|x)^{1/T}; updates must leave it invariant.
    pub fn temperature(&self) -> f64 {
        self.chain.info().temperature
    }

    /// Returns the number N of observations.
    pub fn observations(&self) -> usize {
        self.chain.observations()
    }

    /// Returns the observations of the current minibatch with their weights wᵢ: Σ wᵢ aᵢ over them is an unbiased
    /// estimate of Σ aᵢ over all observations. If the gradient estimator has no minibatches, these are all observations,
    /// with weight one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one weight per observation.
    pub fn minibatch(&self) -> Result<Rows<'a>> {
        if self.batch.rows.is_empty() {
            return Ok(Rows::range(0..self.observations()));
        }
        self.batch.as_rows()
    }

    /// Returns log p(θ) + Σ log p(xᵢ|θ) over all observations.
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn log_density(&mut self) -> Result<f64> {
        let rows = Rows::range(0..self.observations());
        let value = self.chain.evaluator().log_density(self.theta, rows)?;
        Ok(value - self.log_jacobian()?)
    }

    /// Returns log p(θ).
    ///
    /// # Errors
    ///
    /// Returns the error of the model.
    pub fn log_prior(&mut self) -> Result<f64> {
        self.scratch.fill(0.0);
        let value = self.chain.evaluator().prior(self.theta, self.scratch)?;
        Ok(value - self.log_jacobian()?)
    }

    /// Returns Σ wᵢ log p(xᵢ|θ) over `rows`, for instance over the [minibatch](Self::minibatch).
    ///
    /// # Errors
    ///
    /// Returns an error if an observation does not exist, or the error of the model.
    pub fn log_likelihood(&mut self, rows: Rows<'_>) -> Result<f64> {
        self.scratch.fill(0.0);
        self.chain.evaluator().likelihood(self.theta, rows, self.scratch)
    }

    /// Writes log p(xᵢ|θ) of each observation of `rows` into `out`, without weights.
    ///
    /// # Errors
    ///
    /// Returns an error if an observation does not exist, if `out` has another length, or if the likelihood returns only
    /// the sum over observations.
    pub fn log_likelihood_per_observation(&mut self, rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.chain.evaluator().log_likelihood_per_observation(self.theta, rows, out)
    }

    /// Returns the log-Jacobian of the constraints, log |∂x/∂y| with the values x and the coordinates y. The log density
    /// of the coordinates is that of the values plus this term.
    ///
    /// # Errors
    ///
    /// Returns an error if the coordinates have the wrong length.
    pub fn log_jacobian(&mut self) -> Result<f64> {
        self.layout.log_jacobian(self.theta, 1.0, self.scratch)
    }

    /// Returns the coordinates and values of `block`.
    pub(super) fn read(&self, block: &Block) -> BlockState {
        BlockState {
            theta: self.theta[block.range.clone()].to_vec(),
            values: self.values[block.values.clone()].to_vec(),
        }
    }

    /// Restores what [`read`](Self::read) returned, without rounding.
    pub(super) fn write(&mut self, block: &Block, state: &BlockState) {
        self.theta[block.range.clone()].copy_from_slice(&state.theta);
        self.values[block.values.clone()].copy_from_slice(&state.values);
    }
}

/// The coordinates and the values of a parameter.
#[derive(Clone, Debug)]
pub(super) struct BlockState {
    pub(super) theta: Vec<f64>,
    pub(super) values: Vec<f64>,
}

/// Checks the length of the values of an update.
fn check_length(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Length { what: "the values of an update", expected, found }) }
}

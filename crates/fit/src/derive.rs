//! Draws of functions of the parameters.

use sgmcmc_gradient::{Error, Layout, Mode, Result};

use super::Fit;

impl Fit {
    /// Returns this fit with an additional parameter `name` of shape `shape`. `quantity` takes the values of a draw and
    /// writes the values of the new parameter to its second argument. The [mode](Self::mode) is extended in the same
    /// way.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter with this name exists.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    /// # use sgmcmc::{Layout, fit::ChainDraws, sink::Draw};
    ///
    /// # let mut chain = ChainDraws::new(2, vec![]);
    /// # chain.push(&Draw { iteration: 1, values: &[6.0, 2.0], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # let fit = Fit::new(Layout::vector("theta", 2), vec![chain])?;
    /// let fit = fit.derive_flat("ratio", &[1], |theta, ratio| ratio[0] = theta[0] / theta[1])?;
    /// assert_eq!(fit.element("ratio")?, [[3.0]]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn derive_flat(&self, name: &str, shape: &[usize], quantity: impl Fn(&[f64], &mut [f64])) -> Result<Self> {
        let count = shape.iter().product();
        self.try_derive_flat(name, shape, |row| {
            let mut values = vec![0.0; count];
            quantity(row, &mut values);
            Ok(values)
        })
    }

    /// Returns this fit with an additional parameter, like [`derive_flat`](Self::derive_flat), computed by a fallible
    /// function. `quantity` takes the values of a draw, or of the mode, and returns the values of the new parameter. If
    /// it fails at the mode, the new fit has no mode.
    ///
    /// # Errors
    ///
    /// Returns the error of `quantity`, or an error if a parameter with this name exists.
    pub fn try_derive_flat(
        &self,
        name: &str,
        shape: &[usize],
        mut quantity: impl FnMut(&[f64]) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        let layout = self.extended(name, shape)?;
        let fit = self.with_values(layout, |row| Ok(row.iter().copied().chain(quantity(row)?).collect()))?;
        let extended = |mode: &Mode| {
            let derived = self.layout.values(&mode.theta).and_then(|values| quantity(&values)).ok()?;
            // The new parameter has no constraint, so that its values are coordinates.
            let theta: Vec<f64> = mode.theta.iter().copied().chain(derived).collect();
            (theta.len() == fit.layout.dim()).then(|| Mode { theta, ..mode.clone() })
        };
        let mode = self.mode.as_ref().and_then(extended);
        Ok(fit.with_mode(mode))
    }

    /// Returns the layout with an additional parameter.
    fn extended(&self, name: &str, shape: &[usize]) -> Result<Layout> {
        if self.layout.block(name).is_ok() {
            return Err(Error::RepeatedLeaf { leaf: name.to_owned() });
        }
        let known = self.layout.blocks().iter().map(|b| (b.name.clone(), b.shape.clone(), b.constraint));
        Ok(Layout::new(known.chain([(name.to_owned(), shape.to_vec(), None)]))?.with_axes_of(&self.layout))
    }
}

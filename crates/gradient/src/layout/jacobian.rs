//! The log-Jacobian of the constraints of a layout.

use super::Layout;
use crate::error::Result;

impl Layout {
    /// Returns `factor` · log |∂x/∂y| at the coordinates `theta`, where x are the values and y the coordinates. Adds
    /// `factor` times its gradient to `gradient`.
    ///
    /// The log-Jacobian is summed over all constrained parameters and is zero without them. If a constraint has more
    /// coordinates than its values have dimensions ([`UnitVector`](crate::Constraint::UnitVector), [`Softmax`](crate::Constraint::Softmax)), its term is the one
    /// that it adds to the log density.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Length`](crate::Error::Length) if the length of `theta` or `gradient` is not the number of
    /// coordinates.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::{Constraint, Layout};
    ///
    /// // x = exp(y) has log |dx/dy| = y.
    /// let layout = Layout::vector("theta", 2).constrained("theta", Constraint::Positive)?;
    /// let mut gradient = [10.0, 20.0];
    /// assert_eq!(layout.log_jacobian(&[0.5, -2.0], 3.0, &mut gradient)?, -4.5);
    /// assert_eq!(gradient, [13.0, 23.0]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn log_jacobian(&self, theta: &[f64], factor: f64, gradient: &mut [f64]) -> Result<f64> {
        self.check_length(theta)?;
        self.check_length(gradient)?;
        let mut total = 0.0;
        for block in &self.blocks {
            let Some(constraint) = block.constraint else { continue };
            let free = block.groups.free.max(1);
            let (y, g) = (&theta[block.range.clone()], &mut gradient[block.range.clone()]);
            for (y, g) in y.chunks_exact(free).zip(g.chunks_exact_mut(free)) {
                total += constraint.log_jacobian(y, factor, g);
            }
        }
        Ok(factor * total)
    }
}

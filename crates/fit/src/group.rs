//! Arrays with names, and groups of them.

use serde::{Deserialize, Serialize};

/// An array with named dimensions, such as the pointwise log-likelihood with `[chain, draw, observation]`.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Variable;
///
/// let y = Variable { name: "y".into(), dimensions: vec!["time".into()], shape: vec![2], values: vec![0.5, 1.0] };
/// assert!(!y.has_draws());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// The name of the array.
    pub name: String,
    /// The names of the dimensions. `chain` and `draw` are those of the fit.
    pub dimensions: Vec<String>,
    /// The size along each dimension.
    pub shape: Vec<usize>,
    /// The values in row-major order. A chain that is shorter than the others is padded with NaN.
    pub values: Vec<f64>,
}

impl Variable {
    /// Returns whether the first dimensions are `chain` and `draw`.
    pub fn has_draws(&self) -> bool {
        self.dimensions.len() >= 2 && self.dimensions[0] == "chain" && self.dimensions[1] == "draw"
    }

    /// Returns the number of values of one draw, or of the whole array if it has no draws.
    pub fn width(&self) -> usize {
        let first = if self.has_draws() { 2 } else { 0 };
        self.shape[first.min(self.shape.len())..].iter().product()
    }

    /// Returns the row of a draw. Empty if the array has no such draw.
    pub fn row(&self, chain: usize, draw: usize) -> &[f64] {
        if !self.has_draws() || chain >= self.shape[0] || draw >= self.shape[1] {
            return &[];
        }
        let first = (chain * self.shape[1] + draw) * self.width();
        self.values.get(first..first + self.width()).unwrap_or_default()
    }
}

/// A group of arrays with the name that ArviZ gives it: `log_likelihood`, `observed_data`, `posterior_predictive`, `prior`
/// and so on.
///
/// # Examples
///
/// See [`Fit::with_group`](crate::Fit::with_group).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The name of the group.
    pub name: String,
    /// The arrays.
    pub variables: Vec<Variable>,
}

impl Group {
    /// Returns the array `name`, or `None` if there is no such array.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// Returns whether draws of the group belong to draws of the posterior.
    pub(crate) fn follows_draws(&self) -> bool {
        !self.name.starts_with("prior") && !self.name.contains("data")
    }
}

//! Parameters of Dirichlet priors.

use sgmcmc_gradient::{Error, Result, settings};

/// The parameter of a Dirichlet prior: one number for all components, or one number per component.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::DirichletPrior;
///
/// assert_eq!(DirichletPrior::from(0.1), DirichletPrior::Symmetric(0.1));
/// assert_eq!(DirichletPrior::from(vec![0.1, 0.5]), DirichletPrior::Asymmetric(vec![0.1, 0.5]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum DirichletPrior {
    /// The same parameter for every component.
    Symmetric(f64),
    /// One parameter per component.
    Asymmetric(Vec<f64>),
}

impl From<f64> for DirichletPrior {
    fn from(parameter: f64) -> Self {
        Self::Symmetric(parameter)
    }
}

impl From<Vec<f64>> for DirichletPrior {
    fn from(parameters: Vec<f64>) -> Self {
        Self::Asymmetric(parameters)
    }
}

impl DirichletPrior {
    /// Returns one parameter for each of `length` components.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter is not positive, or if there is another number of them.
    pub(super) fn resolve(&self, name: &'static str, length: usize) -> Result<Vec<f64>> {
        let parameters = match self {
            Self::Symmetric(parameter) => vec![*parameter; length],
            Self::Asymmetric(parameters) if parameters.len() == length => parameters.clone(),
            Self::Asymmetric(parameters) => {
                return Err(Error::Length { what: name, expected: length, found: parameters.len() });
            }
        };
        parameters.iter().try_for_each(|parameter| settings::positive(name, *parameter).map(|_| ()))?;
        Ok(parameters)
    }
}

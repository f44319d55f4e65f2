//! The posterior of simplexes with Dirichlet priors, as a target.

use std::fmt;
use std::sync::Arc;

use sgmcmc_gradient::{Constraint, Error, Evaluator, Fingerprint, Layout, Result, Target, settings};

use super::evaluator::{Output, SimplexEvaluator};
use super::statistics::Statistics;

/// The posterior of simplexes ω with Dirichlet(α) priors, given the counts of observations.
///
/// Algorithms of this module estimate a = α + Σᵢ zᵢ from it with any gradient estimator: in place of the gradient of the
/// prior the target has α, and in place of the gradient of an observation its counts zᵢ. Control variates, SAGA and SVRG
/// apply. If the counts do not depend on ω, control variates have no noise.
///
/// The coordinates are log θ, one per value, and the values are ω = θ/Σθ ([`Constraint::Softmax`]). The recorded log
/// density is Σⱼ (âⱼ − 1) log ωⱼ, without the constant.
///
/// [`density`](Self::density) is the target for the other algorithms of the library, with gradients.
///
/// # Examples
///
/// ```
/// use sgmcmc::gradient::ControlVariate;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Counts, Scir, SimplexTarget};
/// use sgmcmc::Builder;
///
/// let labels: Vec<usize> = (0..100).map(|i| if i < 80 { 0 } else { 1 }).collect();
/// // The third category was never observed.
/// let target = SimplexTarget::new(vec![0.1; 3], Counts::from_labels(&labels, 3)?)?;
/// let gradient = ControlVariate::new(WithoutReplacement::new(10));
/// let fit = Builder::new(target, Scir, gradient, 0.5).seed(1).burn_in(50).sample(&vec![0.4, 0.3, 0.3], 1000)?;
/// // The posterior mean is 80.1/100.3.
/// assert!((fit.summary().rows()[0].mean - 0.7986).abs() < 0.02);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone)]
pub struct SimplexTarget {
    alpha: Arc<[f64]>,
    statistics: Arc<dyn Statistics>,
    layout: Layout,
    total: Option<f64>,
}

impl SimplexTarget {
    /// Creates the target of one simplex called `omega`, with one entry per element of `alpha`.
    ///
    /// # Errors
    ///
    /// Returns an error if `alpha` has fewer than two elements or one that is not positive, or if the counts have
    /// another length.
    pub fn new(alpha: Vec<f64>, statistics: impl Statistics) -> Result<Self> {
        let layout = Layout::new([("omega".into(), vec![alpha.len()], Some(Constraint::Softmax))])?;
        Self::with_layout(layout, alpha, statistics)
    }

    /// Creates the target of the simplexes of `layout`, such as the rows of a matrix. All parameters have the constraint
    /// [`Constraint::Softmax`], and `alpha` and the counts have one entry per value.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter has another constraint, if `alpha` or the counts have the wrong length, or if an
    /// element of `alpha` is not positive.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::simplex::{SimplexTarget, StatisticsFn};
    /// use sgmcmc::{Constraint, Layout};
    ///
    /// // The rows of a transition matrix, from the transitions of a chain.
    /// let path = [0, 1, 1, 2, 0, 1];
    /// let layout = Layout::new([("transitions".into(), vec![3, 3], Some(Constraint::Softmax))])?;
    /// let statistics = StatisticsFn::new(5, move |observation, counts| {
    ///     counts[3 * path[observation.row] + path[observation.row + 1]] += observation.weight;
    /// });
    /// SimplexTarget::with_layout(layout, vec![0.5; 9], statistics)?;
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn with_layout(layout: Layout, alpha: Vec<f64>, statistics: impl Statistics) -> Result<Self> {
        super::step::Simplexes::of(&layout)?;
        layout.check_values(&alpha)?;
        if let Some(found) = statistics.width().filter(|width| *width != alpha.len()) {
            return Err(Error::Length { what: "the counts of an observation", expected: alpha.len(), found });
        }
        alpha.iter().try_for_each(|alpha| settings::positive("an element of alpha", *alpha).map(|_| ()))?;
        Ok(Self { alpha: alpha.into(), statistics: Arc::new(statistics), layout, total: None })
    }

    /// Sets the sum of θ of every simplex at the start of a chain. The default is the sum of its α, the mean in the
    /// expanded parametrizations of SGRLD.
    ///
    /// The mean of SCIR is Σ a, which it reaches at the rate e⁻ʰ. This matters for small step sizes only.
    ///
    /// # Errors
    ///
    /// Returns an error if `total` is not positive.
    pub fn with_total(self, total: f64) -> Result<Self> {
        Ok(Self { total: Some(settings::positive("the sum of theta", total)?), ..self })
    }

    /// Returns the same posterior as a density of log θ with gradients, for algorithms that are not specific to the
    /// simplex.
    ///
    /// This is the expanded-natural parametrization: ω = θ/Σθ with θⱼ ~ Gamma(αⱼ, 1) a priori. With
    /// [`Sgld`](crate::langevin::Sgld) and control variates or SAGA it is the setting of Baker (2019), §3.5.3. The
    /// counts must not depend on ω other than through latent variables.
    pub fn density(self) -> SimplexDensity {
        SimplexDensity(self)
    }

    /// Returns the layout of the simplexes.
    pub fn simplex_layout(&self) -> &Layout {
        &self.layout
    }

    fn evaluator_of(&self, start: &[f64], output: Output) -> Result<Box<dyn Evaluator>> {
        self.layout.coordinates(start)?;
        let (alpha, statistics) = (self.alpha.clone(), self.statistics.clone());
        Ok(Box::new(SimplexEvaluator::new(alpha, statistics, self.layout.clone(), output)?))
    }

    fn checked_layout(&self, values: &[f64]) -> Result<Layout> {
        self.layout.check_values(values)?;
        Ok(self.layout.clone())
    }

    /// Returns log θ for the values ω, with the sum of θ of the start.
    fn log_theta(&self, layout: &Layout, values: &[f64]) -> Result<Vec<f64>> {
        let mut theta = layout.coordinates(values)?;
        if self.alpha.len() != theta.len() {
            let what = "the vector of parameter values";
            return Err(Error::Length { what, expected: self.alpha.len(), found: theta.len() });
        }
        for range in super::step::Simplexes::of(layout)?.ranges() {
            let total = self.total.unwrap_or_else(|| self.alpha[range.clone()].iter().sum());
            theta[range].iter_mut().for_each(|theta| *theta += total.ln());
        }
        Ok(theta)
    }
}

impl fmt::Debug for SimplexTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observations = self.statistics.observations();
        f.debug_struct("SimplexTarget").field("observations", &observations).finish_non_exhaustive()
    }
}

/// A [`SimplexTarget`] with the gradient of the log density of log θ. See [`SimplexTarget::density`].
///
/// # Examples
///
/// ```
/// use sgmcmc::algorithms::Sgld;
/// use sgmcmc::gradient::MinibatchGradient;
/// use sgmcmc::minibatch::WithoutReplacement;
/// use sgmcmc::simplex::{Counts, SimplexTarget};
/// use sgmcmc::Builder;
///
/// let counts = Counts::from_labels(&[0, 0, 1, 2, 0, 1], 3)?;
/// let target = SimplexTarget::new(vec![1.0; 3], counts)?.density();
/// let gradient = MinibatchGradient::new(WithoutReplacement::new(2));
/// let fit = Builder::new(target, Sgld, gradient, 0.1).seed(1).sample(&vec![0.4, 0.3, 0.3], 500)?;
/// assert_eq!(fit.chains()[0].len(), 500);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SimplexDensity(SimplexTarget);

/// Implements [`Target`] for a type that shows a [`SimplexTarget`] by `$target` and evaluates `$output`.
macro_rules! impl_target {
    ($type:ty, $self:ident => $target:expr, $output:expr) => {
        impl Target for $type {
            type Params = Vec<f64>;

            fn evaluator(&$self, start: &Vec<f64>) -> Result<Box<dyn Evaluator>> {
                $target.evaluator_of(start, $output)
            }

            fn layout(&$self, params: &Vec<f64>) -> Result<Layout> {
                $target.checked_layout(params)
            }

            fn flatten(&$self, layout: &Layout, params: &Vec<f64>) -> Result<Vec<f64>> {
                $target.log_theta(layout, params)
            }

            fn unflatten(&$self, layout: &Layout, _like: &Vec<f64>, theta: &[f64]) -> Result<Vec<f64>> {
                layout.values(theta)
            }

            fn fingerprint(&$self) -> Option<Fingerprint> {
                $target.statistics.fingerprint()
            }
        }
    };
}

impl_target!(SimplexTarget, self => self, Output::Statistics);
impl_target!(SimplexDensity, self => self.0, Output::Gradient);

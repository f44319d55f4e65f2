//! The analytic engine: log density and gradient written by hand on slices. It is for simple models, and a reference
//! for tests of the other engines.

use std::fmt;
use std::sync::Arc;

use super::{Evaluator, Target, check_arguments, check_output};
use crate::data::Rows;
use crate::error::Result;
use crate::layout::Layout;

/// A model with a hand-written gradient.
///
/// Gradients are *added* to `grad`, multiplied by `weight` if there is one. Values are returned without the weight.
///
/// # Examples
///
/// See [`Analytic`].
pub trait AnalyticModel: Send + Sync + 'static {
    /// Returns the number N of observations.
    fn observations(&self) -> usize;

    /// Returns the number of coordinates.
    fn dim(&self) -> usize;

    /// Returns log p(x|θ) of the observation with index `row`, and adds `weight` times its gradient to `grad`.
    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64;

    /// Returns log p(θ) and adds its gradient to `grad`. The default is a flat prior.
    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        let (_, _) = (theta, grad);
        0.0
    }
}

/// The target of an [`AnalyticModel`], whose parameters are a flat vector.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::Rows;
/// use sgmcmc::gradient::{Analytic, AnalyticModel, Target};
///
/// /// The model xᵢ ~ N(θ, 1).
/// struct NormalMean(Vec<f64>);
///
/// impl AnalyticModel for NormalMean {
///     fn observations(&self) -> usize { self.0.len() }
///     fn dim(&self) -> usize { 1 }
///     fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
///         let residual = self.0[row] - theta[0];
///         grad[0] += weight * residual;
///         -0.5 * residual * residual
///     }
/// }
///
/// let target = Analytic::new(NormalMean(vec![1.0, 2.0, 4.0]));
/// let mut evaluator = target.evaluator(&vec![0.0])?;
/// let mut gradient = [0.0];
/// evaluator.posterior(&[2.0], Rows::range(0..3), &mut gradient)?;
/// assert_eq!(gradient, [1.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone)]
pub struct Analytic {
    model: Arc<dyn AnalyticModel>,
    layout: Layout,
}

impl fmt::Debug for Analytic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analytic").field("observations", &self.model.observations()).finish_non_exhaustive()
    }
}

impl Analytic {
    /// Creates the target of a model with one parameter, a vector called `theta`.
    pub fn new(model: impl AnalyticModel) -> Self {
        let layout = Layout::vector("theta", model.dim());
        Self { model: Arc::new(model), layout }
    }

    /// Creates the target of a model with the parameters of `layout`.
    ///
    /// # Errors
    ///
    /// Returns an error if the numbers of coordinates of `layout` and `model` differ.
    pub fn with_layout(model: impl AnalyticModel, layout: Layout) -> Result<Self> {
        let model: Arc<dyn AnalyticModel> = Arc::new(model);
        check_dim(&*model, &layout)?;
        Ok(Self { model, layout })
    }
}

impl Target for Analytic {
    type Params = Vec<f64>;

    fn evaluator(&self, start: &Vec<f64>) -> Result<Box<dyn Evaluator>> {
        self.layout.coordinates(start)?;
        Ok(Box::new(AnalyticEvaluator::new(self.model.clone(), self.layout.clone())?))
    }

    fn layout(&self, params: &Vec<f64>) -> Result<Layout> {
        self.layout.check_values(params)?;
        Ok(self.layout.clone())
    }

    fn flatten(&self, layout: &Layout, params: &Vec<f64>) -> Result<Vec<f64>> {
        layout.coordinates(params)
    }

    fn unflatten(&self, layout: &Layout, _like: &Vec<f64>, theta: &[f64]) -> Result<Vec<f64>> {
        layout.values(theta)
    }
}

/// Checks that the model and the layout have the same number of coordinates.
fn check_dim(model: &dyn AnalyticModel, layout: &Layout) -> Result<()> {
    check_output("the parameter vector of the analytic model", model.dim(), layout.dim())
}

/// The evaluator of an [`AnalyticModel`].
pub struct AnalyticEvaluator {
    model: Arc<dyn AnalyticModel>,
    layout: Layout,
    /// Scratch memory for gradients that are not returned.
    scratch: Vec<f64>,
}

impl AnalyticEvaluator {
    /// Creates an evaluator of `model` with the parameters of `layout`.
    ///
    /// # Errors
    ///
    /// Returns an error if the numbers of coordinates of `layout` and `model` differ.
    pub fn new(model: Arc<dyn AnalyticModel>, layout: Layout) -> Result<Self> {
        check_dim(&*model, &layout)?;
        let scratch = vec![0.0; layout.dim()];
        Ok(Self { model, layout, scratch })
    }
}

impl fmt::Debug for AnalyticEvaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnalyticEvaluator").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Evaluator for AnalyticEvaluator {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn observations(&self) -> usize {
        self.model.observations()
    }

    fn prior(&mut self, theta: &[f64], grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, 0, theta, grad, Rows::range(0..0))?;
        Ok(self.model.prior(theta, grad))
    }

    fn likelihood(&mut self, theta: &[f64], rows: Rows<'_>, grad: &mut [f64]) -> Result<f64> {
        check_arguments(&self.layout, self.observations(), theta, grad, rows)?;
        Ok(rows.iter().map(|(row, weight)| weight * self.model.observation(theta, row, weight, grad)).sum())
    }

    fn log_density(&mut self, theta: &[f64], rows: Rows<'_>) -> Result<f64> {
        check_arguments(&self.layout, self.observations(), theta, &self.scratch, rows)?;
        let Self { model, scratch, .. } = self;
        let prior = model.prior(theta, scratch);
        let likelihood: f64 = rows.iter().map(|(row, w)| w * model.observation(theta, row, 0.0, scratch)).sum();
        Ok(prior + likelihood)
    }

    fn log_likelihood_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        check_arguments(&self.layout, self.observations(), theta, &self.scratch, rows)?;
        check_output("the output for the log-likelihood of each observation", rows.len(), out.len())?;
        for (out, (row, _)) in out.iter_mut().zip(rows.iter()) {
            *out = self.model.observation(theta, row, 0.0, &mut self.scratch);
        }
        Ok(())
    }

    fn gradient_per_observation(&mut self, theta: &[f64], rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let dim = self.dim();
        check_arguments(&self.layout, self.observations(), theta, &self.scratch, rows)?;
        check_output("the output for the gradient of each observation", rows.len() * dim, out.len())?;
        out.fill(0.0);
        for (gradient, (row, _)) in out.chunks_exact_mut(dim.max(1)).zip(rows.iter()) {
            self.model.observation(theta, row, 1.0, gradient);
        }
        Ok(())
    }
}

//! Generated quantities: functions of the parameters that are part of a model.

use std::fmt;
use std::sync::Arc;

use burn_tensor::Tensor;
use rayon::prelude::*;
use sgmcmc_fit::Fit;
use sgmcmc_gradient::error::{Closure, Error, Result};
use sgmcmc_gradient::{Layout, Precision};

use super::Model;
use crate::array::default_device;
use crate::closure::guarded;
use crate::tree::{Part, TensorTree, TreeLayout, unconstrained};

/// A function of the parameters with a name.
pub(super) struct Quantity<P> {
    name: String,
    function: Arc<dyn Fn(P) -> Computed + Send + Sync>,
}

/// The value of a quantity.
struct Computed {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl<P> Clone for Quantity<P> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), function: self.function.clone() }
    }
}

impl<P> fmt::Debug for Quantity<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<P: TensorTree, D: TensorTree> Model<P, D> {
    /// Returns this model with the generated quantity `name`, a function of the parameters.
    ///
    /// [`with_quantities`](Self::with_quantities) adds the quantities of the model to a fit. They then are part of the
    /// summary, of files, plots and the report, like parameters.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::distributions::*;
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| Normal::new(0.0, 1.0).log_prob(theta).sum())
    ///     .quantity("largest", |theta: Tensor<1>| theta.max())
    ///     .quantity("odds", |theta: Tensor<1>| theta.exp());
    /// let start = zeros([2]);
    /// let fit = hmc(&model, &Dataset::none(), 0.3).seed(1).sample(&start, 100)?;
    /// let fit = model.with_quantities(&fit, &start)?;
    /// assert_eq!(fit.layout().value_names(), ["theta[0]", "theta[1]", "largest", "odds[0]", "odds[1]"]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn quantity<const K: usize>(
        mut self,
        name: impl Into<String>,
        function: impl Fn(P) -> Tensor<K> + Send + Sync + 'static,
    ) -> Self {
        let function = move |params| {
            let value = function(params);
            Computed { shape: value.dims().to_vec(), values: value.into_data().iter::<f64>().collect() }
        };
        self.quantities.push(Quantity { name: name.into(), function: Arc::new(function) });
        self
    }

    /// Returns `fit` with the generated quantities of this model at each draw, computed on all threads. `like` has the
    /// structure of the parameters.
    ///
    /// All values are in memory, 8 bytes each: those of `fit`, of the result, and of a copy of the result while a quantity
    /// is added. Tensors exist for as many draws at a time as there are threads. [`Fit::thinned`] makes a long fit
    /// shorter first.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit, if two quantities or a quantity and a parameter
    /// have the same name, or if the closure of a quantity panics or its shape differs between draws.
    pub fn with_quantities(&self, fit: &Fit, like: &P) -> Result<Fit> {
        let layout = fit.parameters_like(&unconstrained(like)?)?;
        self.quantities.iter().try_fold(fit.clone(), |extended, quantity| quantity.add(&extended, &layout, like))
    }
}

impl<P: TensorTree> Quantity<P> {
    /// Returns the quantity as a function of a part of the parameters.
    pub(super) fn of_whole(&self) -> Quantity<Part<P>> {
        let function = self.function.clone();
        Quantity { name: self.name.clone(), function: Arc::new(move |part: Part<P>| function(part.into_whole())) }
    }

    /// Returns `fit` with this quantity. The first values of its draws are laid out by `layout`.
    fn add(&self, fit: &Fit, layout: &Layout, like: &P) -> Result<Fit> {
        let compute = |row: &[f64]| {
            let row = &row[..layout.value_count()];
            let params = layout.to_tree(like, row, Precision::Double, &default_device())?;
            guarded(Closure::Quantity, || (self.function)(params))
        };
        let rows: Vec<&[f64]> = fit.chains().iter().flat_map(|chain| chain.rows()).collect();
        let computed = rows.into_par_iter().map(compute).collect::<Result<Vec<_>>>()?;
        let shape = match computed.first() {
            Some(first) => first.shape.clone(),
            None => return Ok(fit.clone()),
        };
        if let Some(other) = computed.iter().find(|value| value.shape != shape) {
            let (declared, found) = (shape, other.shape.clone());
            return Err(Error::ParameterShape { parameter: self.name.clone(), declared, found });
        }
        let mut computed = computed.into_iter();
        // The values of the draws are requested in order, followed by those of the mode.
        fit.try_derive_flat(&self.name, &shape, |row| match computed.next() {
            Some(value) => Ok(value.values),
            None => compute(row).map(|value| value.values),
        })
    }
}

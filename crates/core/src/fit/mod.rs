//! Methods of fits that take or return tensors.
//!
//! A fit has the names and shapes of its parameters, but not their type. Each method takes a tree of that type, usually
//! the initial values of the run. Its structure is compared with the fit; its values are not used.

mod predict;

use burn_tensor::Tensor;
use sgmcmc_fit::{Fit, Predictions};
use sgmcmc_gradient::{Error, Layout, Precision, Result};

use crate::array::default_device;
use crate::data::Dataset;
use crate::tree::{TensorTree, TreeLayout, unconstrained};

/// Methods of [`Fit`] that take or return tensors.
///
/// The argument `like` is a tree with the structure of the parameters, usually the initial values of the run. Its
/// values are not used. A fit can have derived quantities after the parameters, which these methods leave out.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let model = Model::density(|(a, b): (Tensor<1>, Tensor<1>)| (a.square() + b.square()) * -0.5);
/// let start = (zeros([1]), zeros([1]));
/// let fit = hmc(&model, &Dataset::none(), 0.1).seed(1).sample(&start, 50)?;
/// let (a, _): (Tensor<1>, Tensor<1>) = fit.mean(&start)?;
/// assert_eq!(a.dims(), [1]);
/// let fit = fit.derive("sum", &start, |(a, b): (Tensor<1>, Tensor<1>)| a + b)?;
/// assert_eq!(fit.element("sum")?[0].len(), 50);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait FitTensors: Sized {
    /// Returns the posterior mean, with the structure of `like`, in double precision.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sgmcmc::{Layout, TreeLayout, fit::ChainDraws, sink::Draw};
    /// # let start = zeros([1]);
    /// # let mut chain = ChainDraws::new(1, vec![]);
    /// # for x in [1.0, 3.0] {
    /// #     chain.push(&Draw { iteration: 1, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # }
    /// # let fit = Fit::new(Layout::from_tree(&start)?, vec![chain])?;
    /// use sgmcmc::prelude::*;
    ///
    /// let mean: Tensor<1> = fit.mean(&start)?;
    /// assert_eq!(mean.into_scalar::<f64>(), 2.0);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    fn mean<P: TensorTree>(&self, like: &P) -> Result<P>;

    /// Returns the posterior standard deviation of every value, with the structure of `like`.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sgmcmc::{Layout, TreeLayout, fit::ChainDraws, sink::Draw};
    /// # let start = zeros([1]);
    /// # let mut chain = ChainDraws::new(1, vec![]);
    /// # for x in [1.0, 3.0] {
    /// #     chain.push(&Draw { iteration: 1, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # }
    /// # let fit = Fit::new(Layout::from_tree(&start)?, vec![chain])?;
    /// use sgmcmc::prelude::*;
    ///
    /// let sd: Tensor<1> = fit.sd(&start)?;
    /// assert!((sd.into_scalar::<f64>() - 2.0_f64.sqrt()).abs() < 1e-12);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    fn sd<P: TensorTree>(&self, like: &P) -> Result<P>;

    /// Returns the posterior quantile at `p` of every value, with the structure of `like`.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sgmcmc::{Layout, TreeLayout, fit::ChainDraws, sink::Draw};
    /// # let start = zeros([1]);
    /// # let mut chain = ChainDraws::new(1, vec![]);
    /// # for x in [1.0, 3.0] {
    /// #     chain.push(&Draw { iteration: 1, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # }
    /// # let fit = Fit::new(Layout::from_tree(&start)?, vec![chain])?;
    /// use sgmcmc::prelude::*;
    ///
    /// let median: Tensor<1> = fit.quantile(&start, 0.5)?;
    /// assert_eq!(median.into_scalar::<f64>(), 2.0);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    fn quantile<P: TensorTree>(&self, like: &P, p: f64) -> Result<P>;

    /// Returns every draw, with the structure of `like`, chain by chain.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sgmcmc::{Layout, TreeLayout, fit::ChainDraws, sink::Draw};
    /// # let start = zeros([1]);
    /// # let mut chain = ChainDraws::new(1, vec![]);
    /// # for x in [1.0, 3.0] {
    /// #     chain.push(&Draw { iteration: 1, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # }
    /// # let fit = Fit::new(Layout::from_tree(&start)?, vec![chain])?;
    /// use sgmcmc::prelude::*;
    ///
    /// let draws: Vec<f64> = fit.params(&start)?.map(|theta| theta.into_scalar::<f64>()).collect();
    /// assert_eq!(draws, [1.0, 3.0]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    fn params<'a, P: TensorTree>(&'a self, like: &'a P) -> Result<impl Iterator<Item = P> + 'a>;

    /// Returns this fit with an additional parameter `name`, the value of `quantity` at the parameters of each draw.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit, if the fit has a parameter with this name or
    /// no draws, or if the shape of the quantity differs between draws.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sgmcmc::{Layout, TreeLayout, fit::ChainDraws, sink::Draw};
    /// # let start = (zeros([1]), zeros([1]));
    /// # let mut chain = ChainDraws::new(2, vec![]);
    /// # chain.push(&Draw { iteration: 1, values: &[6.0, 2.0], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # let fit = Fit::new(Layout::from_tree(&start)?, vec![chain])?;
    /// use sgmcmc::prelude::*;
    ///
    /// let fit = fit.derive("ratio", &start, |(a, b): (Tensor<1>, Tensor<1>)| a / b)?;
    /// assert_eq!(fit.element("ratio")?, [[3.0]]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    fn derive<P: TensorTree, const D: usize>(
        &self,
        name: &str,
        like: &P,
        quantity: impl Fn(P) -> Tensor<D>,
    ) -> Result<Self>;

    /// Returns the weighted mean over the draws of `prediction`, a function of the parameters and the observations in
    /// `data`. The result is an array of shape `[observations, …]`.
    ///
    /// The computation uses all threads, and calls the closure with batches of observations.
    ///
    /// # Errors
    ///
    /// Returns an error if `like` has other names or shapes than the fit, if there is no draw, or if the first axis of
    /// the prediction is not the observation.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sgmcmc::{Layout, TreeLayout, fit::ChainDraws, sink::Draw};
    /// # let start = zeros([1]);
    /// # let mut chain = ChainDraws::new(1, vec![]);
    /// # for x in [1.0, 3.0] {
    /// #     chain.push(&Draw { iteration: 1, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # }
    /// # let fit = Fit::new(Layout::from_tree(&start)?, vec![chain])?;
    /// use sgmcmc::prelude::*;
    ///
    /// let test = Dataset::new(array(vec![1.0, 2.0], [2])?)?;
    /// let predicted = fit.predict(&test, &start, |slope: Tensor<1>, x: Tensor<1>| x * slope)?;
    /// assert_eq!(predicted.values, [2.0, 4.0]);
    /// assert_eq!(predicted.rmse(&[2.0, 3.0])?, 0.5_f64.sqrt());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    fn predict<P: TensorTree, D: TensorTree, const K: usize>(
        &self,
        data: &Dataset<D>,
        like: &P,
        prediction: impl Fn(P, D) -> Tensor<K> + Sync,
    ) -> Result<Predictions>;

    /// Returns `prediction` at every draw, an array of shape `[draws, observations, …]`, chain by chain.
    ///
    /// The result is limited to 1 GiB. Thin longer fits first.
    ///
    /// # Errors
    ///
    /// Returns an error under the same conditions as [`predict`](Self::predict), and if the result exceeds 1 GiB.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sgmcmc::{Layout, TreeLayout, fit::ChainDraws, sink::Draw};
    /// # let start = zeros([1]);
    /// # let mut chain = ChainDraws::new(1, vec![]);
    /// # for x in [1.0, 3.0] {
    /// #     chain.push(&Draw { iteration: 1, values: &[x], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # }
    /// # let fit = Fit::new(Layout::from_tree(&start)?, vec![chain])?;
    /// use sgmcmc::prelude::*;
    ///
    /// let test = Dataset::new(array(vec![1.0, 2.0], [2])?)?;
    /// let predicted = fit.predict_each(&test, &start, |slope: Tensor<1>, x: Tensor<1>| x * slope)?;
    /// assert_eq!(predicted.shape, [2, 2]);
    /// assert_eq!(predicted.values, [1.0, 2.0, 3.0, 6.0]);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    fn predict_each<P: TensorTree, D: TensorTree, const K: usize>(
        &self,
        data: &Dataset<D>,
        like: &P,
        prediction: impl Fn(P, D) -> Tensor<K> + Sync,
    ) -> Result<Predictions>;
}

impl FitTensors for Fit {
    fn mean<P: TensorTree>(&self, like: &P) -> Result<P> {
        tree(&self.parameters_like(&unconstrained(like)?)?, like, &self.mean_values())
    }

    fn sd<P: TensorTree>(&self, like: &P) -> Result<P> {
        tree(&self.parameters_like(&unconstrained(like)?)?, like, &self.sd_values())
    }

    fn quantile<P: TensorTree>(&self, like: &P, p: f64) -> Result<P> {
        tree(&self.parameters_like(&unconstrained(like)?)?, like, &self.quantile_values(p))
    }

    fn params<'a, P: TensorTree>(&'a self, like: &'a P) -> Result<impl Iterator<Item = P> + 'a> {
        let layout = self.parameters_like(&unconstrained(like)?)?;
        let rows = self.chains().iter().flat_map(|chain| chain.rows());
        // The shapes have been checked, so that the conversion does not fail.
        Ok(rows.filter_map(move |row| tree(&layout, like, row).ok()))
    }

    fn derive<P: TensorTree, const D: usize>(
        &self,
        name: &str,
        like: &P,
        quantity: impl Fn(P) -> Tensor<D>,
    ) -> Result<Self> {
        let layout = self.parameters_like(&unconstrained(like)?)?;
        let first = self.params(like)?.next().ok_or_else(|| no_draws(name))?;
        let shape = quantity(first).dims().to_vec();
        self.try_derive_flat(name, &shape, |row| {
            let tensor = quantity(tree(&layout, like, row)?);
            let found = tensor.dims().to_vec();
            if found != shape {
                let (parameter, declared) = (name.to_owned(), shape.clone());
                return Err(Error::ParameterShape { parameter, declared, found });
            }
            Ok(tensor.into_data().iter::<f64>().collect())
        })
    }

    fn predict<P: TensorTree, D: TensorTree, const K: usize>(
        &self,
        data: &Dataset<D>,
        like: &P,
        prediction: impl Fn(P, D) -> Tensor<K> + Sync,
    ) -> Result<Predictions> {
        predict::mean(self, data, like, &prediction)
    }

    fn predict_each<P: TensorTree, D: TensorTree, const K: usize>(
        &self,
        data: &Dataset<D>,
        like: &P,
        prediction: impl Fn(P, D) -> Tensor<K> + Sync,
    ) -> Result<Predictions> {
        predict::each(self, data, like, &prediction)
    }
}

/// Converts flat values to a tree with the structure of `like`. The values of the parameters, laid out by `layout`, come first,
/// followed by those of derived quantities.
fn tree<P: TensorTree>(layout: &Layout, like: &P, values: &[f64]) -> Result<P> {
    layout.to_tree(like, &values[..layout.value_count()], Precision::Double, &default_device())
}

fn no_draws(name: &str) -> Error {
    let value = format!("0 where `{name}` is derived");
    Error::Setting { name: "the number of draws", value, expected: "draw first" }
}

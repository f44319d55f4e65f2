//! Quantities that are functions of the parameters, drawn by drawing the parameters.

use sgmcmc_core::burn::Tensor;
use sgmcmc_core::{Error, Layout, Result, TensorTree};

use super::Fit;

impl Fit {
    /// This fit with one more parameter, `name`: what `quantity` makes of the parameters of each draw, structured as `like`.
    ///
    /// ```
    /// # use sgmcmc_core::{Layout, array, burn::Tensor, zeros};
    /// # use sgmcmc_samplers::{ChainDraws, Fit, sink::Draw};
    /// # let start = (zeros([1]), zeros([1]));
    /// # let mut chain = ChainDraws::new(2, vec![]);
    /// # chain.push(&Draw { iteration: 1, values: &[6.0, 2.0], weight: 1.0, log_posterior: 0.0, stats: &[] })?;
    /// # let fit = Fit::new(Layout::of(&start)?, vec![chain])?;
    /// let fit = fit.derive("ratio", &start, |(a, b): (Tensor<1>, Tensor<1>)| a / b)?;
    /// assert_eq!(fit.element("ratio")?, [[3.0]]);
    /// # Ok::<(), sgmcmc_core::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `like` has other names or shapes than the fit, there already is a parameter of that name, or the quantity changes its shape
    /// from draw to draw.
    pub fn derive<P: TensorTree, const D: usize>(
        &self,
        name: &str,
        like: &P,
        quantity: impl Fn(P) -> Tensor<D>,
    ) -> Result<Self> {
        let mut params = self.params(like)?.map(quantity).peekable();
        let shape = params.peek().map(|tensor| tensor.dims().to_vec()).ok_or(no_draws(name))?;
        let layout = self.extended(name, &shape)?;
        self.rewritten(layout, |row| {
            let tensor = params.next().ok_or(no_draws(name))?;
            let found = tensor.dims().to_vec();
            if found != shape {
                let (parameter, declared) = (name.to_owned(), shape.clone());
                return Err(Error::ParameterShape { parameter, declared, found });
            }
            Ok(row.iter().copied().chain(tensor.into_data().iter::<f64>()).collect())
        })
    }

    /// As [`derive`](Self::derive), on the flat values of each draw: `quantity` writes the new values, of shape `shape`, into its second
    /// argument.
    ///
    /// # Errors
    ///
    /// If there already is a parameter of that name.
    pub fn derive_flat(&self, name: &str, shape: &[usize], quantity: impl Fn(&[f64], &mut [f64])) -> Result<Self> {
        let layout = self.extended(name, shape)?;
        let width = self.layout.value_count();
        self.rewritten(layout.clone(), |row| {
            let mut values = vec![0.0; layout.value_count()];
            values[..width].copy_from_slice(row);
            quantity(row, &mut values[width..]);
            Ok(values)
        })
    }

    fn extended(&self, name: &str, shape: &[usize]) -> Result<Layout> {
        if self.layout.block(name).is_ok() {
            return Err(Error::RepeatedLeaf { leaf: name.to_owned() });
        }
        let known = self.layout.blocks().iter().map(|b| (b.name.clone(), b.shape.clone(), b.constraint));
        Layout::new(known.chain([(name.to_owned(), shape.to_vec(), None)]))
    }
}

fn no_draws(name: &str) -> Error {
    Error::Setting {
        name: "the number of draws",
        value: format!("0 where `{name}` is derived"),
        expected: "draw first",
    }
}

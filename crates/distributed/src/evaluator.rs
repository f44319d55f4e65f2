//! Methods that targets and evaluators around another one pass on to it.

/// Implements the methods of [`Target`](sgmcmc_gradient::Target) about parameters by those of the target in the field
/// `$inner`.
macro_rules! same_parameters {
    ($inner:ident) => {
        fn layout(&self, params: &Self::Params) -> sgmcmc_gradient::Result<sgmcmc_gradient::Layout> {
            self.$inner.layout(params)
        }

        fn flatten(
            &self,
            layout: &sgmcmc_gradient::Layout,
            params: &Self::Params,
        ) -> sgmcmc_gradient::Result<Vec<f64>> {
            self.$inner.flatten(layout, params)
        }

        fn unflatten(
            &self,
            layout: &sgmcmc_gradient::Layout,
            like: &Self::Params,
            theta: &[f64],
        ) -> sgmcmc_gradient::Result<Self::Params> {
            self.$inner.unflatten(layout, like, theta)
        }
    };
}

/// Implements the methods of [`Evaluator`](sgmcmc_gradient::Evaluator) about parameters, precision and threads by those of
/// the evaluator in the field `$inner`.
macro_rules! same_computation {
    ($inner:ident) => {
        fn layout(&self) -> &sgmcmc_gradient::Layout {
            self.$inner.layout()
        }

        fn precision(&self) -> sgmcmc_gradient::data::Precision {
            self.$inner.precision()
        }

        fn set_threads(&mut self, threads: usize) {
            self.$inner.set_threads(threads);
        }

        fn allocate_on_this_thread(&mut self) -> sgmcmc_gradient::Result<()> {
            self.$inner.allocate_on_this_thread()
        }
    };
}

pub(crate) use {same_computation, same_parameters};

#![doc = include_str!("../../../README.md")]

pub use sgmcmc_core::*;
pub use sgmcmc_derive::TensorTree;

/// What most programs need, in one `use`.
pub mod prelude {
    pub use sgmcmc_core::burn::{Bool, Device, Int, Tensor};
    pub use sgmcmc_core::{
        Adam, Analytic, AnalyticModel, BatchSize, Columns, ControlVariate, Dataset, Epochs, Evaluator, FullGradient,
        GradientEstimator, GradientNoise, MinibatchGradient, Mode, ModeSearch, Model, Named, Posterior, Precision,
        Rows, Saga, Sgd, Svrg, Target, TensorTree, Weighted, WithReplacement, WithoutReplacement, array,
        default_device, full, ones, zeros,
    };
    pub use sgmcmc_derive::TensorTree;
}

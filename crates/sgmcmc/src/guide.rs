//! Guides: the pages of the documentation, with code that the tests run.

/// From a new project to a saved fit.
///
/// [Models]: crate::guide::models
/// [Sampling]: crate::guide::sampling
/// [Diagnostics]: crate::guide::diagnostics
/// [Long runs]: crate::guide::long_runs
/// [Files]: crate::guide::files
#[doc = ""]
#[doc = include_str!("../docs/getting-started.md")]
pub mod getting_started {}

/// Parameters, data, closures, constraints, and what runs fast.
#[doc = ""]
#[doc = include_str!("../docs/models.md")]
pub mod models {}

/// Well-known models, each with its prior predictive distribution, fit and checks.
#[doc = ""]
#[doc = include_str!("../docs/model-gallery.md")]
pub mod model_gallery {
    /// Covariates, generated quantities, leave-one-out cross-validation.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/logistic-regression.md")]
    pub mod logistic_regression {}

    /// A hierarchy that is not centered.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/eight-schools.md")]
    pub mod eight_schools {}

    /// A simplex, an ordered vector, and a sum over components.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/mixture.md")]
    pub mod mixture {}

    /// A series whose variance depends on its past.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/garch.md")]
    pub mod garch {}

    /// A sum over hidden states.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/hidden-markov.md")]
    pub mod hidden_markov {}

    /// Kernels and covariance matrices.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/gaussian-process.md")]
    pub mod gaussian_process {}

    /// Ordered categories.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/ordinal-regression.md")]
    pub mod ordinal_regression {}

    /// A hierarchy with the correlation matrix of its effects.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/correlated-effects.md")]
    pub mod correlated_effects {}

    /// Censored observations.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/survival.md")]
    pub mod survival {}

    /// A Kalman filter.
    #[doc = ""]
    #[doc = include_str!("../docs/model-gallery/state-space.md")]
    pub mod state_space {}
}

/// The choice of algorithm, minibatch and step size.
///
/// [Accuracy]: crate::guide::accuracy
/// [files]: crate::guide::files
/// [models]: crate::guide::models
#[doc = ""]
#[doc = include_str!("../docs/sampling.md")]
pub mod sampling {}

/// Gibbs and Metropolis-Hastings updates, the simplex, and ready models.
#[doc = ""]
#[cfg_attr(feature = "models", doc = include_str!("../docs/latent-variables.md"))]
#[cfg_attr(not(feature = "models"), doc = "The page needs the feature `models`.")]
pub mod latent_variables {}

/// The summary, the check, the report, and predictions.
#[doc = ""]
#[doc = include_str!("../docs/diagnostics.md")]
pub mod diagnostics {}

/// Shards of data, and combination of their posteriors.
#[doc = ""]
#[cfg_attr(feature = "distributed", doc = include_str!("../docs/distributed.md"))]
#[cfg_attr(not(feature = "distributed"), doc = "The page needs the feature `distributed`.")]
pub mod distributed {}

/// Progress, Ctrl-C, checkpoints, and runs that become longer.
#[doc = ""]
#[doc = include_str!("../docs/long-runs.md")]
pub mod long_runs {}

/// Fits in files, and data larger than memory.
#[doc = ""]
#[doc = include_str!("../docs/files.md")]
pub mod files {}

/// Fits in Python and R, and the arrays that they keep for other tools.
///
/// [The program]: crate::guide::program
#[doc = ""]
#[doc = include_str!("../docs/python.md")]
pub mod python {}

/// The command-line program.
#[doc = ""]
#[doc = include_str!("../docs/program.md")]
pub mod program {}

/// Fits and plots in Jupyter.
#[doc = ""]
#[doc = include_str!("../docs/notebooks.md")]
pub mod notebooks {}

/// Answers to frequent questions.
#[doc = ""]
#[doc = include_str!("../docs/faq.md")]
pub mod faq {}

/// Checklists and skeletons for additions.
#[doc = ""]
#[doc = include_str!("../docs/extending.md")]
pub mod extending {}

/// The crates, contracts and conventions of the library.
#[doc = ""]
#[doc = include_str!("../docs/design.md")]
pub mod design {}

/// Guarantees, and the test of each.
#[doc = ""]
#[doc = include_str!("../docs/promises.md")]
pub mod promises {}

/// Every algorithm on eight reference posteriors.
#[doc = ""]
#[doc = include_str!("../docs/accuracy.md")]
// The tables have names such as beta[3], which look like links.
#[allow(rustdoc::broken_intra_doc_links)]
pub mod accuracy {}

/// Benchmarks, and how to measure them.
#[doc = ""]
#[doc = include_str!("../docs/performance.md")]
pub mod performance {}

/// The functions and arguments of the R package `sgmcmc`, and their counterparts here.
#[doc = ""]
#[doc = include_str!("../docs/coming-from-r.md")]
#[cfg(not(all(doctest, not(feature = "datasets"))))]
pub mod coming_from_r {}

/// Runs on several ranks: threads of one process, or processes that communicate by MPI.
#[doc = ""]
#[cfg_attr(feature = "distributed", doc = include_str!("../docs/machines.md"))]
#[cfg_attr(not(feature = "distributed"), doc = "The page needs the feature `distributed`.")]
pub mod machines {}

/// The cost of runs on many machines, and the algorithm to choose.
#[doc = ""]
#[doc = include_str!("../docs/scaling.md")]
pub mod scaling {}

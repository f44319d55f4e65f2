//! Ready Bayesian models with latent variables.
//!
//! | module | models |
//! |---|---|
//! | [`topics`] | latent Dirichlet allocation |
//! | [`mixture`] | Dirichlet-process mixtures |
//! | [`factorization`] | Bayesian and α-stable matrix factorization |

pub mod factorization;
pub mod mixture;
pub mod topics;

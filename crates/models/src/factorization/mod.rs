//! Bayesian matrix factorization.

//! Dirichlet-process mixtures.

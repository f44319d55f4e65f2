//! Topic models.

//! Data sets: columns of numbers that closures receive as a tree of tensors.

mod convert;
mod dataset;
mod design;
mod levels;
mod scaling;
mod split;
mod tensor;

pub(crate) use tensor::dtype as element_dtype;

pub use convert::IntoDataset;
pub use dataset::Dataset;
pub use design::{Contrast, DesignMatrix};
pub use levels::Levels;
pub use scaling::Scaling;

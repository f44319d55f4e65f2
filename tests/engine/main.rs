//! Models, engines and gradients: the compiled engine against the eager one and against values computed by hand.

mod compiled;
mod constraints;
mod devices;
mod distributions;
mod extended;
mod gallery;
mod generative;
mod gradients;
mod matrix;
mod matrix_reference;
mod mirrored;
mod mistakes;
mod sequences;
mod special;
mod support_of_data;

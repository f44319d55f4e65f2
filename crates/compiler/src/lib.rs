//! Differentiates and compiles row-wise array programs.
//!
//! The log density of a model is a sum over observations of one expression, which is the same for each of them.
//!
//! - [`graph`] represents this expression for one observation. The axis of the observations is implicit.
//! - [`differentiate`] adds the gradient to the graph.
//! - [`optimize`] simplifies the graph.
//! - [`scan`] converts loops to recurrences, and computes everything else for all steps at once.
//! - [`program`] runs the graph over tiles of observations. Its buffers are allocated when the program is compiled, so
//!   that a run does not allocate.
//! - [`mod@reference`] evaluates a graph naively, as a check of the other modules.
//!
//! # Examples
//!
//! ```
//! use sgmcmc_compiler::differentiate::{RowAdjoint, differentiate};
//! use sgmcmc_compiler::graph::{BinaryOp, Graph, Kind, UnaryOp};
//! use sgmcmc_compiler::program::{Call, Column, Columns, Output, Outputs, Program, RowSelection};
//!
//! #[derive(Debug)]
//! struct Data(Vec<f64>);
//!
//! impl Columns for Data {
//!     fn column(&self, _leaf: usize) -> Column<'_> {
//!         Column::F64(&self.0)
//!     }
//! }
//!
//! // Σᵢ (xᵢ θ)² has the gradient 2 θ Σᵢ xᵢ².
//! let mut graph = Graph::new();
//! let theta = graph.parameter(0, []);
//! let x = graph.data(0, [], Kind::Float);
//! let product = graph.binary(BinaryOp::Mul, x, theta)?;
//! let square = graph.unary(UnaryOp::Square, product);
//! let seed = graph.scalar(1.0);
//! let gradient = differentiate(&mut graph, square, seed, &[theta], RowAdjoint::Sum)?;
//! let outputs = Outputs { total: Some(square), gradient, ..Outputs::default() };
//! let mut program = Program::<f64>::compile(&graph, &outputs, &[0..1])?;
//!
//! let data = Data(vec![1.0, 2.0]);
//! let selection = RowSelection::Range(0);
//! let call = Call { theta: &[0.5], columns: &data, selection, rows: 2, weights: None, scale: 1.0 };
//! let mut gradient = [0.0];
//! let value = program.run(call, Output::Gradient(&mut gradient))?;
//! assert!((value - 1.25).abs() < 1e-12);
//! assert!((gradient[0] - 5.0).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod differentiate;
pub mod error;
pub mod graph;
mod hash;
mod kernels;
pub mod optimize;
pub mod program;
pub mod reference;
pub mod scan;
mod shorthand;

pub use error::{Error, Result};

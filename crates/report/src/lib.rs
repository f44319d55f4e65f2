//! Plots of posterior draws, and HTML reports of fits.
//!
//! [`Plots`] adds the methods `plot` and `report` to a fit. [`Report`] is a self-contained HTML page with options.
//! [`plot`] has the same plots as functions of slices. [`Gallery`] is a self-contained HTML page of arbitrary plots.

mod draws;
pub mod error;
mod page;
pub mod plot;
mod plots;
mod plotter;
mod plotter_groups;
mod plotter_text;
mod text_chart;

pub use error::{Error, Result};
pub use page::{Gallery, Report, comparison};
pub use plot::{Frame, Plot, Prior};
pub use plots::Plots;
pub use plotter::Plotter;
pub use text_chart::TextChart;

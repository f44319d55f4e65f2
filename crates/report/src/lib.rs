//! Plots of posterior draws, one by one for papers or together on one page that shows a fit.
//!
//! [`Plots`] gives a fit `plot()` and `report()`; [`Report`] is the page with what can be added to it; [`plot`] has the same plots on
//! plain slices; [`Gallery`] is a page of any plots.

pub mod error;
mod page;
pub mod plot;
mod plotter;

pub use error::{Error, Result};
pub use page::{Gallery, Report};
pub use plot::{Frame, Plot, Prior};
pub use plotter::{Plots, Plotter};

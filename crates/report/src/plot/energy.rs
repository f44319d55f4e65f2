//! Energy plots of Hamiltonian Monte Carlo.

use plotters::prelude::*;

use super::canvas::{Axes, SCALE, legend, message};
use super::ticks::range_of;
use super::{Frame, KernelDensity, Plot, density, palette};
use crate::error::Result;

/// Returns the Bayesian fraction of missing information of one chain: Σ (Eₜ − Eₜ₋₁)² / Σ (Eₜ − Ē)² (Betancourt 2016). Below
/// 0.3, momenta do not move the chain through all energies. NaN if it is not defined.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::bfmi;
///
/// assert_eq!(bfmi(&[0.0, 1.0, 0.0, 1.0]), 3.0);
/// ```
pub fn bfmi(energy: &[f64]) -> f64 {
    let mean = energy.iter().sum::<f64>() / energy.len() as f64;
    let differences: f64 = energy.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    differences / energy.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
}

/// Draws the density of the energy and that of its changes between transitions, of all chains. If the changes are much
/// narrower, the chain explores the energies slowly.
///
/// # Errors
///
/// Returns an error if the plotting crate fails.
///
/// # Examples
///
/// ```
/// use sgmcmc::report::plot::{self, Frame};
///
/// let plot = plot::energy(&[vec![3.0, 4.5, 2.5, 3.5, 5.0]], &Frame::new("energy"))?;
/// assert!(plot.svg().starts_with("<svg"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn energy<C: AsRef<[f64]>>(chains: &[C], frame: &Frame) -> Result<Plot> {
    let (mut centered, mut changes) = (Vec::new(), Vec::new());
    for chain in chains {
        let chain: Vec<f64> = chain.as_ref().iter().copied().filter(|value| value.is_finite()).collect();
        let mean = chain.iter().sum::<f64>() / chain.len() as f64;
        centered.extend(chain.iter().map(|value| value - mean));
        changes.extend(chain.windows(2).map(|pair| pair[1] - pair[0]));
    }
    let densities = [&centered, &changes].map(|values| KernelDensity::from_draws(values, &[]));
    let peak = densities.iter().flatten().map(KernelDensity::peak).fold(0.0, f64::max);
    let finite = |chain: &C| chain.as_ref().iter().copied().filter(|value| value.is_finite()).collect::<Vec<_>>();
    let smallest = chains.iter().map(|chain| bfmi(&finite(chain))).fold(f64::NAN, f64::min);
    Plot::draw(frame, |area| {
        let positions = densities.iter().flatten().flat_map(|density| density.points.iter().map(|point| point.0));
        let Some(x) = range_of(positions, 0.01).filter(|_| peak > 0.0) else {
            return message(area, frame.title(), "needs energies that vary");
        };
        let label = if smallest.is_finite() {
            format!("energy minus its mean; fraction of missing information ≥ {smallest:.2}")
        } else {
            "energy minus its mean".to_owned()
        };
        let mut chart = Axes::new(frame.title(), x, 0.0..1.06 * peak).labels(&label, "").unnumbered().draw(area)?;
        legend(area, &[("energy", palette::chain(0)), ("changes", palette::chain(1))])?;
        for (number, density) in densities.iter().enumerate() {
            if let Some(density) = density {
                density::curve(&mut chart, density, palette::chain(number).stroke_width(SCALE * 3 / 2))?;
            }
        }
        Ok(())
    })
}

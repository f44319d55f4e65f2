//! Findings about the shape of the posterior: several modes, and flat directions.

use sgmcmc_fit::{Finding, Severity};
use sgmcmc_gradient::Target;

use super::approximation::NormalApproximation;
use super::decisions::Decisions;
use super::location::Location;

/// The difference in log posterior above which another mode has a negligible mass.
const NEGLIGIBLE_MODE: f64 = 12.0;

impl<T: Target> Decisions<'_, T> {
    /// Reports other modes.
    pub(super) fn compare_modes(&mut self, location: &Location, approximation: &NormalApproximation) {
        let d = approximation.center.len() as f64;
        let reference = &location.reference;
        for other in &location.others {
            let difference: Vec<f64> = other
                .theta
                .iter()
                .zip(&reference.theta)
                .zip(&approximation.center)
                .map(|((other, reference), center)| center + other - reference)
                .collect();
            let distance = approximation.whiten(&difference).iter().map(|u| u * u).sum::<f64>().sqrt();
            let deficit = reference.log_posterior - other.log_posterior;
            if distance > 4.0 + d.sqrt() && deficit < NEGLIGIBLE_MODE {
                self.find(
                    Severity::Problem,
                    format!(
                        "the posterior has several modes: a search from another start ended {distance:.0} standard deviations away, \
                         where the log posterior is {} by {:.1}",
                        if deficit < 0.0 { "higher" } else { "lower" },
                        deficit.abs()
                    ),
                    "the draws describe one of the modes; make the parameters identifiable (for instance by an ordering), or start \
                     chains in every mode",
                );
                return;
            }
        }
    }

    /// Reports a direction along which the posterior is flat.
    pub(super) fn report_flat_directions(&mut self, approximation: &NormalApproximation) {
        let Some(direction) = approximation.flat_direction() else { return };
        let variances = approximation.variances();
        let mut shares: Vec<(usize, f64)> =
            direction.iter().zip(&variances).map(|(x, variance)| x.abs() / variance.sqrt()).enumerate().collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let involved = shares.iter().take_while(|share| share.1 > 0.3).take(5);
        let names = involved.map(|(index, _)| self.layout.coordinate_name(*index)).collect();
        let finding = Finding::new(
            Severity::Problem,
            "the posterior is flat along a direction: it is improper, or a combination of parameters is not identified",
            "give every parameter a proper prior, or remove the parameters that the data do not determine",
        );
        self.record.findings.push(finding.about(names));
    }
}

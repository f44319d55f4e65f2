//! Errors of means and standard deviations, in standard deviations of a reference.

use crate::error::Error;

/// The means and the standard deviations of all parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments<'a> {
    /// The mean of each parameter.
    pub mean: &'a [f64],
    /// The standard deviation of each parameter.
    pub sd: &'a [f64],
}

/// The errors of the moments of each parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentErrors {
    /// The errors (mean − reference mean)/reference sd.
    pub mean: Vec<f64>,
    /// The errors (sd − reference sd)/reference sd.
    pub sd: Vec<f64>,
}

impl MomentErrors {
    /// Returns the largest absolute error of the means and that of the standard deviations, or NaN if an error is NaN.
    pub fn largest(&self) -> (f64, f64) {
        let largest = |errors: &[f64]| match errors.iter().any(|error| error.is_nan()) {
            true => f64::NAN,
            false => errors.iter().fold(0.0, |largest: f64, error| largest.max(error.abs())),
        };
        (largest(&self.mean), largest(&self.sd))
    }
}

/// Compares means and standard deviations with those of a reference.
///
/// # Errors
///
/// Returns an error if the slices differ in length.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::distance::{Moments, moment_errors};
///
/// let found = Moments { mean: &[1.0, 2.0], sd: &[1.0, 3.0] };
/// let reference = Moments { mean: &[0.0, 4.0], sd: &[2.0, 2.0] };
/// let errors = moment_errors(found, reference).unwrap();
/// assert_eq!((errors.mean, errors.sd), (vec![0.5, -1.0], vec![-0.5, 0.5]));
/// ```
pub fn moment_errors(found: Moments<'_>, reference: Moments<'_>) -> Result<MomentErrors, Error> {
    let parameters = reference.mean.len();
    let slices =
        [("means", found.mean), ("standard deviations", found.sd), ("reference standard deviations", reference.sd)];
    for (what, slice) in slices {
        if slice.len() != parameters {
            return Err(Error::Length { what, found: slice.len(), expected: parameters, per: "reference mean" });
        }
    }
    let errors = |found: &[f64], reference_values: &[f64]| -> Vec<f64> {
        let pairs = found.iter().zip(reference_values).zip(reference.sd);
        pairs.map(|((found, reference), sd)| (found - reference) / sd).collect()
    };
    Ok(MomentErrors { mean: errors(found.mean, reference.mean), sd: errors(found.sd, reference.sd) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_reference_deviations() {
        let reference = Moments { mean: &[0.0, 4.0], sd: &[2.0, 2.0] };
        let found = moment_errors(Moments { mean: &[1.0, 2.0], sd: &[1.0, 3.0] }, reference).unwrap();
        assert_eq!(found, MomentErrors { mean: vec![0.5, -1.0], sd: vec![-0.5, 0.5] });
        assert_eq!(found.largest(), (1.0, 0.5));
        assert!(moment_errors(Moments { mean: &[1.0], sd: &[1.0] }, reference).is_err());
        let nan = MomentErrors { mean: vec![f64::NAN, 1.0], sd: vec![0.0] };
        assert!(nan.largest().0.is_nan());
    }
}

//! Errors of means and standard deviations, in the reference's standard deviations.

use crate::error::Error;

/// Errors of moments, parameter by parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct MomentErrors {
    /// (mean − reference mean)/reference sd.
    pub mean: Vec<f64>,
    /// (sd − reference sd)/reference sd.
    pub sd: Vec<f64>,
}

impl MomentErrors {
    /// The largest error of a mean and of a standard deviation, without sign; NaN if one is.
    pub fn largest(&self) -> (f64, f64) {
        let largest = |errors: &[f64]| match errors.iter().any(|error| error.is_nan()) {
            true => f64::NAN,
            false => errors.iter().fold(0.0, |most: f64, error| most.max(error.abs())),
        };
        (largest(&self.mean), largest(&self.sd))
    }
}

/// Compares means and standard deviations, each a slice over the parameters, with those of a reference.
pub fn moment_errors(found: (&[f64], &[f64]), reference: (&[f64], &[f64])) -> Result<MomentErrors, Error> {
    let parameters = reference.0.len();
    let parts = [("means", found.0), ("standard deviations", found.1), ("reference standard deviations", reference.1)];
    for (what, part) in parts {
        if part.len() != parameters {
            return Err(Error::Length { what, found: part.len(), expected: parameters, per: "reference mean" });
        }
    }
    let errors = |found: &[f64], reference_values: &[f64]| -> Vec<f64> {
        let pairs = found.iter().zip(reference_values).zip(reference.1);
        pairs.map(|((found, reference), sd)| (found - reference) / sd).collect()
    };
    Ok(MomentErrors { mean: errors(found.0, reference.0), sd: errors(found.1, reference.1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_reference_deviations() {
        let found = moment_errors((&[1.0, 2.0], &[1.0, 3.0]), (&[0.0, 4.0], &[2.0, 2.0])).unwrap();
        assert_eq!(found, MomentErrors { mean: vec![0.5, -1.0], sd: vec![-0.5, 0.5] });
        assert_eq!(found.largest(), (1.0, 0.5));
        assert!(moment_errors((&[1.0], &[1.0]), (&[0.0, 4.0], &[2.0, 2.0])).is_err());
        let nan = MomentErrors { mean: vec![f64::NAN, 1.0], sd: vec![0.0] };
        assert!(nan.largest().0.is_nan());
    }
}

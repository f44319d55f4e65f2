//! Coordinates of positive factors.

/// The coordinates in which a kernel moves positive factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FactorCoordinates {
    /// The factors themselves. A negative one is replaced by its absolute value after the step, which is the same as a
    /// density that is symmetric around zero.
    ///
    /// Source: Patterson & Teh (2013); Şimşekli et al. (2016), section 4.2.
    #[default]
    Mirrored,
    /// The logarithms of the factors. Steps are relative to the size of a factor, so that factors of different size mix
    /// equally well.
    Log,
}

impl FactorCoordinates {
    /// Returns the value of a coordinate.
    #[inline]
    pub(super) fn value(self, theta: f64) -> f64 {
        match self {
            Self::Mirrored => theta.abs().max(f64::MIN_POSITIVE),
            Self::Log => theta.exp().max(f64::MIN_POSITIVE),
        }
    }

    /// Returns the derivative of the value with respect to the coordinate.
    #[inline]
    pub(super) fn slope(self, theta: f64) -> f64 {
        match self {
            Self::Mirrored => 1.0_f64.copysign(theta),
            Self::Log => theta.exp(),
        }
    }

    /// Returns the coordinates of positive values.
    pub(super) fn coordinates(self, values: &[f64]) -> Vec<f64> {
        match self {
            Self::Mirrored => values.to_vec(),
            Self::Log => values.iter().map(|value| value.ln()).collect(),
        }
    }

    /// Returns the coordinates after mirroring.
    pub(super) fn mirrored(self, theta: &[f64]) -> Vec<f64> {
        match self {
            Self::Mirrored => theta.iter().map(|theta| theta.abs()).collect(),
            Self::Log => theta.to_vec(),
        }
    }
}

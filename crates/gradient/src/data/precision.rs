//! The float type of a computation.

use super::ElementType;

/// The float type in which a likelihood is computed.
///
/// # Examples
///
/// ```
/// use sgmcmc::data::{ElementType, Precision};
///
/// assert_eq!(Precision::from_element_type(ElementType::F32), Some(Precision::Single));
/// assert_eq!(Precision::from_element_type(ElementType::I64), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// Single precision, `f32`.
    Single,
    /// Double precision, `f64`.
    Double,
}

impl Precision {
    /// Returns the precision of a float type, or `None` for other types.
    pub fn from_element_type(element: ElementType) -> Option<Self> {
        match element {
            ElementType::F32 => Some(Self::Single),
            ElementType::F64 => Some(Self::Double),
            _ => None,
        }
    }
}

//! One draw of a chain.

/// One draw.
///
/// # Examples
///
/// See [`Sink`](crate::sink::Sink).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw<'a> {
    /// The iteration in which the draw was made, with burn-in. The first iteration is 1.
    pub iteration: u64,
    /// The values of the parameters.
    pub values: &'a [f64],
    /// The weight of the draw: the step size of its iteration.
    pub weight: f64,
    /// The estimate of the log density that was computed with the gradient of the iteration.
    pub log_posterior: f64,
    /// The statistics of the draw, in the order of their names in the [`Schema`](crate::sink::Schema).
    pub stats: &'a [f64],
}

//! Functions of tensors that models often need: linear predictors, elements of parameters, dependent bounds, and
//! hierarchies that are not centered.

use std::ops::Range;

use burn_tensor::activation::{log_sigmoid, sigmoid};
use burn_tensor::{Int, Tensor};

/// Returns the linear predictor `x β` of each row, for covariates of shape `[n, k]`.
///
/// `beta` has shape `[k]`, or `[k, m]` for `m` responses; the result has shape `[n]` or `[n, m]`.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let x = array(vec![1.0, 2.0, 3.0, 4.0], [2, 2])?;
/// let mean = linear(x, array(vec![10.0, 1.0], [2])?);
/// assert_eq!(mean.into_data().iter::<f64>().collect::<Vec<_>>(), [12.0, 34.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn linear<const D: usize>(x: Tensor<2>, beta: Tensor<D>) -> Tensor<D> {
    let [covariates, coefficients] = [x.dims()[1], beta.dims()[0]];
    assert!(
        covariates == coefficients,
        "linear: there are {covariates} columns of x but {coefficients} coefficients: the first axis of the coefficients \
         must have one entry per column"
    );
    match D {
        1 => {
            let beta: Tensor<1> = Tensor::from_bridge(beta.into_bridge());
            Tensor::from_bridge(x.matmul(beta.unsqueeze_dim(1)).squeeze_dim::<1>(1).into_bridge())
        }
        2 => {
            let beta: Tensor<2> = Tensor::from_bridge(beta.into_bridge());
            Tensor::from_bridge(x.matmul(beta).into_bridge())
        }
        _ => panic!("linear: the coefficients have rank {D}: use shape [k], or [k, m] for m responses"),
    }
}

/// Returns the dot product of each row of `a` with the same row of `b`, for tensors of shape `[n, k]`: the linear predictor of
/// coefficients that differ between observations.
///
/// # Examples
///
/// ```
/// use sgmcmc::array;
/// use sgmcmc::functions::rows_dot;
///
/// let x = array(vec![1.0, 2.0, 3.0, 4.0], [2, 2])?;
/// let beta = array(vec![1.0, 1.0, 0.0, 10.0], [2, 2])?;
/// assert_eq!(rows_dot(x, beta).into_data().iter::<f64>().collect::<Vec<_>>(), [3.0, 40.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn rows_dot(a: Tensor<2>, b: Tensor<2>) -> Tensor<1> {
    let (of_a, of_b) = (a.dims(), b.dims());
    assert!(
        of_a[1] == of_b[1],
        "rows_dot: the rows must have the same number of entries, not {} and {}",
        of_a[1],
        of_b[1]
    );
    (a * b).sum_dim(1).squeeze_dim::<1>(1)
}

/// Selections of elements, by position.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
///
/// let beta = array(vec![1.0, 2.0, 3.0], [3])?;
/// assert_eq!(beta.at(2).into_scalar::<f64>(), 3.0);
/// assert_eq!(beta.part(1..3).dims(), [2]);
/// let group = array(vec![0_i64, 0, 2, 1], [4])?;
/// assert_eq!(beta.by(group).into_data().iter::<f64>().collect::<Vec<_>>(), [1.0, 1.0, 3.0, 2.0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub trait Elements {
    /// Returns the entry of the first axis at `index`. The first axis of the result has length one, so that an element of a
    /// vector is a scalar.
    ///
    /// # Panics
    ///
    /// Panics if there is no such entry.
    fn at(&self, index: usize) -> Self;

    /// Returns a range of entries of the first axis.
    ///
    /// # Panics
    ///
    /// Panics if the range is empty or exceeds the axis.
    fn part(&self, range: Range<usize>) -> Self;

    /// Returns the entries of the first axis at the positions `index`, for example the effect of the group of each
    /// observation.
    fn by(&self, index: Tensor<1, Int>) -> Self;
}

impl<const D: usize> Elements for Tensor<D> {
    fn at(&self, index: usize) -> Self {
        let entries = self.dims()[0];
        assert!(index < entries, "at: there is no entry {index}: the tensor has {entries} (entries count from 0)");
        self.clone().narrow(0, index, 1)
    }

    fn part(&self, range: Range<usize>) -> Self {
        let entries = self.dims()[0];
        assert!(
            range.start < range.end && range.end <= entries,
            "part: there are no entries {range:?}: the tensor has {entries} (entries count from 0)"
        );
        self.clone().narrow(0, range.start, range.end - range.start)
    }

    fn by(&self, index: Tensor<1, Int>) -> Self {
        self.clone().select(0, index)
    }
}

/// A transformed parameter, with the logarithm of the Jacobian of its transform.
///
/// # Examples
///
/// ```
/// use sgmcmc::functions::above;
///
/// let sum = above(sgmcmc::zeros([1]), sgmcmc::full([1], 2.0));
/// assert_eq!(sum.value.into_scalar::<f64>(), 3.0); // 2 + e⁰
/// ```
#[derive(Clone, Debug)]
pub struct Transformed<const D: usize> {
    /// The transformed values.
    pub value: Tensor<D>,
    /// The sum of log |∂value/∂y|, a tensor of shape `[1]`. Add it to the log density if the prior is that of the value.
    pub log_jacobian: Tensor<1>,
}

/// Transforms a parameter without constraint to values between two bounds, which can be other parameters: low + (high −
/// low) σ(y).
///
/// If the value should be uniform between the bounds, declare the prior of y as standard logistic and ignore the Jacobian.
/// For another prior of the value add its log density and the Jacobian with
/// [`Model::factor`](crate::Model::factor).
///
/// # Examples
///
/// ```
/// use sgmcmc::distributions::*;
/// use sgmcmc::functions::between;
/// use sgmcmc::prelude::*;
///
/// // limit ~ Gamma(3, 1); share ~ N(1, 1) restricted to 0 < share < limit, up to a constant
/// #[derive(TensorTree)]
/// struct Limited {
///     #[tree(positive)]
///     limit: Tensor<1>,
///     y: Tensor<1>,
/// }
///
/// let model = Model::density(|p: Limited| {
///     let share = between(p.y, 0.0, p.limit.clone());
///     Gamma::new(3.0, 1.0).log_prob(p.limit) + Normal::new(1.0, 1.0).log_prob(share.value) + share.log_jacobian
/// });
/// # let _ = model;
/// ```
pub fn between<const D: usize>(y: Tensor<D>, low: impl Into<Bound<D>>, high: impl Into<Bound<D>>) -> Transformed<D> {
    let (low, high) = (low.into(), high.into());
    let width = match (&low, &high) {
        (Bound::Number(low), Bound::Number(high)) => y.ones_like() * (high - low),
        (Bound::Number(low), Bound::Tensor(high)) => high.clone() - *low,
        (Bound::Tensor(low), Bound::Number(high)) => low.clone().neg() + *high,
        (Bound::Tensor(low), Bound::Tensor(high)) => high.clone() - low.clone(),
    };
    let slope = log_sigmoid(y.clone()) + log_sigmoid(y.clone().neg()) + width.clone().log();
    Transformed { value: low.plus(width * sigmoid(y)), log_jacobian: slope.sum() }
}

/// Transforms a parameter without constraint to values above `low`, which can be another parameter: low + eʸ.
///
/// # Examples
///
/// ```
/// use sgmcmc::functions::above;
///
/// let transformed = above(sgmcmc::full([1], 1.0), 2.0);
/// assert_eq!(transformed.log_jacobian.into_scalar::<f64>(), 1.0);
/// ```
pub fn above<const D: usize>(y: Tensor<D>, low: impl Into<Bound<D>>) -> Transformed<D> {
    Transformed { value: low.into().plus(y.clone().exp()), log_jacobian: y.sum() }
}

/// Transforms a parameter without constraint to values below `high`, which can be another parameter: high − eʸ.
///
/// # Examples
///
/// ```
/// use sgmcmc::functions::below;
///
/// let transformed = below(sgmcmc::zeros([1]), 2.0);
/// assert_eq!(transformed.value.into_scalar::<f64>(), 1.0);
/// ```
pub fn below<const D: usize>(y: Tensor<D>, high: impl Into<Bound<D>>) -> Transformed<D> {
    Transformed { value: high.into().plus(y.clone().exp().neg()), log_jacobian: y.sum() }
}

/// A bound: a number, or a tensor such as another parameter.
///
/// # Examples
///
/// ```
/// use sgmcmc::functions::Bound;
///
/// assert!(matches!(Bound::<1>::from(0.5), Bound::Number(_)));
/// ```
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a bound is used once")]
pub enum Bound<const D: usize> {
    /// A number.
    Number(f64),
    /// A tensor that broadcasts against the values.
    Tensor(Tensor<D>),
}

impl<const D: usize> Bound<D> {
    fn plus(self, offset: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Number(number) => offset + number,
            Self::Tensor(tensor) => offset + tensor,
        }
    }
}

impl<const D: usize> From<f64> for Bound<D> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<const D: usize> From<i32> for Bound<D> {
    fn from(number: i32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl<const D: usize> From<Tensor<D>> for Bound<D> {
    fn from(tensor: Tensor<D>) -> Self {
        Self::Tensor(tensor)
    }
}

/// Returns the effects `loc + scale z` of a hierarchy that is not centered. With z ~ N(0, 1) the effects are N(loc, scale).
///
/// Sampling z in place of the effects avoids the funnel of a hierarchy whose groups have few observations.
///
/// # Examples
///
/// ```
/// use sgmcmc::functions::noncentered;
/// use sgmcmc::{full, ones};
///
/// let effects = noncentered(full([1], 5.0), full([1], 2.0), ones([3]));
/// assert_eq!(effects.into_data().iter::<f64>().collect::<Vec<_>>(), [7.0; 3]);
/// ```
pub fn noncentered<const D: usize>(loc: Tensor<D>, scale: Tensor<D>, z: Tensor<D>) -> Tensor<D> {
    loc + scale * z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{array, full};

    fn number(tensor: Tensor<1>) -> f64 {
        tensor.into_scalar::<f64>()
    }

    #[test]
    fn jacobians_are_those_of_differences() {
        let low = || full([1], -0.7);
        let high = || full([1], 2.3);
        type Transform = Box<dyn Fn(f64) -> Transformed<1>>;
        let transforms: [(&str, Transform); 5] = [
            ("between", Box::new(move |y| between(full([1], y), low(), high()))),
            ("between a number and a tensor", Box::new(move |y| between(full([1], y), -0.2, high()))),
            ("between numbers", Box::new(move |y| between(full([1], y), -0.2, 1))),
            ("above", Box::new(move |y| above(full([1], y), low()))),
            ("below", Box::new(move |y| below(full([1], y), high()))),
        ];
        for (name, transform) in &transforms {
            for y in [-2.5, -0.3, 0.0, 1.2, 3.0] {
                let step = 1e-5;
                let slope = (number(transform(y + step).value) - number(transform(y - step).value)) / (2.0 * step);
                let found = number(transform(y).log_jacobian);
                assert!((found - slope.abs().ln()).abs() < 1e-8, "{name} at {y}: {found} and {}", slope.abs().ln());
            }
        }
    }

    #[test]
    fn bounds_hold_and_broadcast() {
        let y = array(vec![-3.0, 0.0, 4.0], [3]).unwrap();
        let transformed = between(y, full([1], 1.0), full([1], 2.0));
        assert!(transformed.value.into_data().iter::<f64>().all(|x| x > 1.0 && x < 2.0));
        // Three equal widths: the sum over the elements.
        let one = between(full([1], 0.0), full([1], 1.0), full([1], 3.0)).log_jacobian;
        let three = between(full([3], 0.0), full([1], 1.0), full([1], 3.0)).log_jacobian;
        assert!((number(three) - 3.0 * number(one)).abs() < 1e-12);
    }

    #[test]
    fn predictors_of_several_responses() {
        let x = array(vec![1.0, 2.0, 3.0, 4.0], [2, 2]).unwrap();
        let beta = array(vec![1.0, 0.0, 0.5, 2.0], [2, 2]).unwrap();
        let found: Vec<f64> = linear(x, beta).into_data().iter::<f64>().collect();
        assert_eq!(found, [2.0, 4.0, 5.0, 8.0]);
    }
}

//! Detection of chains that diverge.

use sgmcmc_gradient::{Error, Layout, Result};

/// The largest absolute value of a coordinate. Larger values count as infinite.
const BOUND: f64 = 1e100;

/// The number of coordinates that are tested together.
const CHUNK: usize = 64;

/// Returns an error that names the first coordinate of `theta` that is not finite or beyond [`BOUND`].
pub(super) fn check_finite(theta: &[f64], layout: &Layout, iteration: u64) -> Result<()> {
    #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true of NaN too, by one comparison")]
    let bad = |value: &f64| !(value.abs() <= BOUND);
    // Chunks are tested without branches. Only a chunk with a bad value is searched value by value.
    let chunk = theta.chunks(CHUNK).position(|chunk| chunk.iter().fold(false, |found, value| found | bad(value)));
    match chunk.and_then(|chunk| theta.iter().skip(CHUNK * chunk).position(bad).map(|index| CHUNK * chunk + index)) {
        None => Ok(()),
        Some(index) => Err(divergence(theta, layout, index, iteration)),
    }
}

/// Returns the error for coordinate `index`. It shows the constrained value if the coordinate belongs to exactly one.
fn divergence(theta: &[f64], layout: &Layout, index: usize, iteration: u64) -> Error {
    let block = layout.blocks().iter().find(|block| block.range.contains(&index));
    let constrained = block.is_some_and(|block| block.constraint.is_some());
    let one_to_one = block.filter(|block| constrained && block.range.len() == block.values.len());
    let value = one_to_one.and_then(|block| {
        let value_index = block.values.start + index - block.range.start;
        layout.values(theta).ok().map(|values| values[value_index])
    });
    let what = if value.is_none() && constrained { "the unconstrained coordinate" } else { "the value" };
    let (element, value) = (layout.coordinate_name(index), value.unwrap_or(theta[index]));
    Error::Diverged { what, element, value, iteration, remedy: "use a smaller step size" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sgmcmc_gradient::Constraint;

    /// The error at coordinates that are `theta`, of a parameter of two values.
    fn error(constraint: Option<Constraint>, theta: &[f64]) -> Error {
        let layout = Layout::new([("x".into(), vec![2], constraint)]).unwrap();
        check_finite(theta, &layout, 7).unwrap_err()
    }

    #[test]
    fn the_value_is_named_and_not_its_logarithm() {
        let Error::Diverged { what, value, element, .. } = error(Some(Constraint::Positive), &[0.5, -1e200]) else {
            panic!("another error");
        };
        assert_eq!((what, value.to_bits(), &*element), ("the value", 0.0_f64.to_bits(), "x[1]"));
        let Error::Diverged { what, value, .. } = error(None, &[0.5, -1e200]) else { panic!("another error") };
        assert_eq!((what, value.to_bits()), ("the value", (-1e200_f64).to_bits()));
    }

    #[test]
    fn a_coordinate_without_a_value_of_its_own_is_named_as_such() {
        let Error::Diverged { what, value, .. } = error(Some(Constraint::Simplex), &[-1e200]) else {
            panic!("another error");
        };
        assert_eq!((what, value.to_bits()), ("the unconstrained coordinate", (-1e200_f64).to_bits()));
    }
}

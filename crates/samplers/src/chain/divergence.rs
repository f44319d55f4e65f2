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

//! The names of columns.

use std::collections::HashSet;

use sgmcmc_gradient::Layout;

use super::RENAMED;

/// Returns the names of the columns of values and the index of each value. The elements of a parameter are in
/// column-major order.
pub(super) fn value_columns(layout: &Layout) -> Vec<(String, usize)> {
    let mut used = HashSet::new();
    let mut columns = Vec::new();
    for block in layout.blocks() {
        let name = distinct(&plain(&block.name), &mut used);
        if block.shape == [1] {
            columns.push((name, block.values.start));
            continue;
        }
        let mut subscripts = vec![0; block.shape.len()];
        for _ in 0..block.values.len() {
            let flat = subscripts.iter().zip(&block.shape).fold(0, |flat, (subscript, size)| flat * size + subscript);
            let full = subscripts.iter().fold(name.clone(), |name, subscript| format!("{name}.{}", subscript + 1));
            columns.push((full, block.values.start + flat));
            for (subscript, size) in subscripts.iter_mut().zip(&block.shape) {
                *subscript += 1;
                if *subscript < *size {
                    break;
                }
                *subscript = 0;
            }
        }
    }
    columns
}

/// Returns the columns of sample statistics after `lp__`: the weight, the iteration, then `stats`.
pub(super) fn stat_columns(stats: &[String]) -> Vec<String> {
    let weight = if stats.iter().any(|name| name == "step_size") { "weight__" } else { "stepsize__" };
    let mut columns = vec![weight.to_owned(), "iteration__".to_owned()];
    let mut used: HashSet<String> =
        ["lp", "weight", "stepsize", "iteration"].iter().map(|name| (*name).to_owned()).collect();
    columns.extend(stats.iter().map(|name| match RENAMED.iter().find(|(ours, _)| ours == name) {
        Some((_, theirs)) => (*theirs).to_owned(),
        None => distinct(&plain(name), &mut used) + "__",
    }));
    columns
}

/// Returns a name of letters, digits and underscores that starts with a letter and does not end in an underscore,
/// because two underscores mark sample statistics.
fn plain(name: &str) -> String {
    let mut plain: String =
        name.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect();
    plain.truncate(plain.trim_end_matches('_').len());
    if !plain.starts_with(|first: char| first.is_ascii_alphabetic()) {
        plain.insert(0, 'x');
    }
    plain
}

/// Returns `name`, with a number appended if it is in use.
fn distinct(name: &str, used: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let candidates = std::iter::once(name.to_owned()).chain(numbered);
    candidates.into_iter().find(|candidate| used.insert(candidate.clone())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_column_major_and_distinct() {
        let shapes = [("W", vec![2, 2]), ("layer.bias", vec![1]), ("layer,bias", vec![1]), ("0", vec![1])];
        let layout = Layout::new(shapes.map(|(name, shape)| (name.to_owned(), shape, None))).unwrap();
        let columns = value_columns(&layout);
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["W.1.1", "W.2.1", "W.1.2", "W.2.2", "layer_bias", "layer_bias_2", "x0"]);
        assert_eq!(columns.iter().map(|(_, value)| *value).collect::<Vec<_>>(), [0, 2, 1, 3, 4, 5, 6]);
    }

    #[test]
    fn the_weight_is_renamed_if_there_is_a_step_size() {
        let names = |stats: &[&str]| stat_columns(&stats.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(names(&["alpha", "weight"]), ["stepsize__", "iteration__", "alpha__", "weight_2__"]);
        assert_eq!(names(&["step_size", "diverging"]), ["weight__", "iteration__", "stepsize__", "divergent__"]);
    }
}

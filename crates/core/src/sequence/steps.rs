//! Execution of a loop step by step.

use super::record::step_limit;
use super::{Scanned, trees};
use crate::tree::TensorTree;

/// Executes the body once for each step. While a model is checked, only the first steps are executed, and the last
/// output stands for those of the others.
pub(super) fn execute<S: TensorTree, X: TensorTree, Y: TensorTree>(
    mut state: S,
    sequences: &X,
    axis: usize,
    steps: usize,
    body: impl Fn(S, X) -> (S, Y),
) -> Scanned<S, Y> {
    let executed = step_limit(steps);
    let mut collected = trees::Collected::new(axis);
    let mut shapes = trees::shapes(&state);
    let mut last_output = None;
    for step in 0..executed {
        let before = if step == 0 { Some(trees::copy(&state)) } else { None };
        let (mut next, mut output) = body(state, trees::element(sequences, axis, step));
        let new = trees::shapes(&next);
        if let Some(initial) = before.filter(|_| shapes != new) {
            // The initial state is repeated to the shape of the others.
            trees::check_repeated(&shapes, &new);
            (next, output) = body(trees::repeated(&initial, &new), trees::element(sequences, axis, step));
            shapes.clone_from(&new);
        }
        trees::check_same(&shapes, &trees::shapes(&next));
        state = next;
        collected.push(&output);
        last_output = Some(output);
    }
    let Some(like) = last_output else { unreachable!("there is at least one step") };
    Scanned { last: state, outputs: collected.joined(&like, steps - executed) }
}

//! Reference evaluation of recurrences, one step after another.

use super::movement::Array;
use super::{Inputs, evaluate_nodes};
use crate::error::Result;
use crate::graph::Recurrence;

/// Returns the states before, between and after the steps: one row for each element, one column for each point in time.
pub(super) fn trajectory(recurrence: &Recurrence, inputs: &[Array<'_>]) -> Result<Vec<f64>> {
    let (steps, body) = (recurrence.steps(), recurrence.body());
    let (states, others) = inputs.split_at(recurrence.states().len());
    let (over_time, invariants) = others.split_at(recurrence.inputs().len());
    let columns = steps + 1;
    let mut values = vec![0.0; recurrence.width() * columns];
    let mut state: Vec<Vec<f64>> = states.iter().map(|state| state.values.to_vec()).collect();
    let mut write = |state: &[Vec<f64>], column: usize| {
        for (row, value) in state.iter().flatten().enumerate() {
            values[row * columns + column] = *value;
        }
    };
    write(&state, if recurrence.is_reversed() { steps } else { 0 });
    for position in 0..steps {
        let step = if recurrence.is_reversed() { steps - 1 - position } else { position };
        let now = |input: &Array<'_>| input.values.iter().skip(step).step_by(steps).copied().collect::<Vec<f64>>();
        let variables = state.iter().cloned().chain(over_time.iter().map(now));
        let variables = variables.chain(invariants.iter().map(|invariant| invariant.values.to_vec())).collect();
        let inputs = Inputs { variables, ..Inputs::default() };
        state = evaluate_nodes(body, &inputs, 0, recurrence.next())?.into_iter().map(|value| value.values).collect();
        write(&state, if recurrence.is_reversed() { step } else { step + 1 });
    }
    Ok(values)
}

//! Lowering of recurrences.

use super::{Lowering, Value};
use crate::error::Result;
use crate::graph::{NodeId, Number, Recurrence};
use crate::kernels::LANES;
use crate::program::instruction::Instruction;
use crate::program::scalars::Scalars;
use crate::program::scan::{Initial, Load, ScanOperands};
use crate::program::view::View;

impl Lowering<'_> {
    pub(super) fn scan(&mut self, id: NodeId, recurrence: &Recurrence, inputs: &[NodeId]) -> Result<Value> {
        let mut scalars = Scalars::new(recurrence)?;
        let values = inputs.iter().map(|input| self.value(*input)).collect::<Result<Vec<_>>>()?;
        let (states, steps) = (recurrence.states().len(), recurrence.inputs().len());
        let mut initial = Vec::new();
        for value in &values[..states] {
            initial.push(match value {
                Value::Number(number) => vec![Initial::Number(*number)],
                Value::View(view) => elements(view, None).into_iter().map(Initial::Load).collect(),
            });
        }
        let sizes: Vec<usize> =
            recurrence.states().iter().map(|state| recurrence.body().shape(*state).size()).collect();
        for (initial, size) in initial.iter_mut().zip(&sizes) {
            if let ([first @ Initial::Number(_)], size) = (initial.as_slice(), *size) {
                *initial = vec![first.clone(); size];
            }
        }
        let mut starts = vec![0];
        sizes.iter().for_each(|size| starts.push(starts[starts.len() - 1] + size));
        let mut state = vec![None; recurrence.width()];
        let (mut invariants, mut loads) = (vec![], vec![]);
        let first = scalars.numbers.len();
        let mut numbers: Vec<(usize, Number)> = Vec::new();
        let loads_of = |(variable, value): (usize, &Value)| match value {
            Value::View(view) if variable >= states => {
                elements(view, (variable < states + steps).then(|| view.dims.len() - 1))
            }
            Value::View(_) | Value::Number(_) => vec![],
        };
        let known: Vec<Vec<Load>> = values.iter().enumerate().map(loads_of).collect();
        for (position, [variable, element]) in scalars.elements.iter().enumerate() {
            let register = first + position;
            if *variable < states {
                state[starts[*variable] + element] = Some(register);
                continue;
            }
            let over_time = *variable < states + steps;
            match &values[*variable] {
                Value::Number(number) => numbers.push((register, Number(*number))),
                Value::View(_) => {
                    let load = known[*variable][*element].clone();
                    if over_time { &mut loads } else { &mut invariants }.push(Load { register, ..load });
                }
            }
        }
        scalars.constants.extend(numbers);
        let scratch = self.new_buffer(false, scalars.registers() * LANES, false);
        let out = self.buffer_for(id);
        let operands = ScanOperands {
            scalars,
            steps: recurrence.steps(),
            reverse: recurrence.is_reversed(),
            rows: self.graph.shape(id).rows,
            initial: initial.concat(),
            state,
            invariants,
            inputs: loads,
            scratch,
            out,
        };
        self.emit(id, Instruction::Scan(Box::new(operands)));
        Ok(self.whole(out, id))
    }
}

/// Returns a load for each element of a view. The axis `time` is not an axis of the elements.
fn elements(view: &View, time: Option<usize>) -> Vec<Load> {
    let mut starts = vec![view.offset];
    for (axis, (size, stride)) in view.dims.iter().zip(&view.strides).enumerate() {
        if Some(axis) != time {
            let moved = |start: &usize| {
                let start = *start;
                (0..*size as isize).map(move |i| start.wrapping_add_signed(stride * i)).collect::<Vec<_>>()
            };
            starts = starts.iter().flat_map(moved).collect();
        }
    }
    let stride = time.map_or(0, |time| view.strides[time]);
    let load = |start: usize| Load { register: 0, buffer: view.buffer, rows: view.rows, start, stride };
    starts.into_iter().map(load).collect()
}

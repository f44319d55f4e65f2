//! Operands of the instruction that executes a recurrence.

use super::scalars::Scalars;
use super::view::BufferId;

/// A number that is loaded to a register.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Load {
    pub(crate) register: usize,
    pub(crate) buffer: BufferId,
    /// True if each observation has its own number.
    pub(crate) rows: bool,
    /// The feature of the first step.
    pub(crate) start: usize,
    /// The number of features between two steps.
    pub(crate) stride: isize,
}

/// The initial value of an element of the states.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Initial {
    /// The same number for all observations.
    Number(f64),
    /// A number in a buffer.
    Load(Load),
}

/// The operands of a recurrence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScanOperands {
    pub(crate) scalars: Scalars,
    pub(crate) steps: usize,
    /// True if the last step is executed first.
    pub(crate) reverse: bool,
    /// True if each observation has its own states.
    pub(crate) rows: bool,
    /// The initial value of each element of the states.
    pub(crate) initial: Vec<Initial>,
    /// The register of each element of the states, if the step reads it.
    pub(crate) state: Vec<Option<usize>>,
    /// The numbers that are loaded before the first step.
    pub(crate) invariants: Vec<Load>,
    /// The numbers that are loaded for each step.
    pub(crate) inputs: Vec<Load>,
    /// The scratch buffer for the registers.
    pub(crate) scratch: BufferId,
    /// The states, one feature for each element and each point in time.
    pub(crate) out: BufferId,
}

impl ScanOperands {
    /// Returns all loads.
    pub(crate) fn loads(&self) -> impl Iterator<Item = &Load> {
        let initial = self.initial.iter().filter_map(|initial| match initial {
            Initial::Load(load) => Some(load),
            Initial::Number(_) => None,
        });
        initial.chain(&self.invariants).chain(&self.inputs)
    }

    /// Returns all buffers.
    pub(crate) fn buffers_mut(&mut self) -> Vec<&mut BufferId> {
        let Self { initial, invariants, inputs, scratch, out, .. } = self;
        let initial = initial.iter_mut().filter_map(|initial| match initial {
            Initial::Load(load) => Some(load),
            Initial::Number(_) => None,
        });
        initial.chain(invariants).chain(inputs).map(|load| &mut load.buffer).chain([scratch, out]).collect()
    }

    /// Returns the column of the states before step `step`, and after it.
    pub(crate) fn columns(&self, step: usize) -> [usize; 2] {
        if self.reverse { [step + 1, step] } else { [step, step + 1] }
    }
}

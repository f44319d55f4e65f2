//! What must be the same in every call of the closures.
//!
//! Operations, their scalars and constants must be; sizes must be fixed or a multiple of the number of rows, in one
//! axis of a tensor at most. That axis is the axis of the rows.

use std::collections::BTreeMap;
use std::fmt;

use burn_ir::{BaseOperationIr, IrVisitorMut, OperationIr, ScalarIr, TensorIr};
use burn_tensor::{Shape, Slice, TensorData};

use super::recording::{Outputs, Recording};
use crate::engine::compiled::reason::Reason;

/// A size of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::compiled) enum Dim {
    /// The same whatever the number of rows.
    Fixed(usize),
    /// So many for each row.
    Rows(usize),
}

impl Dim {
    fn at(self, rows: usize) -> usize {
        match self {
            Self::Fixed(size) => size,
            Self::Rows(each) => each * rows,
        }
    }
}

/// What every call of the closures does.
#[derive(Debug)]
pub(in crate::engine::compiled) struct Signature {
    operations: Vec<OperationIr>,
    /// The sizes of each tensor.
    pub(in crate::engine::compiled) dims: Vec<Vec<Dim>>,
    values: BTreeMap<usize, TensorData>,
    outputs: Outputs<usize>,
}

impl Signature {
    /// What two calls have in common, if they do the same; else `reason` with what they do differently.
    pub(super) fn new(few: &Recording, many: &Recording, reason: fn(&str) -> Reason) -> Result<Self, Reason> {
        let mut signature = Self {
            operations: few.operations.iter().map(masked).collect(),
            dims: vec![],
            values: few.values.clone(),
            outputs: few.outputs,
        };
        signature.same_operations(many, reason)?;
        for (number, (a, b)) in few.shapes.iter().zip(&many.shapes).enumerate() {
            let dims = dims(a, b, few.rows, many.rows).map_err(|wrong| {
                let operation = signature.maker(number);
                match wrong {
                    Wrong::Twice => Reason::mixed_rows(&operation),
                    Wrong::Size => reason(&format!("a size of the result of `{operation}`")),
                }
            })?;
            signature.dims.push(dims);
        }
        signature.same_values(many, reason)?;
        Ok(signature)
    }

    /// An error unless a call with another number of rows did the same.
    pub(super) fn check_at(&self, other: &Recording) -> Result<(), Reason> {
        let reason = Reason::depends_on_rows;
        self.same_operations(other, reason)?;
        for (number, (dims, shape)) in self.dims.iter().zip(&other.shapes).enumerate() {
            if !dims.iter().map(|dim| dim.at(other.rows)).eq(shape.iter().copied()) {
                return Err(reason(&format!("a size of the result of `{}`", self.maker(number))));
            }
        }
        self.same_values(other, reason)
    }

    fn same_operations(&self, other: &Recording, reason: fn(&str) -> Reason) -> Result<(), Reason> {
        for (known, found) in self.operations.iter().zip(&other.operations) {
            let found = masked(found);
            if *known != found {
                let (known, found) = (name_of(known), name_of(&found));
                return Err(reason(&if known == found {
                    format!("a number in `{known}`")
                } else {
                    format!("whether `{known}` or `{found}` is computed")
                }));
            }
        }
        if self.operations.len() != other.operations.len() || self.outputs != other.outputs {
            return Err(reason("how many operations are computed"));
        }
        Ok(())
    }

    fn same_values(&self, other: &Recording, reason: fn(&str) -> Reason) -> Result<(), Reason> {
        let different = || Err(reason("a tensor made inside the closure from numbers"));
        if !self.values.keys().eq(other.values.keys()) {
            return different();
        }
        for (known, found) in self.values.values().zip(other.values.values()) {
            let same = known.dtype() == found.dtype()
                && if known.shape() == found.shape() {
                    known.as_bytes() == found.as_bytes()
                } else {
                    // More rows of the same: allowed if there is one value only.
                    matches!((only(known), only(found)), (Some(a), Some(b)) if a == b)
                };
            if !same {
                return different();
            }
        }
        Ok(())
    }

    /// The name of the operation whose result is tensor `number`.
    fn maker(&self, number: usize) -> String {
        let makes = |operation: &&OperationIr| operation.outputs().any(|tensor| tensor.id.value() == number as u64);
        self.operations.iter().find(makes).map_or_else(|| "a constant".into(), name_of)
    }
}

/// The bytes all elements have, if they are the same.
fn only(data: &TensorData) -> Option<&[u8]> {
    let mut elements = data.as_bytes().chunks_exact(data.dtype().size());
    let first = elements.next()?;
    elements.all(|element| element == first).then_some(first)
}

enum Wrong {
    /// Two axes are those of the rows.
    Twice,
    /// A size is neither fixed nor a multiple of the number of rows.
    Size,
}

fn dims(few: &[usize], many: &[usize], rows_few: usize, rows_many: usize) -> Result<Vec<Dim>, Wrong> {
    let dim = |(a, b): (&usize, &usize)| match (*a, *b) {
        (a, b) if a == b => Ok(Dim::Fixed(a)),
        (a, b) if a % rows_few == 0 && a / rows_few * rows_many == b => Ok(Dim::Rows(a / rows_few)),
        _ => Err(Wrong::Size),
    };
    let dims = few.iter().zip(many).map(dim).collect::<Result<Vec<_>, _>>()?;
    let rows = dims.iter().filter(|dim| matches!(dim, Dim::Rows(_))).count();
    if rows > 1 { Err(Wrong::Twice) } else { Ok(dims) }
}

/// The name of an operation in Burn's list.
pub(in crate::engine::compiled) fn name_of(operation: &impl fmt::Debug) -> String {
    // `NumericFloat(F64, MulScalar(ScalarOpIr { … }))`: the name before that of the structure.
    let text = format!("{operation:?}");
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = "an operation";
    for word in words {
        if word.ends_with("Ir") {
            break;
        }
        name = word;
    }
    name.to_owned()
}

/// The operation without what may differ from call to call: sizes and what follows from them.
fn masked(operation: &OperationIr) -> OperationIr {
    let mut operation = operation.clone();
    if let OperationIr::BaseFloat(base) | OperationIr::BaseInt(base) | OperationIr::BaseBool(base) = &mut operation {
        match base {
            BaseOperationIr::Slice(slice) => whole(&mut slice.ranges, &slice.tensor),
            BaseOperationIr::SliceAssign(slice) => whole(&mut slice.ranges, &slice.tensor),
            BaseOperationIr::RepeatDim(repeat) => repeat.times = 0,
            _ => {}
        }
    }
    operation.visit_mut(&mut Mask);
    operation
}

/// Writes ranges that are all of their axis in one way.
fn whole(ranges: &mut [Slice], tensor: &TensorIr) {
    for (range, size) in ranges.iter_mut().zip(tensor.shape.iter()) {
        if is_whole(range, *size) {
            *range = Slice::full();
        }
    }
}

/// Whether `range` is all of an axis of this size, in order.
pub(in crate::engine::compiled) fn is_whole(range: &Slice, size: usize) -> bool {
    range.step == 1 && range.to_range(size) == (0..size)
}

struct Mask;

impl IrVisitorMut for Mask {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        tensor.shape = Shape::from(vec![0; tensor.shape.len()]);
    }

    fn visit_scalar_mut(&mut self, scalar: &mut ScalarIr) {
        // By bits, so that NaN is the same as NaN.
        if let ScalarIr::Float(value) = scalar {
            *scalar = ScalarIr::UInt(value.to_bits());
        }
    }
}

//! The properties that all calls of the closures must have in common.
//!
//! The operations, their scalars and constants must be the same. Each size of a tensor must be fixed, or proportional
//! to the number of observations. At most one axis of a tensor may have a proportional size; it is the axis of the
//! observations.

use std::collections::BTreeMap;
use std::fmt;

use burn_ir::{BaseOperationIr, IrVisitorMut, OperationIr, ScalarIr, TensorIr};
use burn_tensor::{Shape, Slice, TensorData};

use super::recording::{Outputs, Recording};
use crate::engine::compiled::compile_error::CompileError;
use crate::sequence::Scan;

/// A size of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine::compiled) enum Dim {
    /// A size that does not depend on the number of observations.
    Fixed(usize),
    /// A multiple of the number of observations.
    Rows(usize),
}

impl Dim {
    /// Returns the size for this number of observations.
    fn size(self, rows: usize) -> usize {
        match self {
            Self::Fixed(size) => size,
            Self::Rows(each) => each * rows,
        }
    }
}

/// The operations, constants and sizes that all calls of the closures have in common.
#[derive(Clone, Debug)]
pub(in crate::engine::compiled) struct Signature {
    operations: Vec<OperationIr>,
    /// The sizes of each tensor.
    pub(in crate::engine::compiled) dims: Vec<Vec<Dim>>,
    values: BTreeMap<usize, TensorData>,
    outputs: Outputs<usize>,
    scans: Vec<Scan<usize>>,
}

impl Signature {
    /// Returns the common signature of two recordings.
    ///
    /// # Errors
    ///
    /// Returns `error` with a description of the first difference.
    pub(super) fn new(
        few: &Recording,
        many: &Recording,
        error: fn(&str) -> CompileError,
    ) -> Result<Self, CompileError> {
        let mut signature = Self {
            operations: few.operations.iter().map(masked).collect(),
            dims: vec![],
            values: few.values.clone(),
            outputs: few.outputs,
            scans: few.scans.clone(),
        };
        signature.check_operations(many, error)?;
        for (number, (a, b)) in few.shapes.iter().zip(&many.shapes).enumerate() {
            let dims = dims(a, b, few.rows, many.rows).map_err(|dim_error| {
                let operation = signature.producer(number);
                match dim_error {
                    DimError::TwoRowAxes => CompileError::mixed_rows(&operation),
                    DimError::NotProportional => error(&format!("a size of the result of `{operation}`")),
                }
            })?;
            signature.dims.push(dims);
        }
        signature.check_values(many, error)?;
        Ok(signature)
    }

    /// Checks that a recording with another number of observations has this signature.
    ///
    /// # Errors
    ///
    /// Returns an error that describes the first difference.
    pub(super) fn check_same(&self, other: &Recording) -> Result<(), CompileError> {
        let error = CompileError::depends_on_rows;
        self.check_operations(other, error)?;
        for (number, (dims, shape)) in self.dims.iter().zip(&other.shapes).enumerate() {
            if !dims.iter().map(|dim| dim.size(other.rows)).eq(shape.iter().copied()) {
                return Err(error(&format!("a size of the result of `{}`", self.producer(number))));
            }
        }
        self.check_values(other, error)
    }

    /// Checks that the operations and their scalars are the same.
    fn check_operations(&self, other: &Recording, error: fn(&str) -> CompileError) -> Result<(), CompileError> {
        for (known, found) in self.operations.iter().zip(&other.operations) {
            let found = masked(found);
            if *known != found {
                let (known, found) = (name_of(known), name_of(&found));
                return Err(error(&if known == found {
                    format!("a number in `{known}`")
                } else {
                    format!("whether `{known}` or `{found}` is computed")
                }));
            }
        }
        if self.operations.len() != other.operations.len() || self.outputs != other.outputs {
            return Err(error("how many operations are computed"));
        }
        let steps = |scans: &[Scan<usize>]| scans.iter().map(|scan| scan.steps).collect::<Vec<_>>();
        if steps(&self.scans) != steps(&other.scans) {
            // The number of steps is the number of observations.
            return Err(CompileError::mixed_rows("scan"));
        }
        if self.scans != other.scans {
            return Err(error("a loop"));
        }
        Ok(())
    }

    /// Checks that the constants are the same.
    fn check_values(&self, other: &Recording, error: fn(&str) -> CompileError) -> Result<(), CompileError> {
        let different = || Err(error("a tensor made inside the closure from numbers"));
        if !self.values.keys().eq(other.values.keys()) {
            return different();
        }
        for (known, found) in self.values.values().zip(other.values.values()) {
            let same = known.dtype() == found.dtype()
                && if known.shape() == found.shape() {
                    known.as_bytes() == found.as_bytes()
                } else {
                    // The sizes may differ if all elements have the same value.
                    matches!((common_element(known), common_element(found)), (Some(a), Some(b)) if a == b)
                };
            if !same {
                return different();
            }
        }
        Ok(())
    }

    /// Returns the name of the operation with tensor `number` as its result.
    fn producer(&self, number: usize) -> String {
        let produces = |operation: &&OperationIr| operation.outputs().any(|tensor| tensor.id.value() == number as u64);
        self.operations.iter().find(produces).map_or_else(|| "a constant".into(), name_of)
    }
}

/// Returns the bytes of an element if all elements are equal.
fn common_element(data: &TensorData) -> Option<&[u8]> {
    let mut elements = data.as_bytes().chunks_exact(data.dtype().size());
    let first = elements.next()?;
    elements.all(|element| element == first).then_some(first)
}

/// The reasons why a shape is invalid.
enum DimError {
    /// Two axes have sizes proportional to the number of observations.
    TwoRowAxes,
    /// A size is neither fixed nor proportional to the number of observations.
    NotProportional,
}

/// Determines the sizes of a tensor from its shapes at two numbers of observations.
fn dims(few: &[usize], many: &[usize], rows_few: usize, rows_many: usize) -> Result<Vec<Dim>, DimError> {
    let dim = |(a, b): (&usize, &usize)| match (*a, *b) {
        (a, b) if a == b => Ok(Dim::Fixed(a)),
        (a, b) if a % rows_few == 0 && a / rows_few * rows_many == b => Ok(Dim::Rows(a / rows_few)),
        _ => Err(DimError::NotProportional),
    };
    let dims = few.iter().zip(many).map(dim).collect::<Result<Vec<_>, _>>()?;
    let rows = dims.iter().filter(|dim| matches!(dim, Dim::Rows(_))).count();
    if rows > 1 { Err(DimError::TwoRowAxes) } else { Ok(dims) }
}

/// Returns Burn's name of an operation.
pub(in crate::engine::compiled) fn name_of(operation: &impl fmt::Debug) -> String {
    // In `NumericFloat(F64, MulScalar(ScalarOpIr { … }))`, the name precedes that of the structure.
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

/// Returns the operation without sizes, which may differ between calls.
fn masked(operation: &OperationIr) -> OperationIr {
    let mut operation = operation.clone();
    if let OperationIr::BaseFloat(base) | OperationIr::BaseInt(base) | OperationIr::BaseBool(base) = &mut operation {
        match base {
            BaseOperationIr::Slice(slice) => normalize_ranges(&mut slice.ranges, &slice.tensor),
            BaseOperationIr::SliceAssign(slice) => normalize_ranges(&mut slice.ranges, &slice.tensor),
            BaseOperationIr::RepeatDim(repeat) => repeat.times = 0,
            _ => {}
        }
    }
    operation.visit_mut(&mut Mask);
    operation
}

/// Replaces ranges that cover an axis by the full range.
fn normalize_ranges(ranges: &mut [Slice], tensor: &TensorIr) {
    for (range, size) in ranges.iter_mut().zip(tensor.shape.iter()) {
        if is_whole(range, *size) {
            *range = Slice::full();
        }
    }
}

/// Returns whether `range` covers an axis of this size, in order.
pub(in crate::engine::compiled) fn is_whole(range: &Slice, size: usize) -> bool {
    range.step == 1 && range.to_range(size) == (0..size)
}

/// Removes sizes from an operation, and makes its scalars comparable.
struct Mask;

impl IrVisitorMut for Mask {
    fn visit_tensor_mut(&mut self, tensor: &mut TensorIr) {
        tensor.shape = Shape::from(vec![0; tensor.shape.len()]);
    }

    fn visit_scalar_mut(&mut self, scalar: &mut ScalarIr) {
        // Floats are compared by their bits, so that NaN equals NaN.
        if let ScalarIr::Float(value) = scalar {
            *scalar = ScalarIr::UInt(value.to_bits());
        }
    }
}

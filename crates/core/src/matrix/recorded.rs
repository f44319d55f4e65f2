//! Functions of matrices on capture devices, where they are recorded as custom operations.

use burn_capture::CaptureBackend;
use burn_ir::{CustomOpIr, OperationIr, TensorIr};
use burn_router::RouterClient;
use burn_tensor::{Shape, Tensor};

/// A function of matrices that the compiled engine has an instruction for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatrixFunction {
    /// The Cholesky factor of a matrix.
    Cholesky,
    /// The solution X of L X = B.
    SolveLower,
    /// The solution X of Lᵀ X = B.
    SolveLowerTransposed,
}

impl MatrixFunction {
    const ALL: [Self; 3] = [Self::Cholesky, Self::SolveLower, Self::SolveLowerTransposed];

    /// Returns the name of the function in a recording.
    fn name(self) -> &'static str {
        match self {
            Self::Cholesky => "cholesky",
            Self::SolveLower => "solve_lower",
            Self::SolveLowerTransposed => "solve_lower_transposed",
        }
    }

    /// Returns the function with this name in a recording.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }
}

/// Records a function of `inputs` with a result of shape `dims`. Returns `None` if the inputs are not on a capture device.
pub(super) fn record<const D: usize>(
    function: MatrixFunction,
    inputs: &[Tensor<D>],
    dims: [usize; D],
) -> Option<Tensor<D>> {
    let first = inputs.first()?;
    let dtype = first.dtype();
    let client = first.clone().try_into_primitive::<CaptureBackend>().ok()?.client.clone();
    let primitives = inputs.iter().map(|input| input.clone().try_into_primitive::<CaptureBackend>());
    let inputs: Vec<TensorIr> =
        primitives.map(|input| input.map(|input| input.into_ir())).collect::<Result<_, _>>().ok()?;
    let output = TensorIr::uninit(client.create_empty_handle(), Shape::from(dims), dtype);
    let operation = OperationIr::Custom(CustomOpIr::new(function.name(), &inputs, &[output]));
    let recorded = client.register(operation).pop()?;
    Some(Tensor::from_primitive::<CaptureBackend>(recorded))
}

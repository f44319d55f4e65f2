//! The operations of a graph.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Recurrence;

/// A number that is part of an operation. Equality compares bits.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A slice of an axis: the indices `start`, `start + step`, …, `length` in number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisSlice {
    /// The first index.
    pub start: usize,
    /// The number of indices.
    pub length: usize,
    /// The difference between consecutive indices; negative for reverse order.
    pub step: isize,
}

impl AxisSlice {
    /// Creates the slice that covers an axis of this length.
    pub fn all(length: usize) -> Self {
        Self { start: 0, length, step: 1 }
    }

    /// Returns the indices in order.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        (0..self.length).map(move |i| self.start.wrapping_add_signed(self.step * i as isize))
    }
}

/// The operation of a node.
///
/// Shapes are those of one observation: the axis of the observations is not among the dimensions (see
/// [`Shape`](super::Shape)). Element-wise operations broadcast dimensions of size one, and align ranks from the right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A parameter leaf, by index.
    Parameter(usize),
    /// A data leaf, by index; its value for one observation.
    Data(usize),
    /// The weight of the observation in the sum.
    Weight,
    /// A constant, by index; see [`Graph::constant_values`](super::Graph::constant_values).
    Constant(usize),
    /// An array with the same number in all elements.
    Full(Number),
    /// A variable of the body of a loop, by index.
    Variable(usize),

    /// f(x).
    Unary(UnaryOp),
    /// f(a, b) of floats or integers.
    Binary(BinaryOp),
    /// A comparison of a and b; the result is a mask.
    Compare(CompareOp),
    /// A logical operation on masks.
    Logic(LogicOp),
    /// `mask ? a : b`, with the inputs in this order.
    Where,
    /// A conversion to another kind; true becomes one.
    Cast,

    /// A change of dimensions; the elements stay in row-major order.
    Reshape,
    /// A permutation: axis i of the result is axis `axes[i]` of the input.
    Permute(Vec<usize>),
    /// A slice of every axis.
    Slice(Vec<AxisSlice>),
    /// Zeros of larger dimensions with the input written to these slices: the adjoint of [`Slice`](Self::Slice).
    Unslice(Vec<AxisSlice>),
    /// A repetition of dimensions of size one.
    Expand,
    /// A concatenation of the inputs along an axis.
    Cat(usize),

    /// A reduction of one axis, which keeps size one.
    Reduce(ReduceOp, usize),
    /// Cumulative sums along an axis.
    CumSum {
        /// The axis.
        axis: usize,
        /// True if the sums start at the end of the axis.
        reverse: bool,
    },
    /// The sum over all observations. The result is shared by all of them.
    SumRows,
    /// log Σ exp(x) along an axis, which keeps size one.
    LogSumExp(usize),
    /// exp(x) / Σ exp(x) along an axis.
    Softmax(usize),
    /// x − log Σ exp(x) along an axis.
    LogSoftmax(usize),

    /// A matrix product of the last two axes; the other axes are broadcast.
    Matmul,
    /// The Cholesky factor of the matrices of the last two axes. Only the lower triangles are read. The factor of a
    /// matrix that is not positive definite is NaN.
    Cholesky,
    /// `(factor, adjoint)`: the adjoint of the lower triangle of the matrix with this Cholesky factor, whose adjoint is
    /// `adjoint`.
    CholeskyAdjoint,
    /// `(factor, rhs)`: the solution X of L X = B, or of Lᵀ X = B, where L is the lower triangle of the factor. The axes
    /// before the last two are broadcast.
    SolveLower {
        /// True if the equation is Lᵀ X = B.
        transposed: bool,
    },

    /// `(source, index)`: replaces the axis of `source`, which is shared by all observations, by the axes of `index`.
    Select(usize),
    /// `(values, index)`: sums `values` at `index` along an axis of this length. The adjoint of
    /// [`Select`](Self::Select).
    SelectAdjoint {
        /// The axis of the source.
        axis: usize,
        /// The length of the axis.
        length: usize,
    },
    /// `(source, index)`: element i of the axis is that of `source` at `index[i]`, for each index of the other axes.
    Gather(usize),
    /// `(values, index)`: sums `values` at `index` along an axis of this length. The adjoint of
    /// [`Gather`](Self::Gather).
    GatherAdjoint {
        /// The axis.
        axis: usize,
        /// The length of the axis in the source.
        length: usize,
    },

    /// `(initial states, inputs of the steps, invariants)`: the states of a loop before, between and after its steps, one
    /// row for each element of the states and one column for each point in time.
    Scan(Arc<Recurrence>),
}

/// Defines enums of operations with a constant `ALL` that lists every operation. Each number that is part of an
/// operation has an example value, which the list contains.
macro_rules! operations {
    ($(
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $variant:ident
                $({ $($(#[$field_doc:meta])* $field:ident: $type:ty = $example:expr),* $(,)? })?
                $(($payload:ty = $payload_example:expr))?
            ),* $(,)?
        }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum $name {
                $(
                    $(#[$doc])*
                    $variant $({ $($(#[$field_doc])* $field: $type),* })? $(($payload))?
                ),*
            }

            impl $name {
                /// All operations; those that contain numbers with example values.
                pub const ALL: &'static [Self] =
                    &[$(Self::$variant $({ $($field: $example),* })? $(($payload_example))?),*];
            }
        )*
    };
}

operations! {
    /// A function of one number.
    pub enum UnaryOp {
        /// The identity, which stops the gradient.
        Detach,
        /// −x.
        Neg,
        /// a x + b.
        Affine {
            /// The factor a.
            scale: Number = Number(-1.5),
            /// The summand b.
            shift: Number = Number(0.3),
        },
        /// x².
        Square,
        /// x^c.
        Power(Number = Number(3.0)),
        /// 1/x.
        Recip,
        /// √x.
        Sqrt,
        /// |x|.
        Abs,
        /// −1, 0 or 1; 0 where x is NaN.
        Sign,
        /// max(x, 0).
        Relu,
        /// eˣ.
        Exp,
        /// eˣ − 1.
        Expm1,
        /// log x.
        Log,
        /// log(1 + x).
        Log1p,
        /// 1/(1 + e⁻ˣ).
        Sigmoid,
        /// log(1/(1 + e⁻ˣ)).
        LogSigmoid,
        /// The error function.
        Erf,
        /// sin x.
        Sin,
        /// cos x.
        Cos,
        /// tan x.
        Tan,
        /// arcsin x.
        Asin,
        /// arccos x.
        Acos,
        /// arctan x.
        Atan,
        /// sinh x.
        Sinh,
        /// cosh x.
        Cosh,
        /// tanh x.
        Tanh,
        /// arsinh x.
        Asinh,
        /// arcosh x.
        Acosh,
        /// artanh x.
        Atanh,
        /// The largest integer not above x.
        Floor,
        /// The smallest integer not below x.
        Ceil,
        /// The nearest integer; ties round to even.
        Round,
        /// The integer part of x.
        Trunc,
        /// Tests whether x is NaN; the result is a mask.
        IsNan,
        /// Tests whether x is infinite; the result is a mask.
        IsInfinite,
        /// The logical negation of a mask.
        Not,
    }

    /// A function of two numbers.
    pub enum BinaryOp {
        /// a + b.
        Add,
        /// a − b.
        Sub,
        /// a b.
        Mul,
        /// a / b; the quotient of integers is truncated.
        Div,
        /// a − b ⌊a/b⌋: the remainder with the sign of b.
        Rem,
        /// aᵇ.
        Pow,
        /// The larger number; a if either is NaN.
        Max,
        /// The smaller number; a if either is NaN.
        Min,
        /// The angle of the point (b, a).
        Atan2,
    }

    /// A comparison of two numbers.
    pub enum CompareOp {
        /// a = b.
        Equal,
        /// a ≠ b.
        NotEqual,
        /// a > b.
        Greater,
        /// a ≥ b.
        GreaterEqual,
        /// a < b.
        Less,
        /// a ≤ b.
        LessEqual,
    }

    /// A logical operation on two masks.
    pub enum LogicOp {
        /// True if both are true.
        And,
        /// True if at least one is true.
        Or,
        /// True if exactly one is true.
        Xor,
    }

    /// A reduction along an axis.
    pub enum ReduceOp {
        /// The sum.
        Sum,
        /// The product.
        Prod,
        /// The maximum.
        Max,
        /// The minimum.
        Min,
    }
}

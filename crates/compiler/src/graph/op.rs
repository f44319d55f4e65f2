//! The operations of a graph.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A number that is part of an operation; equal if the bits are.
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

/// A part of an axis: `start`, `start + step`, … (`length` elements).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stretch {
    /// The first index.
    pub start: usize,
    /// How many.
    pub length: usize,
    /// From one to the next; negative to go backwards.
    pub step: isize,
}

impl Stretch {
    /// The whole of an axis of this length.
    pub fn all(length: usize) -> Self {
        Self { start: 0, length, step: 1 }
    }

    /// The indices, one after another.
    pub fn indices(self) -> impl Iterator<Item = usize> {
        (0..self.length).map(move |i| self.start.wrapping_add_signed(self.step * i as isize))
    }
}

/// What a node computes from its inputs.
///
/// Shapes are those of one observation: the axis of the observations is not among the dimensions (see
/// [`Shape`](super::Shape)). Element-wise operations broadcast dimensions of size one and ranks from the right.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// The parameter leaf of this number.
    Parameter(usize),
    /// The data leaf of this number, of one observation.
    Data(usize),
    /// The weight of the observation in the sum.
    Weight,
    /// The constant of this number, see [`Graph::constant_values`](super::Graph::constant_values).
    Constant(usize),
    /// One number, at every place.
    Full(Number),

    /// f(x).
    Unary(UnaryOp),
    /// f(a, b), of floats or of integers.
    Binary(BinaryOp),
    /// a ∘ b, a mask.
    Compare(CompareOp),
    /// and, or, xor of masks.
    Logic(LogicOp),
    /// `mask ? a : b`, the inputs in this order.
    Where,
    /// The same value as another kind; true is one.
    Cast,

    /// The same elements in row-major order under other dimensions.
    Reshape,
    /// Axis i of the result is axis `axes[i]` of the input.
    Permute(Vec<usize>),
    /// A part of every axis.
    Slice(Vec<Stretch>),
    /// Zeros of larger dimensions with the input at these places: the adjoint of [`Slice`](Self::Slice).
    Unslice(Vec<Stretch>),
    /// Dimensions of size one repeated.
    Expand,
    /// The inputs one after another along an axis.
    Cat(usize),

    /// A reduction of one axis, which stays with size one.
    Reduce(ReduceOp, usize),
    /// Running sums along an axis, from its end if `reverse`.
    CumSum {
        /// The axis.
        axis: usize,
        /// Whether from the end.
        reverse: bool,
    },
    /// The sum over all observations. The result is the same for all of them.
    SumRows,
    /// log Σ exp(x) along an axis, which stays with size one.
    LogSumExp(usize),
    /// exp(x) / Σ exp(x) along an axis.
    Softmax(usize),
    /// x − log Σ exp(x) along an axis.
    LogSoftmax(usize),

    /// Matrix product of the last two axes; those before are broadcast.
    Matmul,

    /// `(source, index)`: the axis of `source`, which is the same for all observations, is replaced by the axes of `index`.
    Select(usize),
    /// `(values, index)`: the adjoint of [`Select`](Self::Select): sums of `values` at `index` along an axis of this length.
    SelectAdjoint {
        /// The axis of the source.
        axis: usize,
        /// Its length.
        length: usize,
    },
    /// `(source, index)`: element i of the axis is that of `source` at `index[i]`; other axes go along.
    Gather(usize),
    /// `(values, index)`: the adjoint of [`Gather`](Self::Gather): sums of `values` at `index` along an axis of this length.
    GatherAdjoint {
        /// The axis.
        axis: usize,
        /// Its length in the source.
        length: usize,
    },
}

/// Functions of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// x, through which no gradient flows.
    Detach,
    /// −x.
    Neg,
    /// a x + b.
    Affine {
        /// a.
        scale: Number,
        /// b.
        shift: Number,
    },
    /// x².
    Square,
    /// x^c.
    Power(Number),
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
    /// The nearest integer, of two the even one.
    Round,
    /// x without its fraction.
    Trunc,
    /// Whether x is NaN, a mask.
    IsNan,
    /// Whether x is infinite, a mask.
    IsInfinite,
    /// Not, of a mask.
    Not,
}

/// Functions of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// a + b.
    Add,
    /// a − b.
    Sub,
    /// a b.
    Mul,
    /// a / b; of integers, without the fraction.
    Div,
    /// a − b ⌊a/b⌋: the remainder with the sign of b.
    Rem,
    /// aᵇ.
    Pow,
    /// The larger; a where one is NaN.
    Max,
    /// The smaller; a where one is NaN.
    Min,
    /// The angle of the point (b, a).
    Atan2,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// Functions of two masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogicOp {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Exactly one.
    Xor,
}

/// Reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// Σ.
    Sum,
    /// Π.
    Prod,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

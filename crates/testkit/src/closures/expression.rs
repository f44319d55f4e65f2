//! Random closures: lists of random operations, and their evaluation on tensors.

use rand::RngExt;
use sgmcmc::burn::{Bool, Int, Tensor};

use super::operations::{ALONG, BINARY, Domain, Form, Operation, Out, Range, UNARY};
use super::shapes::{self, Arguments};

/// The largest absolute value; larger results are scaled down.
const MAX_VALUE: f64 = 12.0;

/// The parameters of a closure.
pub type Params = (Tensor<1>, Tensor<2>, Tensor<1>);
/// The observations of a closure.
pub type Data = (Tensor<2>, Tensor<1>, Tensor<1, Int>, Tensor<1, Bool>, Tensor<3>);

/// The values from which a closure starts.
#[derive(Clone, Copy, Debug)]
enum Leaf {
    Vector,
    Scalar,
    MatrixRow,
    Wide,
    Narrow,
    Index,
    CubeRow,
}

const LEAVES: [Leaf; 7] =
    [Leaf::Vector, Leaf::Scalar, Leaf::MatrixRow, Leaf::Wide, Leaf::Narrow, Leaf::Index, Leaf::CubeRow];

/// One operation on earlier values.
#[derive(Clone, Copy, Debug)]
struct Step {
    operation: &'static Operation,
    inputs: [usize; 3],
    constant: f64,
}

/// The shape and the bounds of a value.
#[derive(Clone, Copy, Debug)]
struct ValueInfo {
    /// True if the first dimension runs over the observations.
    rows: bool,
    /// True if the second dimension has length three instead of one.
    wide: bool,
    range: Range,
}

/// A random closure.
#[derive(Clone, Debug)]
pub struct Expression {
    steps: Vec<Step>,
    values: Vec<ValueInfo>,
    /// The values that no operation uses; their sum is the result.
    ends: Vec<usize>,
}

impl Expression {
    /// Creates a closure of `length` random operations, and additional ones that keep the operands within the domains.
    pub fn random(rng: &mut impl RngExt, length: usize) -> Self {
        let values = LEAVES.iter().map(|leaf| leaf.info()).collect();
        let mut expression = Self { steps: vec![], values, ends: vec![] };
        for _ in 0..length {
            let tables = [UNARY, UNARY, BINARY, BINARY, ALONG, shapes::ALL];
            let table = tables[rng.random_range(0..tables.len())];
            let operation = &table[rng.random_range(0..table.len())];
            let inputs: Vec<usize> =
                operation.domains.iter().map(|domain| expression.operand(rng, operation.form, *domain)).collect();
            let constant = f64::from(rng.random_range(-6..=6)) / 4.0;
            expression.push(operation, &inputs, constant);
        }
        let used: Vec<usize> = expression.steps.iter().flat_map(|step| step.inputs).collect();
        expression.ends = (LEAVES.len()..expression.values.len()).filter(|value| !used.contains(value)).collect();
        expression
    }

    /// Returns a random value of this form and within this domain. Recent values are more likely.
    fn operand(&mut self, rng: &mut impl RngExt, form: Form, domain: Domain) -> usize {
        let fits = |info: &ValueInfo| match form {
            Form::Free | Form::Wide | Form::Rows => true,
            Form::Narrow => !info.wide,
        };
        let candidates: Vec<usize> = (0..self.values.len()).filter(|value| fits(&self.values[*value])).collect();
        let recent = candidates.len().saturating_sub(4);
        let from = if rng.random_bool(0.6) { recent } else { 0 };
        let value = candidates[rng.random_range(from..candidates.len())];
        let range = self.values[value].range;
        match domain {
            Domain::Above(least) if range.0 < least => {
                let size = self.push(unary_operation("abs"), &[value], 0.0);
                self.push(unary_operation("plus"), &[size], least.max(0.0) + 0.125)
            }
            Domain::Within(most) if range.size() > most => {
                let squashed = self.push(unary_operation("tanh"), &[value], 0.0);
                self.push(unary_operation("times"), &[squashed], 0.875 * most)
            }
            _ => value,
        }
    }

    fn push(&mut self, operation: &'static Operation, inputs: &[usize], constant: f64) -> usize {
        let operands: Vec<ValueInfo> = inputs.iter().map(|input| self.values[*input]).collect();
        let mut rows = operands.iter().any(|info| info.rows) || operation.form == Form::Rows;
        let mut wide = operands.iter().any(|info| info.wide) || matches!(operation.form, Form::Rows | Form::Wide);
        match operation.out {
            Out::Same => {}
            Out::Narrow => wide = false,
            Out::Wide => wide = true,
            Out::Rows => rows = true,
        }
        let ranges: Vec<Range> = operands.iter().map(|info| info.range).collect();
        let range = (operation.range)(&ranges, constant);
        let mut padded = [inputs[0]; 3];
        padded[..inputs.len()].copy_from_slice(inputs);
        self.steps.push(Step { operation, inputs: padded, constant });
        self.values.push(ValueInfo { rows, wide, range });
        let last = self.values.len() - 1;
        if range.size() > MAX_VALUE {
            self.push(unary_operation("times"), &[last], 0.5 * MAX_VALUE / range.size())
        } else {
            last
        }
    }

    /// Evaluates the closure: the sum of all ends, one number per observation.
    pub fn terms(&self, params: Params, data: Data) -> Tensor<1> {
        let ((vector, matrix, scalar), (wide, narrow, index, flag, cube)) = (params, data);
        let arguments = Arguments { vector, matrix, scalar, wide, narrow, index, flag, cube };
        let rows = arguments.rows();
        let mut values: Vec<Tensor<2>> = LEAVES.iter().map(|leaf| leaf.value(&arguments)).collect();
        for step in &self.steps {
            let arity = step.operation.domains.len();
            let operands: Vec<Tensor<2>> = step.inputs[..arity]
                .iter()
                .map(|input| expand_to(values[*input].clone(), self.values[*input], step.operation.form, rows))
                .collect();
            values.push((step.operation.run)(&arguments, &operands, step.constant));
        }
        let ends = self.ends.iter().map(|end| expand_to(values[*end].clone(), self.values[*end], Form::Rows, rows));
        let total = ends.reduce(|a, b| a + b).expect("there is an operation");
        total.sum_dim(1).squeeze_dim(1)
    }

    /// Returns shorter closures: with a single end, or without the operation of one end. Operations that are no longer
    /// needed are removed.
    pub fn shorter(&self) -> Vec<Self> {
        let mut shorter = Vec::new();
        if self.ends.len() > 1 {
            shorter.extend(self.ends.iter().map(|end| self.ending_with(vec![*end])));
        }
        for (index, end) in self.ends.iter().enumerate() {
            let Some(step) = end.checked_sub(LEAVES.len()).map(|step| &self.steps[step]) else { continue };
            for input in &step.inputs[..step.operation.domains.len()] {
                let mut ends = self.ends.clone();
                ends[index] = *input;
                ends.sort_unstable();
                ends.dedup();
                shorter.push(self.ending_with(ends));
            }
        }
        shorter
    }

    /// Returns the number of operations.
    pub fn length(&self) -> usize {
        self.steps.len()
    }

    /// Returns the closure with other ends, without the operations that they do not need.
    fn ending_with(&self, ends: Vec<usize>) -> Self {
        let mut needed = vec![false; self.values.len()];
        ends.iter().for_each(|end| needed[*end] = true);
        for (index, step) in self.steps.iter().enumerate().rev() {
            if needed[LEAVES.len() + index] {
                step.inputs.iter().for_each(|input| needed[*input] = true);
            }
        }
        let mut names: Vec<usize> = (0..LEAVES.len()).collect();
        let mut short = Self { steps: vec![], values: self.values[..LEAVES.len()].to_vec(), ends: vec![] };
        for (index, step) in self.steps.iter().enumerate() {
            names.push(short.values.len());
            if needed[LEAVES.len() + index] {
                short.steps.push(Step { inputs: step.inputs.map(|input| names[input]), ..*step });
                short.values.push(self.values[LEAVES.len() + index]);
            }
        }
        short.ends = ends.iter().map(|end| names[*end]).collect();
        short
    }

    /// Returns a description of the operations, for messages.
    pub fn text(&self) -> String {
        let step = |(index, step): (usize, &Step)| {
            let inputs = &step.inputs[..step.operation.domains.len()];
            format!("v{} = {} {inputs:?} {}", index + LEAVES.len(), step.operation.name, step.constant)
        };
        let steps = self.steps.iter().enumerate().map(step).collect::<Vec<_>>().join("; ");
        format!("{steps}; sum of {:?}", self.ends)
    }
}

impl Leaf {
    /// Returns the shape and the bounds of the leaf.
    fn info(self) -> ValueInfo {
        let (rows, wide) = match self {
            Self::Vector | Self::MatrixRow => (false, true),
            Self::Scalar => (false, false),
            Self::Wide | Self::CubeRow => (true, true),
            Self::Narrow | Self::Index => (true, false),
        };
        ValueInfo { rows, wide, range: Range(-2.5, 2.5) }
    }

    /// Returns the value of the leaf.
    fn value(self, arguments: &Arguments) -> Tensor<2> {
        let dtype = arguments.narrow.dtype();
        match self {
            Self::Vector => arguments.vector.clone().unsqueeze(),
            Self::Scalar => arguments.scalar.clone().unsqueeze(),
            Self::MatrixRow => arguments.matrix.clone().narrow(0, 1, 1),
            Self::Wide => arguments.wide.clone(),
            Self::Narrow => arguments.narrow.clone().unsqueeze_dim(1),
            Self::Index => arguments.index.clone().float().cast(dtype).unsqueeze_dim(1),
            Self::CubeRow => arguments.cube.clone().narrow(1, 0, 1).squeeze_dim(1),
        }
    }
}

/// Returns `tensor`, expanded to a form.
fn expand_to(tensor: Tensor<2>, info: ValueInfo, form: Form, rows: usize) -> Tensor<2> {
    let [r, c] = tensor.dims();
    match form {
        Form::Free | Form::Narrow => tensor,
        Form::Wide if info.wide => tensor,
        Form::Wide => tensor.expand([r, 3]),
        Form::Rows if info.rows && info.wide => tensor,
        Form::Rows => tensor.expand([rows, c.max(3)]),
    }
}

/// Returns the unary operation called `name`.
fn unary_operation(name: &str) -> &'static Operation {
    UNARY.iter().find(|operation| operation.name == name).expect("an operation of this name")
}

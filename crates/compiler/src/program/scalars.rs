//! The step of a recurrence as functions of single numbers.
//!
//! The states of a recurrence are usually a few numbers. Each element of a node of the body is therefore a register, and
//! each element-wise operation one function per element. Movement is renaming of registers, and reductions and matrix
//! products are chains of functions. For one sequence a register is a number; for many, a block of numbers.

use crate::error::{Error, Result};
use crate::graph::{
    BinaryOp, CompareOp, Graph, Kind, Node, NodeId, Number, Op, Recurrence, ReduceOp, Shape, UnaryOp, broadcast,
};
use crate::hash::Map;
use crate::kernels::{Function, Step};
use crate::optimize::{expand_composites, optimize};
use crate::reference::{Inputs, evaluate_nodes};
use crate::shorthand::exact_eq;

/// The maximum number of functions of a step.
const MOST_FUNCTIONS: usize = 200_000;

/// A step of a recurrence on registers. The first registers are numbers, then come the elements of variables, then the
/// results of the functions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalars {
    pub(crate) numbers: Vec<Number>,
    /// For each register of a variable, the number of the variable and the element.
    pub(crate) elements: Vec<[usize; 2]>,
    pub(crate) functions: Vec<Step>,
    /// The registers of the states after the step.
    pub(crate) next: Vec<usize>,
    /// The registers of elements of variables that are numbers.
    pub(crate) constants: Vec<(usize, Number)>,
}

impl Scalars {
    /// Converts the body of a recurrence.
    ///
    /// # Errors
    ///
    /// Returns an error if the body contains an operation that is not supported in a recurrence.
    pub(crate) fn new(recurrence: &Recurrence) -> Result<Self> {
        let simple = optimize(recurrence.body(), recurrence.next())?;
        let simple = expand_composites(&simple.graph, &simple.roots)?;
        let mut conversion = Conversion::new(&simple.graph);
        for id in simple.graph.ids() {
            let elements = conversion.node(simple.graph.node(id))?;
            conversion.values.push(elements);
        }
        let next = simple.roots.iter().flat_map(|root| conversion.values[root.index()].clone()).collect::<Vec<_>>();
        Ok(conversion.finish(&next))
    }

    /// Returns the registers that are numbers, with their values.
    pub(crate) fn fixed(&self) -> impl Iterator<Item = (usize, f64)> {
        let numbers = self.numbers.iter().enumerate().map(|(register, number)| (register, number.0));
        numbers.chain(self.constants.iter().map(|(register, number)| (*register, number.0)))
    }

    /// Returns the number of registers.
    pub(crate) fn registers(&self) -> usize {
        self.numbers.len() + self.elements.len() + self.functions.len()
    }
}

/// A register before registers are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Register {
    Number(Number),
    /// The number of a variable and an element.
    Variable(usize, usize),
    Function(usize),
}

/// A function of registers. Unused operands are equal to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Application {
    function: Function,
    operands: [Register; 3],
}

struct Conversion<'g> {
    graph: &'g Graph,
    /// The registers of the elements of each node.
    values: Vec<Vec<Register>>,
    functions: Vec<Application>,
    known: Map<Application, usize>,
}

impl<'g> Conversion<'g> {
    fn new(graph: &'g Graph) -> Self {
        Self { graph, values: vec![], functions: vec![], known: Map::default() }
    }

    /// Returns the registers of the elements of a node.
    fn node(&mut self, node: &Node) -> Result<Vec<Register>> {
        let size = node.shape.size();
        let unsupported = |op: &Op| Err(Error::Unsupported { operation: format!("{op:?} in a recurrence") });
        if node.kind == Kind::Int && !matches!(node.op, Op::Full(_) | Op::Constant(_)) {
            return unsupported(&node.op);
        }
        match &node.op {
            Op::Full(number) => Ok(vec![Register::Number(*number); size]),
            Op::Constant(constant) => {
                Ok(self.graph.constant_values(*constant).iter().map(|value| Register::Number(Number(*value))).collect())
            }
            Op::Variable(number) => Ok((0..size).map(|element| Register::Variable(*number, element)).collect()),
            Op::Unary(UnaryOp::Detach) => Ok(self.values[node.inputs[0].index()].clone()),
            Op::Unary(op) => self.map(Function::Unary(*op), node),
            Op::Binary(op) => self.map(Function::Binary(*op), node),
            Op::Compare(op) => self.map(Function::Compare(*op), node),
            Op::Logic(op) => self.map(Function::Logic(*op), node),
            Op::Where => self.map(Function::Where, node),
            Op::Cast => self.cast(node),
            Op::Reshape
            | Op::Permute(_)
            | Op::Slice(_)
            | Op::Expand
            | Op::Unslice(_)
            | Op::Cat(_)
            | Op::Select(_)
            | Op::Gather(_) => self.moved(node),
            Op::Reduce(op, axis) => self.reduce(node, *op, *axis),
            Op::CumSum { axis, reverse } => self.cumsum(node, *axis, *reverse),
            Op::Matmul => self.matmul(node),
            Op::SelectAdjoint { axis, .. } | Op::GatherAdjoint { axis, .. } => self.scattered(node, *axis),
            op => unsupported(op),
        }
    }

    /// Returns the elements of the inputs that a movement puts in the places of its result. The movement is evaluated on
    /// the numbers 1, 2, … of the elements; 0 stands for the number zero.
    fn moved(&self, node: &Node) -> Result<Vec<Register>> {
        let mut graph = Graph::new();
        let mut elements = vec![Register::Number(Number(0.0))];
        let mut inputs = Vec::new();
        for input in &node.inputs {
            let source = self.graph.node(*input);
            if source.kind == Kind::Int {
                inputs.push(graph.rebuild(source, &[], self.graph)?);
                continue;
            }
            let first = elements.len();
            elements.extend(&self.values[input.index()]);
            let numbers: Vec<f64> = (first..elements.len()).map(|number| number as f64).collect();
            inputs.push(graph.constant(numbers, source.shape.dims.clone(), Kind::Float)?);
        }
        let result = graph.rebuild(node, &inputs, self.graph)?;
        let places = evaluate_nodes(&graph, &Inputs::default(), 0, &[result])?;
        Ok(places.iter().flat_map(|value| &value.values).map(|number| elements[*number as usize]).collect())
    }

    /// Returns the sums of the adjoint of a selection. The selection itself, evaluated on the numbers of the sums, finds
    /// the sum that each value is added to.
    fn scattered(&mut self, node: &Node, axis: usize) -> Result<Vec<Register>> {
        let (values, index) = (node.inputs[0], self.graph.node(node.inputs[1]));
        if !matches!(index.op, Op::Full(_) | Op::Constant(_)) {
            let operation = "a selection from a state of a loop by an integer that is not constant".into();
            return Err(Error::Unsupported { operation });
        }
        let mut graph = Graph::new();
        let numbers: Vec<f64> = (0..node.shape.size()).map(|number| number as f64).collect();
        let sums = graph.constant(numbers, node.shape.dims.clone(), Kind::Float)?;
        let index = graph.rebuild(index, &[], self.graph)?;
        let found = match node.op {
            Op::SelectAdjoint { .. } => graph.select(sums, index, axis)?,
            _ => graph.gather(sums, index, axis)?,
        };
        let places = evaluate_nodes(&graph, &Inputs::default(), 0, &[found])?;
        let mut results = vec![Register::Number(Number(0.0)); node.shape.size()];
        let places = places.iter().flat_map(|value| &value.values).map(|place| *place as usize).collect::<Vec<_>>();
        for (element, place) in places.into_iter().enumerate() {
            let value = self.values[values.index()][element];
            results[place] = self.binary(BinaryOp::Add, results[place], value)?;
        }
        Ok(results)
    }

    /// Returns the registers of `id`, repeated to these dimensions.
    fn expanded(&self, id: NodeId, dims: &[usize]) -> Result<Vec<Register>> {
        if self.graph.shape(id).dims == dims {
            return Ok(self.values[id.index()].clone());
        }
        let shape = Shape::shared(dims);
        self.moved(&Node { op: Op::Expand, inputs: vec![id], shape, kind: Kind::Float })
    }

    fn cast(&mut self, node: &Node) -> Result<Vec<Register>> {
        let x = node.inputs[0];
        let mut elements = self.values[x.index()].clone();
        if node.kind == Kind::Mask && self.graph.node(x).kind == Kind::Float {
            let zero = Register::Number(Number(0.0));
            for element in &mut elements {
                *element = self.apply(Function::Compare(CompareOp::NotEqual), [*element, zero, zero])?;
            }
        }
        Ok(elements)
    }

    /// Returns the register of a function.
    fn apply(&mut self, function: Function, operands: [Register; 3]) -> Result<Register> {
        let number = |register: Register, value: f64| match register {
            Register::Number(number) => exact_eq(number.0, value),
            Register::Variable(..) | Register::Function(_) => false,
        };
        let [a, b, _] = operands;
        match function {
            Function::Binary(BinaryOp::Add) if number(b, 0.0) => return Ok(a),
            Function::Binary(BinaryOp::Add) if number(a, 0.0) => return Ok(b),
            Function::Binary(BinaryOp::Mul) if number(b, 1.0) => return Ok(a),
            Function::Binary(BinaryOp::Mul) if number(a, 1.0) => return Ok(b),
            _ => {}
        }
        let application = Application { function, operands };
        if self.functions.len() >= MOST_FUNCTIONS {
            let operation = format!("a recurrence of more than {MOST_FUNCTIONS} functions of numbers");
            return Err(Error::Unsupported { operation });
        }
        let functions = &mut self.functions;
        let index = *self.known.entry(application).or_insert_with(|| {
            functions.push(application);
            functions.len() - 1
        });
        Ok(Register::Function(index))
    }

    fn binary(&mut self, op: BinaryOp, a: Register, b: Register) -> Result<Register> {
        self.apply(Function::Binary(op), [a, b, a])
    }

    /// Applies a function element by element.
    fn map(&mut self, function: Function, node: &Node) -> Result<Vec<Register>> {
        let inputs = node.inputs.iter().map(|input| self.expanded(*input, &node.shape.dims));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        (0..node.shape.size())
            .map(|element| {
                let mut operands = [inputs[0][element]; 3];
                operands.iter_mut().zip(&inputs).for_each(|(operand, input)| *operand = input[element]);
                self.apply(function, operands)
            })
            .collect()
    }

    /// Returns the registers of every line of the input along an axis, in order.
    fn lines(&self, node: &Node, axis: usize) -> Vec<Vec<Register>> {
        let dims = &self.graph.shape(node.inputs[0]).dims;
        let (length, inner) = (dims[axis], dims[axis + 1..].iter().product::<usize>());
        let outer: usize = dims[..axis].iter().product();
        let from = &self.values[node.inputs[0].index()];
        let line = |block: usize, j: usize| (0..length).map(|i| from[(block * length + i) * inner + j]).collect();
        (0..outer).flat_map(|block| (0..inner).map(move |j| (block, j))).map(|(block, j)| line(block, j)).collect()
    }

    fn reduce(&mut self, node: &Node, op: ReduceOp, axis: usize) -> Result<Vec<Register>> {
        let (function, empty) = match op {
            ReduceOp::Sum => (BinaryOp::Add, 0.0),
            ReduceOp::Prod => (BinaryOp::Mul, 1.0),
            ReduceOp::Max => (BinaryOp::Max, f64::NEG_INFINITY),
            ReduceOp::Min => (BinaryOp::Min, f64::INFINITY),
        };
        let mut results = Vec::new();
        for line in self.lines(node, axis) {
            let mut rest = line.into_iter();
            let mut total = rest.next().unwrap_or(Register::Number(Number(empty)));
            for element in rest {
                total = self.binary(function, total, element)?;
            }
            results.push(total);
        }
        Ok(results)
    }

    fn cumsum(&mut self, node: &Node, axis: usize, reverse: bool) -> Result<Vec<Register>> {
        let dims = &node.shape.dims;
        let (length, inner) = (dims[axis], dims[axis + 1..].iter().product::<usize>());
        let mut results = vec![Register::Number(Number(0.0)); node.shape.size()];
        for (number, line) in self.lines(node, axis).into_iter().enumerate() {
            let (block, j) = (number / inner.max(1), number % inner.max(1));
            let mut total = None;
            for position in 0..length {
                let i = if reverse { length - 1 - position } else { position };
                let sum = match total {
                    Some(total) => self.binary(BinaryOp::Add, total, line[i])?,
                    None => line[i],
                };
                results[(block * length + i) * inner + j] = sum;
                total = Some(sum);
            }
        }
        Ok(results)
    }

    fn matmul(&mut self, node: &Node) -> Result<Vec<Register>> {
        let (a, b) = (node.inputs[0], node.inputs[1]);
        let (left, right) = (self.graph.shape(a).dims.clone(), self.graph.shape(b).dims.clone());
        let ([outer @ .., m, k], [other @ .., _, n]) = (left.as_slice(), right.as_slice()) else {
            return Err(Error::shape("a matrix product", format!("{left:?} by {right:?}")));
        };
        let batch = broadcast(outer, other).unwrap_or_default();
        let first = self.expanded(a, &[batch.as_slice(), &[*m, *k]].concat())?;
        let second = self.expanded(b, &[batch.as_slice(), &[*k, *n]].concat())?;
        let mut results = Vec::with_capacity(node.shape.size());
        for at in 0..batch.iter().product() {
            for (i, j) in (0..*m).flat_map(|i| (0..*n).map(move |j| (i, j))) {
                let mut total = Register::Number(Number(0.0));
                for l in 0..*k {
                    let (x, y) = (first[(at * m + i) * k + l], second[(at * k + l) * n + j]);
                    let product = self.binary(BinaryOp::Mul, x, y)?;
                    total = self.binary(BinaryOp::Add, total, product)?;
                }
                results.push(total);
            }
        }
        Ok(results)
    }

    /// Removes unused functions and numbers the registers.
    fn finish(self, next: &[Register]) -> Scalars {
        let mut used = vec![false; self.functions.len()];
        let mut leaves: Vec<Register> = Vec::new();
        let mut seen: Map<Register, ()> = Map::default();
        let mut visit = |register: Register, used: &mut Vec<bool>| match register {
            Register::Function(index) => used[index] = true,
            leaf => {
                if seen.insert(leaf, ()).is_none() {
                    leaves.push(leaf);
                }
            }
        };
        next.iter().for_each(|register| visit(*register, &mut used));
        for index in (0..self.functions.len()).rev() {
            if used[index] {
                self.functions[index].operands.iter().for_each(|register| visit(*register, &mut used));
            }
        }
        let (mut numbers, mut elements) = (vec![], vec![]);
        for leaf in leaves {
            match leaf {
                Register::Number(number) => numbers.push(number),
                Register::Variable(variable, element) => elements.push([variable, element]),
                Register::Function(_) => {}
            }
        }
        elements.sort_unstable();
        let mut positions: Map<Register, usize> = Map::default();
        let all = numbers.iter().map(|number| Register::Number(*number));
        let all = all.chain(elements.iter().map(|[variable, element]| Register::Variable(*variable, *element)));
        let functions = used.iter().enumerate().filter(|(_, used)| **used).map(|(index, _)| Register::Function(index));
        for (position, register) in all.chain(functions).enumerate() {
            positions.insert(register, position);
        }
        let position = |register: &Register| positions.get(register).copied().unwrap_or_default();
        let functions = self.functions.iter().enumerate().filter(|(index, _)| used[*index]);
        let functions = functions.map(|(index, Application { function, operands })| Step {
            function: *function,
            operands: [position(&operands[0]), position(&operands[1]), position(&operands[2])],
            out: position(&Register::Function(index)),
        });
        Scalars {
            functions: functions.collect(),
            next: next.iter().map(position).collect(),
            numbers,
            elements,
            constants: vec![],
        }
    }
}

//! Random bodies: compares loops with bodies that are repeated by hand, in value, gradient and gradient of each
//! observation, and with central differences.

mod random;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use self::random::Grower;
use super::{Arguments, Body, unroll};
use crate::differentiate::{RowAdjoint, differentiate};
use crate::error::{Error, Result};
use crate::graph::{AxisSlice, Graph, Kind, NodeId, Op, Shape, UnaryOp};
use crate::optimize::{expand_composites, optimize, stabilize};
use crate::program::{Call, Column, Columns, Output, Outputs, Program, Real, RowSelection};
use crate::reference::{Inputs, evaluate_nodes};

const ROWS: usize = 45;
/// The dimensions of the parameters: initial states, inputs of the steps and invariants.
const STATES: [&[usize]; 2] = [&[], &[2]];
const INPUTS: [&[usize]; 2] = [&[], &[2]];
const INVARIANTS: [&[usize]; 3] = [&[], &[2], &[2, 2]];

/// The values of the leaves. Every parameter has a data leaf of its dimensions, which is added to it if the argument
/// differs between observations.
#[derive(Debug)]
struct Table<T>(Vec<Vec<T>>);

impl Columns for Table<f64> {
    fn column(&self, leaf: usize) -> Column<'_> {
        Column::F64(&self.0[leaf])
    }
}

impl Columns for Table<f32> {
    fn column(&self, leaf: usize) -> Column<'_> {
        Column::F32(&self.0[leaf])
    }
}

/// A graph with the arguments of a loop.
struct Case {
    graph: Graph,
    parameters: Vec<NodeId>,
    arguments: Arguments,
    dims: Vec<Vec<usize>>,
}

impl Case {
    fn new(rng: &mut Xoshiro256PlusPlus, steps: usize, rows: bool) -> Self {
        let mut graph = Graph::new();
        let over_time = |dims: &&[usize]| [*dims, &[steps]].concat();
        let own = |dims: &&[usize]| dims.to_vec();
        let dims: Vec<Vec<usize>> =
            STATES.iter().map(own).chain(INPUTS.iter().map(over_time)).chain(INVARIANTS.iter().map(own)).collect();
        let (mut parameters, mut arguments) = (vec![], vec![]);
        for (leaf, dims) in dims.iter().enumerate() {
            let parameter = graph.parameter(leaf, dims.clone());
            parameters.push(parameter);
            arguments.push(if rows && rng.random() {
                let data = graph.data(leaf, dims.clone(), Kind::Float);
                graph.add(parameter, data).unwrap()
            } else {
                parameter
            });
        }
        let invariants = arguments.split_off(STATES.len() + INPUTS.len());
        let inputs = arguments.split_off(STATES.len());
        let arguments = Arguments { initial: arguments, inputs, invariants, steps, reverse: rng.random() };
        Self { graph, parameters, arguments, dims }
    }
}

/// Repeats a body step by step.
fn repeat(outer: &mut Graph, body: &Body, arguments: &Arguments) -> Result<(Vec<NodeId>, Vec<Vec<NodeId>>)> {
    let mut states = arguments.initial.clone();
    let mut outputs = vec![vec![]; body.outputs.len()];
    for position in 0..arguments.steps {
        let step = if arguments.reverse { arguments.steps - 1 - position } else { position };
        let mut new: Vec<Option<NodeId>> = vec![None; body.graph.nodes().len()];
        let mut set = |ids: &[NodeId], nodes: &[NodeId]| {
            ids.iter().zip(nodes).for_each(|(id, node)| new[id.index()] = Some(*node));
        };
        set(&body.states, &states);
        set(&body.invariants, &arguments.invariants);
        let mut now = vec![];
        for input in &arguments.inputs {
            let dims = outer.shape(*input).dims.clone();
            let mut slices: Vec<AxisSlice> = dims.iter().map(|size| AxisSlice::all(*size)).collect();
            *slices.last_mut().unwrap() = AxisSlice { start: step, length: 1, step: 1 };
            let part = outer.slice(*input, slices)?;
            now.push(outer.reshape(part, &dims[..dims.len() - 1])?);
        }
        set(&body.inputs, &now);
        for (index, node) in body.graph.nodes().iter().enumerate() {
            if new[index].is_none() {
                let inputs: Vec<NodeId> = node.inputs.iter().map(|input| new[input.index()].unwrap()).collect();
                new[index] = Some(outer.rebuild(node, &inputs, &body.graph)?);
            }
        }
        let name = |id: &NodeId| new[id.index()].unwrap();
        states = body.next.iter().map(name).collect();
        outputs.iter_mut().zip(&body.outputs).for_each(|(outputs, id)| outputs.push(name(id)));
        if arguments.reverse {
            outputs.iter_mut().for_each(|outputs| outputs.rotate_right(1));
        }
    }
    Ok((states, outputs))
}

/// Adds Σ sin(c v + j) over the elements of `nodes`, where j is the position of the element and c the factor of the
/// node.
fn total(graph: &mut Graph, parts: &[(NodeId, f64)]) -> NodeId {
    let mut sum = graph.scalar(0.0);
    for (part, shift) in parts {
        let size = graph.shape(*part).size();
        let flat = graph.reshape(*part, [size]).unwrap();
        let places: Vec<f64> = (0..size).map(|place| shift + place as f64).collect();
        let places = graph.constant(places, [size], Kind::Float).unwrap();
        let moved = graph.add(flat, places).unwrap();
        let wave = graph.unary(UnaryOp::Sin, moved);
        let total = graph.sum(wave, [0]).unwrap();
        let total = graph.reshape(total, []).unwrap();
        sum = graph.add(sum, total).unwrap();
    }
    sum
}

/// Returns the root of the loop, added by [`unroll`] and by hand.
fn roots(case: &mut Case, body: &Body) -> Result<[NodeId; 2]> {
    let unrolled = unroll(&mut case.graph, body, &case.arguments)?;
    let (last, outputs) = repeat(&mut case.graph, body, &case.arguments)?;
    let graph = &mut case.graph;
    let mut parts: [Vec<(NodeId, f64)>; 2] = [vec![], vec![]];
    for (position, (a, b)) in unrolled.last.iter().zip(&last).enumerate() {
        parts[0].push((*a, 0.3 * position as f64));
        parts[1].push((*b, 0.3 * position as f64));
    }
    for (a, each) in unrolled.outputs.iter().zip(&outputs) {
        let mut stacked = vec![];
        for node in each {
            let dims = graph.shape(*node).dims.clone();
            stacked.push(graph.reshape(*node, [dims.as_slice(), &[1]].concat())?);
        }
        let axis = graph.shape(stacked[0]).rank() - 1;
        let b = graph.cat(&stacked, axis)?;
        assert_eq!(graph.shape(*a).dims, graph.shape(b).dims);
        parts[0].push((*a, 0.7));
        parts[1].push((b, 0.7));
    }
    Ok([total(graph, &parts[0]), total(graph, &parts[1])])
}

fn values(graph: &Graph, inputs: &Inputs, root: NodeId) -> Vec<f64> {
    evaluate_nodes(graph, inputs, ROWS, &[root]).unwrap().remove(0).values
}

fn program<T: Real>(graph: &Graph, outputs: &Outputs, leaves: &[std::ops::Range<usize>]) -> Program<T> {
    let roots: Vec<NodeId> = outputs.roots().collect();
    let simple = optimize(graph, &roots).unwrap();
    let expanded = expand_composites(&simple.graph, &simple.roots).unwrap();
    Program::compile(&expanded.graph, &outputs.renamed(expanded.roots), leaves).unwrap()
}

fn check(seed: u64, steps: usize, rows: bool) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let body = Grower::body(&mut rng, 12);
    let mut case = Case::new(&mut rng, steps, rows);
    let [scan, naive] = roots(&mut case, &body).unwrap_or_else(|error| panic!("seed {seed}: {error} in {body:?}"));
    let parameters = case.parameters.clone();
    let stable = stabilize(&case.graph, &[&[scan, naive], parameters.as_slice()].concat()).unwrap();
    let (mut graph, scan, naive, parameters) =
        (stable.graph, stable.roots[0], stable.roots[1], stable.roots[2..].to_vec());
    let sizes: Vec<usize> = case.dims.iter().map(|dims| dims.iter().product()).collect();
    let mut numbers = |count: usize| (0..count).map(|_| rng.random_range(-1.0..1.0)).collect::<Vec<f64>>();
    let inputs = Inputs {
        parameters: sizes.iter().map(|size| numbers(*size)).collect(),
        data: sizes.iter().map(|size| numbers(ROWS * size)).collect(),
        weights: vec![1.0; ROWS],
        ..Inputs::default()
    };
    let per_row = graph.shape(scan).rows;
    let close = |a: &[f64], b: &[f64], tolerance: f64, what: &str| {
        assert_eq!(a.len(), b.len(), "seed {seed}: {what}");
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "seed {seed}: {what}: {a} and {b} in {body:?}");
        }
    };
    let expected = values(&graph, &inputs, naive);
    close(&values(&graph, &inputs, scan), &expected, 1e-11, "value");

    // Gradients of the sum and of each observation.
    let one = graph.scalar(1.0);
    let mut gradient =
        |root: NodeId, rows: RowAdjoint| differentiate(&mut graph, root, one, &parameters, rows).unwrap();
    let (summed, kept, by_hand) =
        (gradient(scan, RowAdjoint::Sum), gradient(scan, RowAdjoint::Keep), gradient(naive, RowAdjoint::Sum));
    let zeros = |leaf: usize| vec![0.0; sizes[leaf]];
    let of =
        |node: &Option<NodeId>, leaf: usize| node.map_or_else(|| zeros(leaf), |node| values(&graph, &inputs, node));
    let exact: Vec<Vec<f64>> = by_hand.iter().enumerate().map(|(leaf, node)| of(node, leaf)).collect();
    for (leaf, node) in summed.iter().enumerate() {
        close(&of(node, leaf), &exact[leaf], 1e-9, &format!("gradient of leaf {leaf}"));
    }

    // Programs, in tiles and for single observations, in both precisions.
    let mut start = 0;
    let leaves: Vec<std::ops::Range<usize>> = sizes
        .iter()
        .map(|size| {
            start += size;
            start - size..start
        })
        .collect();
    let theta = inputs.parameters.concat();
    let outputs = Outputs { total: Some(scan), gradient: summed, ..Outputs::default() };
    let exact = exact.concat();
    let total: f64 = if per_row { expected.iter().sum() } else { expected[0] * ROWS as f64 };
    let table = Table(inputs.data.clone());
    let mut compiled = program::<f64>(&graph, &outputs, &leaves);
    for list in [vec![ROWS], vec![1; ROWS], vec![5; ROWS / 5]] {
        let (mut value, mut found, mut first) = (0.0, vec![0.0; theta.len()], 0);
        for rows in list {
            let selection = RowSelection::Range(first);
            let call = Call { theta: &theta, columns: &table, selection, rows, weights: None, scale: 1.0 };
            value += compiled.run(call, Output::Gradient(&mut found)).unwrap();
            first += rows;
        }
        close(&[value], &[total], 1e-10, "program");
        if per_row {
            close(&found, &exact, 1e-8, "gradient of the program");
        } else {
            let calls = found.iter().zip(&exact).map(|(found, exact)| if *exact == 0.0 { 0.0 } else { found / exact });
            assert!(
                calls.clone().all(|ratio| ratio == 0.0 || (ratio - calls.clone().fold(0.0, f64::max)).abs() < 1e-3)
            );
        }
    }
    if per_row {
        let single = Table(inputs.data.iter().map(|leaf| leaf.iter().map(|x| *x as f32).collect()).collect());
        let mut compiled = program::<f32>(&graph, &outputs, &leaves);
        let mut found = vec![0.0; theta.len()];
        let selection = RowSelection::Range(0);
        let call = Call { theta: &theta, columns: &single, selection, rows: ROWS, weights: None, scale: 1.0 };
        let value = compiled.run(call, Output::Gradient(&mut found)).unwrap();
        close(&[value], &[total], 1e-3, "program in single precision");
        let outputs = Outputs { gradient: kept, ..Outputs::default() };
        let mut compiled = program::<f64>(&graph, &outputs, &leaves);
        let mut each = vec![0.0; ROWS * theta.len()];
        let call = Call { theta: &theta, columns: &table, selection, rows: ROWS, weights: None, scale: 1.0 };
        compiled.run(call, Output::RowGradients(&mut each)).unwrap();
        let sums: Vec<f64> = (0..theta.len()).map(|k| each.iter().skip(k).step_by(theta.len()).sum()).collect();
        close(&sums, &exact, 1e-8, "gradient of each observation");
    }
}

#[test]
fn loops_equal_repeated_bodies() {
    for seed in 0..150 {
        check(seed, [1, 2, 5][seed as usize % 3], seed % 4 != 0);
    }
}

#[test]
fn adjoints_equal_differences() {
    for seed in 1000..1030 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let body = Grower::smooth(&mut rng, 10);
        let mut case = Case::new(&mut rng, 6, false);
        let [scan, _] = roots(&mut case, &body).unwrap();
        let one = case.graph.scalar(1.0);
        let gradient = differentiate(&mut case.graph, scan, one, &case.parameters, RowAdjoint::Sum).unwrap();
        let mut numbers = |dims: &Vec<usize>| -> Vec<f64> {
            (0..dims.iter().product()).map(|_| rng.random_range(-1.0..1.0)).collect()
        };
        let inputs = Inputs { parameters: case.dims.iter().map(&mut numbers).collect(), ..Inputs::default() };
        for (leaf, node) in gradient.iter().enumerate() {
            let Some(node) = node else { continue };
            let found = values(&case.graph, &inputs, *node);
            for (k, found) in found.iter().enumerate() {
                let at = |step: f64| {
                    let mut moved = inputs.clone();
                    moved.parameters[leaf][k] += step;
                    values(&case.graph, &moved, scan)[0]
                };
                let h = 1e-3;
                let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                let error = (difference - found).abs();
                assert!(error < 1e-6 * (1.0 + found.abs()), "seed {seed}, leaf {leaf}[{k}]: {found} and {difference}");
            }
        }
    }
}

/// Returns the number of recurrences in the graph of a loop.
fn recurrences(graph: &Graph) -> usize {
    graph.nodes().iter().filter(|node| matches!(node.op, Op::Scan(_))).count()
}

#[test]
fn lags_need_no_recurrence() {
    // The states are the last two observations.
    let mut graph = Graph::new();
    let scalar = Shape::shared([]);
    let [first, second, x] = [0, 1, 2].map(|number| graph.variable(number, scalar.clone(), Kind::Float));
    let sum = graph.add(first, second).unwrap();
    let error = graph.sub(x, sum).unwrap();
    let body = Body {
        graph,
        states: vec![first, second],
        inputs: vec![x],
        invariants: vec![],
        next: vec![x, first],
        outputs: vec![error],
    };
    let mut outer = Graph::new();
    let (zero, series) = (outer.scalar(0.0), outer.data(0, [5], Kind::Float));
    let arguments =
        Arguments { initial: vec![zero, zero], inputs: vec![series], invariants: vec![], steps: 5, reverse: false };
    let unrolled = unroll(&mut outer, &body, &arguments).unwrap();
    assert_eq!(recurrences(&outer), 0);
    let inputs = Inputs { data: vec![vec![1.0, 2.0, 4.0, 8.0, 16.0]], ..Inputs::default() };
    let errors = evaluate_nodes(&outer, &inputs, 1, &[unrolled.outputs[0]]).unwrap();
    assert_eq!(errors[0].values, [1.0, 1.0, 1.0, 2.0, 4.0]);
}

#[test]
fn size_of_a_graph_does_not_depend_on_the_number_of_steps() {
    let nodes = |steps: usize| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let body = Grower::body(&mut rng, 12);
        let mut case = Case::new(&mut rng, steps, false);
        let unrolled = unroll(&mut case.graph, &body, &case.arguments).unwrap();
        let root = unrolled.last[0];
        let root = total(&mut case.graph, &[(root, 0.0)]);
        let one = case.graph.scalar(1.0);
        differentiate(&mut case.graph, root, one, &case.parameters, RowAdjoint::Sum).unwrap();
        case.graph.nodes().len()
    };
    assert_eq!(nodes(3), nodes(10_000));
}

#[test]
fn loops_without_steps_are_rejected() {
    let mut graph = Graph::new();
    let state = graph.variable(0, Shape::shared([]), Kind::Float);
    let next = graph.unary(UnaryOp::Tanh, state);
    let body = Body { graph, states: vec![state], next: vec![next], ..Body::default() };
    let mut outer = Graph::new();
    let zero = outer.scalar(0.0);
    let arguments = Arguments { initial: vec![zero], ..Arguments::default() };
    assert!(matches!(unroll(&mut outer, &body, &arguments), Err(Error::Shape { .. })));
}

//! Element-wise instructions of the same loop, made one.
//!
//! What one of them computes for another stays in a block of a few numbers; only what others read is written to its buffer. An
//! instruction joins an earlier one if what it reads is known there: before buffers are shared each is written for one value only, so that
//! moving it forward changes nothing.

use super::instruction::{Instruction, Source};
use super::lower::Buffer;
use super::view::{Loop, Store};
use crate::graph::{BinaryOp, Number, UnaryOp};
use crate::hash;
use crate::kernels::{Function, LANES, Step};

/// Element-wise functions over the same runs of features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fused {
    /// How many runs there are, and the features of each.
    pub(crate) runs: usize,
    pub(crate) run: usize,
    /// Numbers, in the first blocks.
    pub(crate) numbers: Vec<Number>,
    /// Numbers of buffers that all observations share, one for each run, and numbers that each has, in the next.
    pub(crate) shared: Vec<Place>,
    pub(crate) inputs: Vec<Place>,
    /// The functions, whose results are in the others.
    pub(crate) steps: Vec<Step>,
    /// What is written.
    pub(crate) outputs: Vec<Place>,
    /// Room for the blocks.
    pub(crate) scratch: Store,
}

impl Fused {
    fn blocks(&self) -> usize {
        self.numbers.len() + self.shared.len() + self.inputs.len() + self.steps.len()
    }

    /// Copying a block costs as much as a short function of it.
    fn is_worth_it(&self) -> bool {
        self.steps.len() > self.inputs.len() + self.outputs.len()
    }
}

/// A block's place in a buffer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) store: Store,
    /// The feature where each run begins.
    pub(crate) starts: Vec<usize>,
    pub(crate) block: usize,
}

/// An element-wise instruction, with the place of each of its operands.
#[derive(Clone, Debug)]
struct Map {
    function: Function,
    operands: Vec<Operand>,
    out: (Store, Vec<usize>),
    original: Instruction,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Operand {
    Number(Number),
    At { store: Store, starts: Vec<usize>, splat: bool },
}

/// Instructions in their new order.
enum Item {
    Other(Instruction),
    Group { runs: usize, run: usize, maps: Vec<Map> },
}

/// Fuses what can be of a tile. `kept` are read after its last instruction.
pub(crate) fn fuse(tile: Vec<Instruction>, native: &mut Vec<Buffer>, kept: &[Store]) -> Vec<Instruction> {
    let items = grouped(tile);
    // What an item reads of others.
    let wanted: hash::Set<Store> = items.iter().flat_map(read).chain(kept.iter().copied()).collect();
    let emit = |item| match item {
        Item::Other(instruction) => vec![instruction],
        Item::Group { runs, run, maps } => match one(runs, run, &maps, &wanted, native.len()) {
            fused if fused.is_worth_it() => {
                native.push(Buffer { features: fused.blocks() * LANES, rows: false });
                for store in maps.iter().map(|map| map.out.0).filter(|store| !wanted.contains(store)) {
                    if let Store::Native(number) = store {
                        native[number].features = 0;
                    }
                }
                vec![Instruction::Fused(fused)]
            }
            _ => maps.into_iter().map(|map| map.original).collect(),
        },
    };
    items.into_iter().flat_map(emit).collect()
}

/// Puts every element-wise instruction into the last group of its loop, if it can join it. It can join no earlier one then: what it
/// reads is written there or later.
fn grouped(tile: Vec<Instruction>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    // The item that writes each buffer last, and for a group the place of its map there.
    let mut writer: hash::Map<Store, (usize, usize)> = hash::Map::default();
    // The last group of each loop.
    let mut last: hash::Map<(usize, usize), usize> = hash::Map::default();
    for instruction in tile {
        let Some((map, runs, run)) = element_wise(&instruction) else {
            writer.extend(instruction.writes().into_iter().map(|store| (store, (items.len(), 0))));
            items.push(Item::Other(instruction));
            continue;
        };
        let known = |place: usize, maps: &[Map]| {
            map.operands.iter().all(|operand| match operand {
                Operand::Number(_) => true,
                Operand::At { store, starts, splat } => match writer.get(store) {
                    // Within a group only the number at the same place is known.
                    Some((at, map)) if *at == place => {
                        maps.get(*map).is_some_and(|map| map.out.0 == *store && map.out.1 == *starts) && !splat
                    }
                    Some((at, _)) => *at < place,
                    None => true,
                },
            })
        };
        let place = last.get(&(runs, run)).copied().filter(|place| match &items[*place] {
            Item::Group { maps, .. } => known(*place, maps),
            Item::Other(_) => false,
        });
        let place = place.unwrap_or_else(|| {
            items.push(Item::Group { runs, run, maps: vec![] });
            items.len() - 1
        });
        last.insert((runs, run), place);
        if let Item::Group { maps, .. } = &mut items[place] {
            writer.insert(map.out.0, (place, maps.len()));
            maps.push(map);
        }
    }
    items
}

/// An instruction that can be fused, with its runs and the features of each.
fn element_wise(instruction: &Instruction) -> Option<(Map, usize, usize)> {
    let Instruction::Map { function, operands, over, out: out @ Store::Native(_) } = instruction else { return None };
    let Loop { rows: true, run, starts, splat } = over else { return None };
    if gains_nothing(*function) {
        return None;
    }
    let mut slot = 0;
    let operands = operands.iter().map(|source| match source {
        Source::Number(number) => Operand::Number(Number(*number)),
        Source::Store(store) => {
            slot += 1;
            let starts = starts.iter().map(|start| start[slot]).collect();
            Operand::At { store: *store, starts, splat: splat[slot - 1] }
        }
    });
    let operands = operands.collect();
    let out = (*out, starts.iter().map(|start| start[0]).collect());
    Some((Map { function: *function, operands, out, original: instruction.clone() }, starts.len(), *run))
}

/// Whether a function is a call of the standard library for each number, or may have a shorter way.
fn gains_nothing(function: Function) -> bool {
    match function {
        Function::Copy => true,
        Function::Binary(op) => matches!(op, BinaryOp::Pow | BinaryOp::Rem | BinaryOp::Atan2),
        Function::Unary(UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Tan) => true,
        Function::Unary(UnaryOp::Asin | UnaryOp::Acos | UnaryOp::Atan) => true,
        Function::Unary(UnaryOp::Sinh | UnaryOp::Cosh) => true,
        Function::Unary(UnaryOp::Asinh | UnaryOp::Acosh | UnaryOp::Atanh) => true,
        Function::Unary(_) | Function::Compare(_) | Function::Logic(_) | Function::Where => false,
    }
}

/// The buffers that an item reads and does not write itself.
fn read(item: &Item) -> hash::Set<Store> {
    match item {
        Item::Other(instruction) => instruction.reads().into_iter().collect(),
        Item::Group { maps, .. } => {
            let operands = maps.iter().flat_map(|map| &map.operands).filter_map(|operand| match operand {
                Operand::At { store, .. } => Some(*store),
                Operand::Number(_) => None,
            });
            let own: hash::Set<Store> = maps.iter().map(|map| map.out.0).collect();
            operands.filter(|store| !own.contains(store)).collect()
        }
    }
}

/// One instruction for a group.
fn one(runs: usize, run: usize, maps: &[Map], wanted: &hash::Set<Store>, scratch: usize) -> Fused {
    // Each buffer is written by one step.
    let own: hash::Map<Store, usize> = maps.iter().enumerate().map(|(step, map)| (map.out.0, step)).collect();
    let step_of = |operand: &Operand| match operand {
        Operand::Number(_) => None,
        Operand::At { store, .. } => own.get(store).copied(),
    };
    let mut seen: hash::Set<&Operand> = hash::Set::default();
    let outside = maps.iter().flat_map(|map| &map.operands).filter(|operand| step_of(operand).is_none());
    let mut from_outside: Vec<&Operand> = outside.filter(|operand| seen.insert(operand)).collect();
    // Numbers first.
    from_outside.sort_by_key(|operand| matches!(operand, Operand::At { .. }));
    let blocks: hash::Map<&Operand, usize> =
        from_outside.iter().enumerate().map(|(block, operand)| (*operand, block)).collect();
    let block_of = |operand: &Operand| match step_of(operand) {
        Some(step) => from_outside.len() + step,
        None => blocks.get(operand).copied().unwrap_or_default(),
    };
    let steps = maps.iter().enumerate().map(|(step, map)| {
        let mut operands = [0; 3];
        operands.iter_mut().zip(&map.operands).for_each(|(block, operand)| *block = block_of(operand));
        Step { function: map.function, operands, out: from_outside.len() + step }
    });
    let steps: Vec<Step> = steps.collect();
    let written = maps.iter().zip(&steps).filter(|(map, _)| wanted.contains(&map.out.0));
    let output = |(map, step): (&Map, &Step)| Place { store: map.out.0, starts: map.out.1.clone(), block: step.out };
    let outputs = written.map(output).collect();
    let number = |operand: &&Operand| if let Operand::Number(number) = operand { Some(*number) } else { None };
    let places = |shared: bool| {
        let place = move |(block, operand): (usize, &&Operand)| match operand {
            Operand::At { store, starts, splat } if *splat == shared => {
                Some(Place { store: *store, starts: starts.clone(), block })
            }
            _ => None,
        };
        from_outside.iter().enumerate().filter_map(place).collect()
    };
    Fused {
        runs,
        run,
        numbers: from_outside.iter().filter_map(number).collect(),
        shared: places(true),
        inputs: places(false),
        steps,
        outputs,
        scratch: Store::Native(scratch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: usize = 6;

    /// An instruction over one feature of buffers, each read at the feature given.
    fn map(function: Function, operands: &[(usize, usize)], out: usize) -> Instruction {
        let mut starts = [0; 4];
        starts[1..].iter_mut().zip(operands).for_each(|(start, (_, feature))| *start = *feature);
        let over = Loop { rows: true, run: 1, starts: vec![starts], splat: vec![false; operands.len()] };
        let operands = operands.iter().map(|(buffer, _)| Source::Store(Store::Native(*buffer))).collect();
        Instruction::Map { function, operands, over, out: Store::Native(out) }
    }

    fn exp(from: usize, out: usize) -> Instruction {
        map(Function::Unary(UnaryOp::Exp), &[(from, 0)], out)
    }

    fn fused(tile: Vec<Instruction>, kept: usize) -> (Vec<Instruction>, Vec<Buffer>) {
        let mut native = vec![Buffer { features: FEATURES, rows: true }; 8];
        let tile = fuse(tile, &mut native, &[Store::Native(kept)]);
        (tile, native)
    }

    #[test]
    fn a_chain_is_one_instruction_with_one_buffer() {
        let sum = map(Function::Binary(BinaryOp::Add), &[(2, 0), (0, 0)], 3);
        let (tile, native) = fused(vec![exp(0, 1), exp(1, 2), sum], 3);
        let [Instruction::Fused(one)] = tile.as_slice() else { panic!("{tile:?}") };
        assert_eq!(
            one.steps.iter().map(|step| (step.operands, step.out)).collect::<Vec<_>>(),
            [([0, 0, 0], 1), ([1, 0, 0], 2), ([2, 0, 0], 3)]
        );
        assert_eq!((one.inputs.len(), one.outputs.len()), (1, 1));
        let features: Vec<usize> = native.iter().map(|buffer| buffer.features).collect();
        assert_eq!(features[..4], [FEATURES, 0, 0, FEATURES]);
        assert_eq!(features[8], 4 * LANES);
    }

    #[test]
    fn what_others_read_is_written() {
        let weights = Instruction::SumRows { from: Store::Native(1), starts: vec![0], out: Store::Native(7) };
        let (tile, _) = fused(vec![exp(0, 1), weights, exp(1, 2), exp(2, 3), exp(3, 4)], 4);
        // The three behind the sum joined the one before it.
        let [Instruction::Fused(one), Instruction::SumRows { .. }] = tile.as_slice() else { panic!("{tile:?}") };
        let written: Vec<Store> = one.outputs.iter().map(|place| place.store).collect();
        assert_eq!(written, [Store::Native(1), Store::Native(4)]);
    }

    #[test]
    fn nothing_is_read_before_it_is_there() {
        // Another feature of what the group computes, and what an instruction after the group computes.
        let other_feature = map(Function::Unary(UnaryOp::Exp), &[(3, 1)], 4);
        let loaded = Instruction::LoadWeights { out: Store::Native(5) };
        let chain = vec![exp(0, 1), exp(1, 2), exp(2, 3), other_feature, loaded, exp(5, 6)];
        let (tile, _) = fused(chain, 6);
        let names: Vec<String> = tile.iter().map(Instruction::name).collect();
        assert_eq!(names, ["(exp, exp, exp)", "exp", "LoadWeights", "exp"]);
    }

    #[test]
    fn numbers_that_are_equal_but_not_the_same_have_blocks_of_their_own() {
        let quotient = |number: f64, from: usize, out: usize| {
            let Instruction::Map { mut operands, over, .. } = exp(from, out) else { unreachable!() };
            operands.insert(0, Source::Number(number));
            Instruction::Map { function: Function::Binary(BinaryOp::Div), operands, over, out: Store::Native(out) }
        };
        let numbers = [f64::NAN, 0.0, -0.0, f64::NAN];
        let tile = numbers.iter().enumerate().map(|(i, number)| quotient(*number, i, i + 1)).collect();
        let (tile, _) = fused(tile, 4);
        let [Instruction::Fused(one)] = tile.as_slice() else { panic!("{tile:?}") };
        assert_eq!(
            one.numbers.iter().map(|number| number.0.to_bits()).collect::<Vec<_>>(),
            [f64::NAN.to_bits(), 0, 1 << 63]
        );
        assert_eq!(one.steps.iter().map(|step| step.operands[0]).collect::<Vec<_>>(), [0, 1, 2, 0]);
    }

    #[test]
    fn a_copy_for_every_function_is_not_worth_it() {
        let (tile, native) = fused(vec![exp(0, 1), exp(1, 2)], 1);
        assert_eq!(tile.len(), 2);
        assert_eq!(native.len(), 8);
    }
}

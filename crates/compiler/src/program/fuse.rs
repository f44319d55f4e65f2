//! Fusion of element-wise instructions with the same loop.
//!
//! Intermediate results stay in a small block; only results that other instructions read are written to buffers. An
//! instruction joins an earlier group if its operands are available there. Fusion runs before buffer sharing, when each
//! buffer holds one value only, so that moving an instruction forward is safe.

use super::instruction::{Instruction, Source};
use super::lower::Buffer;
use super::view::{BufferId, LoopPlan};
use crate::graph::{BinaryOp, Number, UnaryOp};
use crate::hash;
use crate::kernels::{Function, LANES, Step};

/// A fused group of element-wise functions over the same runs of features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fused {
    /// The number of runs.
    pub(crate) runs: usize,
    /// The number of features of each run.
    pub(crate) run: usize,
    /// The numbers, in the first blocks.
    pub(crate) numbers: Vec<Number>,
    /// The values that all observations share, one for each run, in the next blocks.
    pub(crate) shared: Vec<BlockBuffer>,
    /// The values that each observation has, in the same range of blocks as the shared ones.
    pub(crate) inputs: Vec<BlockBuffer>,
    /// The functions. Their results are in the last blocks.
    pub(crate) steps: Vec<Step>,
    /// The results that are written to buffers.
    pub(crate) outputs: Vec<BlockBuffer>,
    /// The scratch buffer for the blocks.
    pub(crate) scratch: BufferId,
}

impl Fused {
    fn blocks(&self) -> usize {
        self.numbers.len() + self.shared.len() + self.inputs.len() + self.steps.len()
    }

    /// Returns whether fusion pays off. Copying a block costs as much as a short function.
    fn is_profitable(&self) -> bool {
        self.steps.len() > self.inputs.len() + self.outputs.len()
    }
}

/// The assignment of a block to a buffer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BlockBuffer {
    pub(crate) buffer: BufferId,
    /// The first feature of each run.
    pub(crate) starts: Vec<usize>,
    pub(crate) block: usize,
}

/// An element-wise instruction with the positions of its operands.
#[derive(Clone, Debug)]
struct Map {
    function: Function,
    operands: Vec<Operand>,
    out: BufferId,
    /// The first feature of each run in the output buffer.
    out_starts: Vec<usize>,
    original: Instruction,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Operand {
    Number(Number),
    At { buffer: BufferId, starts: Vec<usize>, splat: bool },
}

/// An item of the new instruction order.
enum Item {
    Other(Instruction),
    Group { runs: usize, run: usize, maps: Vec<Map> },
}

/// Fuses element-wise instructions of a tile. The buffers `kept` are read after its last instruction.
pub(crate) fn fuse(tile: Vec<Instruction>, native: &mut Vec<Buffer>, kept: &[BufferId]) -> Vec<Instruction> {
    let items = group(tile);
    // The buffers that an item reads and another one writes.
    let read_outside: hash::Set<BufferId> = items.iter().flat_map(read_buffers).chain(kept.iter().copied()).collect();
    let emit = |item| match item {
        Item::Other(instruction) => vec![instruction],
        Item::Group { runs, run, maps } => match fuse_group(runs, run, &maps, &read_outside, native.len()) {
            fused if fused.is_profitable() => {
                native.push(Buffer { features: fused.blocks() * LANES, rows: false });
                for buffer in maps.iter().map(|map| map.out).filter(|buffer| !read_outside.contains(buffer)) {
                    if let BufferId::Native(number) = buffer {
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

/// Appends every element-wise instruction to the last group with its loop if its operands are available there. It
/// cannot join an earlier group in the other case, because an operand is written in the last group or later.
fn group(tile: Vec<Instruction>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    // The item that writes each buffer last, and the index of the map in it if it is a group.
    let mut writer: hash::Map<BufferId, (usize, usize)> = hash::Map::default();
    // The last group of each loop.
    let mut last: hash::Map<(usize, usize), usize> = hash::Map::default();
    for instruction in tile {
        let Some((map, runs, run)) = element_wise(&instruction) else {
            writer.extend(instruction.writes().into_iter().map(|buffer| (buffer, (items.len(), 0))));
            items.push(Item::Other(instruction));
            continue;
        };
        let known = |item: usize, maps: &[Map]| {
            map.operands.iter().all(|operand| match operand {
                Operand::Number(_) => true,
                Operand::At { buffer, starts, splat } => match writer.get(buffer) {
                    // Within a group, only the elements at the same position are available.
                    Some((at, map)) if *at == item => {
                        maps.get(*map).is_some_and(|map| map.out == *buffer && map.out_starts == *starts) && !splat
                    }
                    Some((at, _)) => *at < item,
                    None => true,
                },
            })
        };
        let item = last.get(&(runs, run)).copied().filter(|item| match &items[*item] {
            Item::Group { maps, .. } => known(*item, maps),
            Item::Other(_) => false,
        });
        let item = item.unwrap_or_else(|| {
            items.push(Item::Group { runs, run, maps: vec![] });
            items.len() - 1
        });
        last.insert((runs, run), item);
        if let Item::Group { maps, .. } = &mut items[item] {
            writer.insert(map.out, (item, maps.len()));
            maps.push(map);
        }
    }
    items
}

/// Returns an instruction that can be fused, with the number of runs and the features of each.
fn element_wise(instruction: &Instruction) -> Option<(Map, usize, usize)> {
    let Instruction::Map { function, operands, over, out: out @ BufferId::Native(_) } = instruction else {
        return None;
    };
    let LoopPlan { rows: true, run, starts, splat } = over else { return None };
    if is_not_worth_fusing(*function) {
        return None;
    }
    let mut slot = 0;
    let operands = operands.iter().map(|source| match source {
        Source::Number(number) => Operand::Number(Number(*number)),
        Source::Buffer(buffer) => {
            slot += 1;
            let starts = starts.iter().map(|start| start[slot]).collect();
            Operand::At { buffer: *buffer, starts, splat: splat[slot - 1] }
        }
    });
    let operands = operands.collect();
    let out_starts = starts.iter().map(|start| start[0]).collect();
    Some((
        Map { function: *function, operands, out: *out, out_starts, original: instruction.clone() },
        starts.len(),
        *run,
    ))
}

/// Returns whether a function does not profit from fusion: it is a call of the standard library for each number, or has
/// a specialized kernel.
fn is_not_worth_fusing(function: Function) -> bool {
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

/// Returns the buffers that an item reads and does not write itself.
fn read_buffers(item: &Item) -> hash::Set<BufferId> {
    match item {
        Item::Other(instruction) => instruction.reads().into_iter().collect(),
        Item::Group { maps, .. } => {
            let operands = maps.iter().flat_map(|map| &map.operands).filter_map(|operand| match operand {
                Operand::At { buffer, .. } => Some(*buffer),
                Operand::Number(_) => None,
            });
            let own: hash::Set<BufferId> = maps.iter().map(|map| map.out).collect();
            operands.filter(|buffer| !own.contains(buffer)).collect()
        }
    }
}

/// Returns one instruction for a group.
fn fuse_group(runs: usize, run: usize, maps: &[Map], read_outside: &hash::Set<BufferId>, scratch: usize) -> Fused {
    // Each buffer is written by one step.
    let own: hash::Map<BufferId, usize> = maps.iter().enumerate().map(|(step, map)| (map.out, step)).collect();
    let step_of = |operand: &Operand| match operand {
        Operand::Number(_) => None,
        Operand::At { buffer, .. } => own.get(buffer).copied(),
    };
    let mut seen: hash::Set<&Operand> = hash::Set::default();
    let outside = maps.iter().flat_map(|map| &map.operands).filter(|operand| step_of(operand).is_none());
    let mut from_outside: Vec<&Operand> = outside.filter(|operand| seen.insert(operand)).collect();
    // Sort numbers first.
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
    let written = maps.iter().zip(&steps).filter(|(map, _)| read_outside.contains(&map.out));
    let output =
        |(map, step): (&Map, &Step)| BlockBuffer { buffer: map.out, starts: map.out_starts.clone(), block: step.out };
    let outputs = written.map(output).collect();
    let number = |operand: &&Operand| if let Operand::Number(number) = operand { Some(*number) } else { None };
    let block_buffers = |shared: bool| {
        let block_buffer = move |(block, operand): (usize, &&Operand)| match operand {
            Operand::At { buffer, starts, splat } if *splat == shared => {
                Some(BlockBuffer { buffer: *buffer, starts: starts.clone(), block })
            }
            _ => None,
        };
        from_outside.iter().enumerate().filter_map(block_buffer).collect()
    };
    Fused {
        runs,
        run,
        numbers: from_outside.iter().filter_map(number).collect(),
        shared: block_buffers(true),
        inputs: block_buffers(false),
        steps,
        outputs,
        scratch: BufferId::Native(scratch),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEATURES: usize = 6;

    /// Creates an instruction over one feature of buffers, each read at the given feature.
    fn map(function: Function, operands: &[(usize, usize)], out: usize) -> Instruction {
        let mut starts = [0; 4];
        starts[1..].iter_mut().zip(operands).for_each(|(start, (_, feature))| *start = *feature);
        let over = LoopPlan { rows: true, run: 1, starts: vec![starts], splat: vec![false; operands.len()] };
        let operands = operands.iter().map(|(buffer, _)| Source::Buffer(BufferId::Native(*buffer))).collect();
        Instruction::Map { function, operands, over, out: BufferId::Native(out) }
    }

    fn exp(from: usize, out: usize) -> Instruction {
        map(Function::Unary(UnaryOp::Exp), &[(from, 0)], out)
    }

    fn fused(tile: Vec<Instruction>, kept: usize) -> (Vec<Instruction>, Vec<Buffer>) {
        let mut native = vec![Buffer { features: FEATURES, rows: true }; 8];
        let tile = fuse(tile, &mut native, &[BufferId::Native(kept)]);
        (tile, native)
    }

    #[test]
    fn chain_is_fused_to_one_instruction() {
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
    fn values_with_other_readers_are_written() {
        let weights = Instruction::SumRows { from: BufferId::Native(1), starts: vec![0], out: BufferId::Native(7) };
        let (tile, _) = fused(vec![exp(0, 1), weights, exp(1, 2), exp(2, 3), exp(3, 4)], 4);
        // The three instructions after the sum joined the one before it.
        let [Instruction::Fused(one), Instruction::SumRows { .. }] = tile.as_slice() else { panic!("{tile:?}") };
        let written: Vec<BufferId> = one.outputs.iter().map(|output| output.buffer).collect();
        assert_eq!(written, [BufferId::Native(1), BufferId::Native(4)]);
    }

    #[test]
    fn operands_are_written_before_they_are_read() {
        // These read another feature of the group's result, and the result of an instruction after the group.
        let other_feature = map(Function::Unary(UnaryOp::Exp), &[(3, 1)], 4);
        let loaded = Instruction::LoadWeights { out: BufferId::Native(5) };
        let chain = vec![exp(0, 1), exp(1, 2), exp(2, 3), other_feature, loaded, exp(5, 6)];
        let (tile, _) = fused(chain, 6);
        let names: Vec<String> = tile.iter().map(Instruction::name).collect();
        assert_eq!(names, ["(exp, exp, exp)", "exp", "LoadWeights", "exp"]);
    }

    #[test]
    fn numbers_with_different_bits_have_separate_blocks() {
        let quotient = |number: f64, from: usize, out: usize| {
            let Instruction::Map { mut operands, over, .. } = exp(from, out) else { unreachable!() };
            operands.insert(0, Source::Number(number));
            Instruction::Map { function: Function::Binary(BinaryOp::Div), operands, over, out: BufferId::Native(out) }
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
    fn short_groups_are_not_fused() {
        let (tile, native) = fused(vec![exp(0, 1), exp(1, 2)], 1);
        assert_eq!(tile.len(), 2);
        assert_eq!(native.len(), 8);
    }
}

//! Sequences of functions on a block of numbers that stays in the L1 cache.
//!
//! The length of a block is a compile-time constant, so that there is no remainder loop. For few observations, a
//! remainder loop would dominate the cost.

use super::super::element::Element;
use super::super::simd::{Fma, Simd};
use super::Function;
use super::binary::{ApplyPairs, with_binary, with_compare, with_logic};
use super::unary::{Apply, with_unary};

/// The length of a block.
pub(crate) const LANES: usize = 32;

/// A function of blocks. Its operands are the blocks with the indices `operands`, and its result is the block with the
/// index `out`, which is larger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) function: Function,
    pub(crate) operands: [usize; 3],
    pub(crate) out: usize,
}

/// Executes the steps in order.
pub(crate) fn run_steps<T: Element>(simd: Simd, steps: &[Step], blocks: &mut [[T; LANES]]) {
    simd.run(
        #[inline(always)]
        move |fma| {
            for step in steps {
                run_step(fma, step, blocks);
            }
        },
    );
}

#[inline(always)]
fn run_step<T: Element>(fma: Fma, step: &Step, blocks: &mut [[T; LANES]]) {
    let (before, after) = blocks.split_at_mut(step.out);
    let Some(out) = after.first_mut() else { return };
    let operand = |i: usize| &before[step.operands[i]];
    match step.function {
        Function::Copy => *out = *operand(0),
        Function::Unary(op) => with_unary(op, BlockArgument { fma, x: operand(0), out }),
        Function::Binary(op) => with_binary(op, BlockArguments { fma, a: operand(0), b: operand(1), out }),
        Function::Compare(op) => with_compare(op, BlockArguments { fma, a: operand(0), b: operand(1), out }),
        Function::Logic(op) => with_logic(op, BlockArguments { fma, a: operand(0), b: operand(1), out }),
        Function::Where => {
            let (mask, yes, no) = (operand(0), operand(1), operand(2));
            for lane in 0..LANES {
                // Both operands are read unconditionally, which avoids a branch.
                let (yes, no) = (yes[lane], no[lane]);
                out[lane] = if mask[lane].is_true() { yes } else { no };
            }
        }
    }
}

struct BlockArgument<'a, T> {
    fma: Fma,
    x: &'a [T; LANES],
    out: &'a mut [T; LANES],
}

impl<T: Element> Apply<T> for BlockArgument<'_, T> {
    #[inline(always)]
    fn short(self, f: impl Fn(Fma, T) -> T) {
        for lane in 0..LANES {
            self.out[lane] = f(self.fma, self.x[lane]);
        }
    }

    #[inline(always)]
    fn long(self, f: impl Fn(Fma, T) -> T) {
        self.short(f);
    }
}

struct BlockArguments<'a, T> {
    fma: Fma,
    a: &'a [T; LANES],
    b: &'a [T; LANES],
    out: &'a mut [T; LANES],
}

impl<T: Element> ApplyPairs<T> for BlockArguments<'_, T> {
    #[inline(always)]
    fn pairs(self, f: impl Fn(Fma, T, T) -> T) {
        for lane in 0..LANES {
            self.out[lane] = f(self.fma, self.a[lane], self.b[lane]);
        }
    }
}

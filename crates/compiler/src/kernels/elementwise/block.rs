//! Several functions, one after another on a block of numbers that stays in the nearest cache.
//!
//! Blocks have a length that the compiler knows: there are no numbers left over from whole vectors, which for a handful of observations
//! would cost more than all else.

use super::super::element::Element;
use super::super::simd::{Fma, Simd};
use super::Function;
use super::binary::{ApplyPairs, with_binary, with_compare, with_logic};
use super::unary::{Apply, with_unary};

/// Numbers of a block.
pub(crate) const LANES: usize = 32;

/// A function of blocks: of those numbered `operands`, as many as it has, into the one numbered `out`, which comes after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) function: Function,
    pub(crate) operands: [usize; 3],
    pub(crate) out: usize,
}

/// Takes the steps, one after another.
pub(crate) fn run_steps<T: Element>(simd: Simd, steps: &[Step], blocks: &mut [[T; LANES]]) {
    simd.run(
        #[inline(always)]
        move |fma| {
            for step in steps {
                take(fma, step, blocks);
            }
        },
    );
}

#[inline(always)]
fn take<T: Element>(fma: Fma, step: &Step, blocks: &mut [[T; LANES]]) {
    let (before, after) = blocks.split_at_mut(step.out);
    let Some(out) = after.first_mut() else { return };
    let operand = |i: usize| &before[step.operands[i]];
    match step.function {
        Function::Copy => *out = *operand(0),
        Function::Unary(op) => with_unary(op, OfBlock { fma, x: operand(0), out }),
        Function::Binary(op) => with_binary(op, OfBlocks { fma, a: operand(0), b: operand(1), out }),
        Function::Compare(op) => with_compare(op, OfBlocks { fma, a: operand(0), b: operand(1), out }),
        Function::Logic(op) => with_logic(op, OfBlocks { fma, a: operand(0), b: operand(1), out }),
        Function::Where => {
            let (mask, yes, no) = (operand(0), operand(1), operand(2));
            for lane in 0..LANES {
                // Both are read, so that there is no branch.
                let (yes, no) = (yes[lane], no[lane]);
                out[lane] = if mask[lane].is_true() { yes } else { no };
            }
        }
    }
}

struct OfBlock<'a, T> {
    fma: Fma,
    x: &'a [T; LANES],
    out: &'a mut [T; LANES],
}

impl<T: Element> Apply<T> for OfBlock<'_, T> {
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

struct OfBlocks<'a, T> {
    fma: Fma,
    a: &'a [T; LANES],
    b: &'a [T; LANES],
    out: &'a mut [T; LANES],
}

impl<T: Element> ApplyPairs<T> for OfBlocks<'_, T> {
    #[inline(always)]
    fn pairs(self, f: impl Fn(Fma, T, T) -> T) {
        for lane in 0..LANES {
            self.out[lane] = f(self.fma, self.a[lane], self.b[lane]);
        }
    }
}

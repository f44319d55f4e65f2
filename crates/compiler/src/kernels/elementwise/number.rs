//! Sequences of functions on single numbers.

use super::super::element::Element;
use super::super::simd::Fma;
use super::Function;
use super::binary::{ApplyPairs, with_binary, with_compare, with_logic};
use super::block::Step;
use super::unary::{Apply, with_unary};

/// Executes the steps in order. A register is the number with the index of the block in
/// [`run_steps`](super::run_steps).
#[inline(always)]
pub(crate) fn run_numbers<T: Element>(fma: Fma, steps: &[Step], registers: &mut [T]) {
    for step in steps {
        let [a, b, c] = step.operands;
        let a = registers[a];
        let mut value = a;
        let out = &mut value;
        match step.function {
            Function::Copy => {}
            Function::Unary(op) => with_unary(op, Argument { fma, x: a, out }),
            Function::Binary(op) => with_binary(op, Arguments { fma, a, b: registers[b], out }),
            Function::Compare(op) => with_compare(op, Arguments { fma, a, b: registers[b], out }),
            Function::Logic(op) => with_logic(op, Arguments { fma, a, b: registers[b], out }),
            Function::Where => *out = if a.is_true() { registers[b] } else { registers[c] },
        }
        registers[step.out] = value;
    }
}

struct Argument<'a, T> {
    fma: Fma,
    x: T,
    out: &'a mut T,
}

impl<T: Element> Apply<T> for Argument<'_, T> {
    #[inline(always)]
    fn short(self, f: impl Fn(Fma, T) -> T) {
        *self.out = f(self.fma, self.x);
    }

    #[inline(always)]
    fn long(self, f: impl Fn(Fma, T) -> T) {
        self.short(f);
    }
}

struct Arguments<'a, T> {
    fma: Fma,
    a: T,
    b: T,
    out: &'a mut T,
}

impl<T: Element> ApplyPairs<T> for Arguments<'_, T> {
    #[inline(always)]
    fn pairs(self, f: impl Fn(Fma, T, T) -> T) {
        *self.out = f(self.fma, self.a, self.b);
    }
}

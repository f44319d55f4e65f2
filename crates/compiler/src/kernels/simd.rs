//! Which instructions the machine has, and running a loop compiled for them.

use super::element::Element;

/// The instruction set of this machine, found once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd {
    arch: pulp::Arch,
}

impl Simd {
    /// That of the machine this runs on.
    pub(crate) fn new() -> Self {
        Self { arch: pulp::Arch::new() }
    }

    /// That of the machine, and none at all.
    #[cfg(test)]
    pub(super) fn all() -> [Self; 2] {
        [Self::new(), Self { arch: pulp::Arch::Scalar }]
    }

    /// Runs a kernel, compiled once for each instruction set. All of it has to be `#[inline(always)]`: a function that is
    /// called and not inlined is compiled for the oldest machine. It has to own what it reads (`move`): what it borrows
    /// is read again after each write to a result.
    #[inline(always)]
    pub(crate) fn run<R>(self, kernel: impl FnOnce(Fma) -> R) -> R {
        self.arch.dispatch(Kernel(kernel))
    }

    /// Runs a kernel written in vectors, see [`Vectors`](super::vector::Vectors).
    #[inline(always)]
    pub(super) fn run_vectors<K: pulp::WithSimd>(self, kernel: K) -> K::Output {
        self.arch.dispatch(kernel)
    }
}

struct Kernel<F>(F);

impl<R, F: FnOnce(Fma) -> R> pulp::WithSimd for Kernel<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> R {
        (self.0)(Fma { hardware: const { !S::IS_SCALAR && S::F32_LANES > 1 && !cfg!(target_family = "wasm") } })
    }
}

/// Whether there is an instruction for a b + c. Without one, the function of the standard library is very slow.
#[derive(Clone, Copy, Debug)]
pub struct Fma {
    hardware: bool,
}

impl Fma {
    /// As if the machine had one, or not.
    #[cfg(test)]
    pub(super) fn of(hardware: bool) -> Self {
        Self { hardware }
    }

    /// a b + c, rounded once if the machine can do that.
    #[inline(always)]
    pub(crate) fn mul_add<T: Element>(self, a: T, b: T, c: T) -> T {
        if self.hardware { a.fused_mul_add(b, c) } else { a * b + c }
    }
}

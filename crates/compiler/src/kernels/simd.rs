//! Detection of the instruction set, and dispatch of kernels that are compiled for it.

use super::element::Element;

/// The instruction set of the processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd {
    arch: pulp::Arch,
}

impl Simd {
    /// Detects the instruction set of this processor.
    pub(crate) fn new() -> Self {
        Self { arch: pulp::Arch::new() }
    }

    /// Returns the instruction set of this processor and the scalar fallback.
    #[cfg(test)]
    pub(super) fn all() -> [Self; 2] {
        [Self::new(), Self { arch: pulp::Arch::Scalar }]
    }

    /// Runs a kernel, which is compiled once for each instruction set.
    ///
    /// The whole kernel must be `#[inline(always)]`: a function that is not inlined is compiled for the baseline
    /// instruction set. The closure must own its captures (`move`): captured references are read again after each write
    /// to a result.
    #[inline(always)]
    pub(crate) fn run<R>(self, kernel: impl FnOnce(Fma) -> R) -> R {
        self.arch.dispatch(Kernel(kernel))
    }

    /// Runs a kernel that uses explicit vectors; see [`Vectors`](super::vector::Vectors).
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

/// Fused multiply-add, if the processor supports it. The software fallback of the standard library is very slow.
#[derive(Clone, Copy, Debug)]
pub struct Fma {
    hardware: bool,
}

impl Fma {
    /// Creates the variant with or without hardware support.
    #[cfg(test)]
    pub(super) fn with_hardware(hardware: bool) -> Self {
        Self { hardware }
    }

    /// Returns a b + c, rounded once if the hardware supports it.
    #[inline(always)]
    pub(crate) fn mul_add<T: Element>(self, a: T, b: T, c: T) -> T {
        if self.hardware { a.fused_mul_add(b, c) } else { a * b + c }
    }
}

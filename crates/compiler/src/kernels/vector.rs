//! Explicit vectors, for kernels whose accumulators must stay in registers.
//!
//! The compiler vectorizes loops over elements, but often not sums with several accumulators.

use std::fmt::Debug;

use pulp::Simd;

/// Vectors of a floating-point type.
pub trait Vectors: Copy + Sized {
    /// A vector of the instruction set `S`.
    type Vector<S: Simd>: Copy + Debug;
    /// A mask with one truth value for each lane of a vector.
    type Mask<S: Simd>: Copy + Debug;

    /// Splits a slice into vectors and the remaining elements at its end.
    fn vectors<S: Simd>(x: &[Self]) -> (&[Self::Vector<S>], &[Self]);
    /// Splits a mutable slice into vectors and the remaining elements at its end.
    fn vectors_mut<S: Simd>(x: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);
    /// Returns the last elements of a slice as a vector, or `None` if there are too few.
    fn last_vector<S: Simd>(x: &[Self]) -> Option<&Self::Vector<S>>;
    /// Returns the last elements of a mutable slice as a vector, or `None` if there are too few.
    fn last_vector_mut<S: Simd>(x: &mut [Self]) -> Option<&mut Self::Vector<S>>;
    /// Returns the elements of vectors.
    fn numbers<S: Simd>(x: &[Self::Vector<S>]) -> &[Self];
    /// Returns a vector with x in all lanes.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// Returns a + b.
    fn vector_add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// Returns a b + c.
    fn vector_mul_add<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>, c: Self::Vector<S>) -> Self::Vector<S>;
    /// Returns the sum of the lanes.
    fn total<S: Simd>(simd: S, x: Self::Vector<S>) -> Self;
    /// Returns a mask of the last `count` lanes.
    fn last_lanes<S: Simd>(simd: S, count: usize) -> Self::Mask<S>;
    /// Returns x in the lanes of the mask and 0 in the others.
    fn keep<S: Simd>(simd: S, mask: Self::Mask<S>, x: Self::Vector<S>) -> Self::Vector<S>;
}

macro_rules! vectors {
    ($float:ident: $vector:ident, $mask:ident, $split:ident, $split_mut:ident, $end:ident, $end_mut:ident,
     $splat:ident, $add:ident, $mul_add:ident, $total:ident, $above:ident, $select:ident) => {
        impl Vectors for $float {
            type Vector<S: Simd> = S::$vector;
            type Mask<S: Simd> = S::$mask;

            #[inline(always)]
            fn vectors<S: Simd>(x: &[Self]) -> (&[S::$vector], &[Self]) {
                S::$split(x)
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(x: &mut [Self]) -> (&mut [S::$vector], &mut [Self]) {
                S::$split_mut(x)
            }
            #[inline(always)]
            fn last_vector<S: Simd>(x: &[Self]) -> Option<&S::$vector> {
                S::$end(x).1.last()
            }
            #[inline(always)]
            fn last_vector_mut<S: Simd>(x: &mut [Self]) -> Option<&mut S::$vector> {
                S::$end_mut(x).1.last_mut()
            }
            #[inline(always)]
            fn numbers<S: Simd>(x: &[S::$vector]) -> &[Self] {
                pulp::bytemuck::cast_slice(x)
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, x: Self) -> S::$vector {
                simd.$splat(x)
            }
            #[inline(always)]
            fn vector_add<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn vector_mul_add<S: Simd>(simd: S, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                simd.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn total<S: Simd>(simd: S, x: S::$vector) -> Self {
                simd.$total(x)
            }
            #[inline(always)]
            fn last_lanes<S: Simd>(simd: S, count: usize) -> S::$mask {
                // The array is longer than any vector.
                let indices: [Self; 64] = std::array::from_fn(|lane| lane as Self);
                let lanes = size_of::<S::$vector>() / size_of::<Self>();
                simd.$above(S::$split(&indices).0[0], simd.$splat(lanes as Self - count as Self))
            }
            #[inline(always)]
            fn keep<S: Simd>(simd: S, mask: S::$mask, x: S::$vector) -> S::$vector {
                simd.$select(mask, x, simd.$splat(0.0))
            }
        }
    };
}

vectors!(
    f32: f32s, m32s, as_simd_f32s, as_mut_simd_f32s, as_rsimd_f32s, as_mut_rsimd_f32s,
    splat_f32s, add_f32s, mul_add_e_f32s, reduce_sum_f32s, greater_than_or_equal_f32s, select_f32s
);
vectors!(
    f64: f64s, m64s, as_simd_f64s, as_mut_simd_f64s, as_rsimd_f64s, as_mut_rsimd_f64s,
    splat_f64s, add_f64s, mul_add_e_f64s, reduce_sum_f64s, greater_than_or_equal_f64s, select_f64s
);

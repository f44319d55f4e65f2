//! Operations of random closures that change shapes, multiply matrices or select by integers.

use sgmcmc::burn::{Int, Tensor, s};

use super::operations::{Domain::Any, Form, Operation, Out, Range};

/// The arguments of a random closure.
#[derive(Debug)]
pub struct Arguments {
    /// A vector parameter, `[3]`.
    pub vector: Tensor<1>,
    /// A matrix parameter, `[3, 3]`.
    pub matrix: Tensor<2>,
    /// A scalar parameter, `[1]`.
    pub scalar: Tensor<1>,
    /// Three numbers per observation, `[n, 3]`.
    pub wide: Tensor<2>,
    /// One number per observation, `[n]`.
    pub narrow: Tensor<1>,
    /// One integer from 0 to 2 per observation, `[n]`.
    pub index: Tensor<1, Int>,
    /// One flag per observation, `[n]`.
    pub flag: Tensor<1, sgmcmc::burn::Bool>,
    /// One matrix per observation, `[n, 2, 3]`.
    pub cube: Tensor<3>,
}

impl Arguments {
    /// Returns the number n of observations.
    pub fn rows(&self) -> usize {
        self.narrow.dims()[0]
    }
}

/// Returns the bounds of the operand.
fn same(v: &[Range], _: f64) -> Range {
    v[0]
}

/// Returns the bounds of a sum of three products with numbers of absolute value at most two.
fn product(v: &[Range], _: f64) -> Range {
    v[0].symmetric(6.0)
}

macro_rules! shape {
    ($name:literal, $form:ident -> $out:ident, $range:expr, $run:expr) => {
        Operation { name: $name, domains: &[Any], form: Form::$form, out: Out::$out, range: $range, run: $run }
    };
}

/// The operations, each with one operand.
pub static ALL: &[Operation] = &[
    shape!("flip", Wide -> Same, same, |_, v, _| v[0].clone().flip([1])),
    shape!("reverse", Wide -> Same, same, |_, v, _| v[0].clone().slice(s![.., ..;-1])),
    shape!("rotate", Wide -> Same, same, |_, v, _| {
        Tensor::cat(vec![v[0].clone().slice(s![.., 1..3]), v[0].clone().slice(s![.., 0..1])], 1)
    }),
    shape!("roll", Wide -> Same, same, |_, v, _| v[0].clone().roll_dim(2, 1)),
    shape!("column", Wide -> Narrow, same, |_, v, _| v[0].clone().narrow(1, 1, 1)),
    shape!("repeat", Narrow -> Wide, same, |_, v, _| v[0].clone().repeat_dim(1, 3)),
    shape!("expand", Narrow -> Wide, same, |_, v, _| {
        let rows = v[0].dims()[0];
        v[0].clone().expand([rows, 3])
    }),
    shape!("transposed", Wide -> Same, |v, _| v[0].symmetric(2.0), |a, v, _| {
        (v[0].clone().transpose() * a.scalar.clone().tanh().unsqueeze() * 2.0).transpose()
    }),
    shape!("flattened", Rows -> Same, same, |a, v, _| {
        v[0].clone().reshape([a.rows() * 3]).reshape([a.rows(), 3])
    }),
    shape!("permuted", Rows -> Same, same, |a, v, _| {
        v[0].clone().reshape([a.rows(), 1, 3]).permute([2, 0, 1]).permute([1, 0, 2]).reshape([a.rows(), 3])
    }),
    shape!("stacked", Wide -> Same, |v, _| v[0].symmetric(2.0), |_, v, _| {
        let other = v[0].clone().tanh();
        Tensor::stack::<3>(vec![v[0].clone(), other], 1).sum_dim(1).squeeze_dim(1)
    }),
    shape!("stacked maximum", Wide -> Same, |v, _| v[0].symmetric(1.0), |_, v, _| {
        let other = v[0].clone().neg();
        Tensor::stack::<3>(vec![v[0].clone(), other], 2).max_dim(2).squeeze_dim(2)
    }),
    shape!("assigned", Wide -> Same, |v, _| v[0].symmetric(1.0), |_, v, _| {
        let middle = v[0].clone().narrow(1, 0, 1).sin();
        v[0].clone().slice_assign(s![.., 1..2], middle)
    }),
    shape!("cube times", Rows -> Same, |v, _| v[0].symmetric(4.0), |a, v, _| {
        (v[0].clone().unsqueeze_dim::<3>(1) * a.cube.clone()).sum_dim(1).squeeze_dim(1)
    }),
    shape!("cube largest", Rows -> Same, |v, _| v[0].symmetric(2.0), |a, v, _| {
        (v[0].clone().unsqueeze_dim::<3>(1) * a.cube.clone()).max_dim(1).squeeze_dim(1)
    }),
    shape!("cube mean", Rows -> Narrow, |v, _| v[0].symmetric(2.0), |a, v, _| {
        (v[0].clone().unsqueeze_dim::<3>(1) * a.cube.clone()).mean_dims(&[1, 2]).squeeze_dim(2)
    }),
    shape!("cube product", Rows -> Narrow, |v, _| v[0].symmetric(12.0), |a, v, _| {
        a.cube.clone().matmul(v[0].clone().unsqueeze_dim(2)).sum_dim(1).squeeze_dim(2)
    }),
    shape!("cube matrix", Rows -> Same, |v, _| v[0].symmetric(30.0), |a, v, _| {
        let product = a.cube.clone().matmul(a.matrix.clone().unsqueeze());
        v[0].clone() * product.sum_dim(1).squeeze_dim::<2>(1)
    }),
    shape!("matrix", Wide -> Same, product, |a, v, _| v[0].clone().matmul(a.matrix.clone().tanh())),
    shape!("transposed matrix", Wide -> Same, product, |a, v, _| {
        v[0].clone().matmul(a.matrix.clone().tanh().transpose())
    }),
    shape!("matrix from the left", Wide -> Same, product, |a, v, _| {
        a.matrix.clone().tanh().matmul(v[0].clone().transpose()).transpose()
    }),
    shape!("lower triangle", Wide -> Same, product, |a, v, _| v[0].clone().matmul(a.matrix.clone().tanh().tril(0))),
    shape!("inner product", Wide -> Narrow, product, |a, v, _| {
        v[0].clone().matmul(a.vector.clone().tanh().unsqueeze_dim(1))
    }),
    shape!("outer product", Wide -> Same, product, |a, v, _| {
        let vector = a.vector.clone().tanh();
        v[0].clone().matmul(vector.clone().unsqueeze_dim::<2>(1).matmul(vector.unsqueeze()))
    }),
    shape!("gathered", Rows -> Narrow, same, |a, v, _| v[0].clone().gather(1, a.index.clone().unsqueeze_dim(1))),
    shape!("gathered vector", Narrow -> Rows, |v, _| v[0].symmetric(2.0), |a, v, _| {
        v[0].clone() * a.vector.clone().tanh().gather(0, a.index.clone()).unsqueeze_dim::<2>(1)
    }),
    shape!("selected", Narrow -> Rows, |v, _| v[0].symmetric(2.0), |a, v, _| {
        v[0].clone() * a.vector.clone().tanh().select(0, a.index.clone()).unsqueeze_dim::<2>(1)
    }),
    shape!("selected rows", Wide -> Rows, |v, _| v[0].symmetric(2.0), |a, v, _| {
        v[0].clone() * a.matrix.clone().tanh().select(0, a.index.clone())
    }),
    shape!("selected columns", Wide -> Rows, |v, _| v[0].symmetric(2.0), |a, v, _| {
        v[0].clone() * a.matrix.clone().tanh().select(1, a.index.clone()).transpose()
    }),
    shape!("flagged", Narrow -> Rows, |v, _| v[0].symmetric(2.0), |a, v, _| {
        v[0].clone() * a.flag.clone().float().cast(a.narrow.dtype()).unsqueeze_dim::<2>(1)
    }),
    shape!("masked by integers", Rows -> Same, |v, c| v[0].with(c), |a, v, c| {
        let mask = a.index.clone().equal_elem(1).bool_or(a.flag.clone()).unsqueeze_dim::<2>(1);
        v[0].clone().mask_fill(mask.expand([a.rows(), 3]), c)
    }),
    shape!("integers", Narrow -> Rows, |v, _| v[0].symmetric(6.0), |a, v, _| {
        v[0].clone() * (a.index.clone() * 2 - 1).float().cast(a.narrow.dtype()).unsqueeze_dim::<2>(1)
    }),
];

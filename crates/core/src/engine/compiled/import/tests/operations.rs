//! Tests of all operations that can be compiled, on values per observation and on shared values.

use burn_tensor::activation as act;
use burn_tensor::{Bool, DType, IndexingUpdateOp, Int, Tensor, TensorData, s};

use super::check::check;
use super::{dataset, matrix, numbers, vector};
use crate::{Model, array};

/// Data with n × 3 floats, n integers in 0..3 and n masks.
type Rows = (Tensor<2>, Tensor<1, Int>, Tensor<1, Bool>);

fn rows() -> Rows {
    let index = array(vec![2_i64, 0, 1, 1], [4]).unwrap();
    (matrix(4, 3), index, array(vec![true, false, false, true], [4]).unwrap())
}

/// Defines tests of functions of the 3 × 2 parameters w and the data. The result of a function has one number per
/// observation.
macro_rules! operations {
    ($($test:ident { $($name:literal: |$w:pat_param, $rows:pat_param| $result:expr;)+ })+) => {
        $(#[test]
        fn $test() {
            $({
                let model = Model::new(|$w: Tensor<2>, $rows: Rows| $result);
                check($name, &model, &dataset(rows()), &(matrix(3, 2) + 1.05));
            })+
        })+
    };
}

/// Returns the sum of all elements of each observation.
fn each<const R: usize>(x: Tensor<R>) -> Tensor<1> {
    let n = x.dims()[0];
    x.reshape([n as i32, -1]).sum_dim(1).reshape([n])
}

fn flat<const R: usize>(mask: Tensor<R, Bool>) -> Tensor<1> {
    each(mask.float().cast(DType::F64))
}

operations!(
    functions {
        "exp log": |w, (x, _, _)| each((x.matmul(w).exp() + 1.0).log());
        "log1p sqrt recip": |w, (x, _, _)| each(x.matmul(w).abs().log1p().sqrt() + 1.0).recip();
        "sign erf": |w, (x, _, _)| each(x.clone().matmul(w.clone()).sign() + x.matmul(w).erf());
        "trigonometric": |w, (x, _, _)| { let z = x.matmul(w) * 0.1; each(z.clone().sin() + z.clone().cos() * z.tan()) };
        "hyperbolic": |w, (x, _, _)| { let z = x.matmul(w) * 0.1; each(z.clone().sinh() + z.clone().cosh() * z.tanh()) };
        "inverse": |w, (x, _, _)| { let z = x.matmul(w) * 0.1; each(z.clone().asin() + z.clone().acos() * z.atan()) };
        "inverse hyperbolic": |w, (x, _, _)| {
            let z = x.matmul(w) * 0.1;
            each(z.clone().asinh() + z.clone().atanh() * (z.square() + 1.5).acosh())
        };
        "atan2": |w, (x, _, _)| each(x.clone().matmul(w.clone()).atan2(x.matmul(w).exp()));
        "rounding": |w, (x, _, _)| { let z = x.matmul(w) * 3.0; each(z.clone().floor() + z.clone().ceil() * 2.0 + z.clone().round() * 3.0 + z.trunc()) };
        "powers": |w, (x, _, _)| {
            let z = x.matmul(w).abs() + 0.5;
            each(z.clone().powf_scalar(1.5) + z.clone().powi_scalar(3) + z.clone().powf_scalar(2.0) + z.clone().powi_scalar(-1) + z.clone().powf(z))
        };
        "scalars": |w, (x, _, _)| each((x.matmul(w) * 2.0 - 1.0) / 3.0 + 0.25);
        "remainder": |w, (x, _, _)| each(x.clone().matmul(w.clone()).remainder(w.narrow(0, 0, 1)) + x.narrow(1, 0, 2).remainder_scalar(0.3));
    }

    activations {
        "sigmoid": |w, (x, _, _)| each(act::sigmoid(x.matmul(w)));
        "relu": |w, (x, _, _)| each(act::relu(x.matmul(w)));
        "leaky relu": |w, (x, _, _)| each(act::leaky_relu(x.matmul(w), 0.01));
        "prelu": |w, (x, _, _)| each(act::prelu(x.matmul(w.clone()), w.narrow(0, 0, 1).reshape([2])));
        "gelu": |w, (x, _, _)| each(act::gelu(x.matmul(w)));
        "softplus": |w, (x, _, _)| each(act::softplus(x.matmul(w), 1.5));
        "softmax": |w, (x, _, _)| each(act::softmax(x.matmul(w), 1).square());
        "softmin": |w, (x, _, _)| each(act::softmin(x.matmul(w), 1).square());
        "log softmax of transposed": |w, (x, _, _)| each(act::log_softmax(x.matmul(w).transpose(), 0).transpose().square());
        "silu mish": |w, (x, _, _)| each(act::silu(x.clone().matmul(w.clone())) + act::mish(x.matmul(w)));
    }

    bounds_and_masks {
        "pairs": |w, (x, _, _)| { let z = x.matmul(w); each(z.clone().max_pair(z.clone().neg()) + z.clone().min_pair(z.exp())) };
        "clamp": |w, (x, _, _)| { let z = x.matmul(w); each(z.clone().clamp(-0.3, 0.4) + z.clone().clamp_min(0.1) + z.clamp_max(0.2)) };
        "mask where": |w, (x, _, mask)| { let z = x.matmul(w); each(z.clone().mask_where(mask.unsqueeze_dim::<2>(1).expand(z.dims()), z.neg())) };
        "mask fill": |w, (x, _, mask)| { let z = each(x.matmul(w)); z.mask_fill(mask, -1.5) };
        "comparisons": |w, (x, _, _)| {
            let z = x.clone().matmul(w.clone());
            let y = x.narrow(1, 0, 2) + w.narrow(0, 0, 1);
            flat(z.clone().greater(y.clone())) + flat(z.clone().lower_equal(y.clone())) * 2.0
                + flat(z.clone().greater_equal(y.clone())) * 4.0 + flat(z.clone().lower(y.clone())) * 8.0
                + flat(z.clone().equal(y.clone())) * 16.0 + flat(z.not_equal(y)) * 32.0
        };
        "comparisons with numbers": |w, (x, _, _)| {
            let z = x.matmul(w);
            flat(z.clone().greater_elem(0.1)) + flat(z.clone().lower_equal_elem(0.2)) * 2.0
                + flat(z.clone().greater_equal_elem(0.3)) * 4.0 + flat(z.clone().lower_elem(0.4)) * 8.0
                + flat(z.clone().equal_elem(0.5)) * 16.0 + flat(z.not_equal_elem(0.6)) * 32.0
        };
        "logic": |w, (x, _, mask)| {
            let low = each(x.matmul(w)).lower_elem(0.0);
            flat(low.clone().bool_and(mask.clone())) + flat(low.clone().bool_or(mask.clone()).bool_not())
                + flat(low.clone().bool_xor(mask.clone())) + flat(low.clone().equal(mask.clone())) + flat(low.not_equal(mask))
        };
        "any and all": |w, (x, _, _)| {
            let low = x.matmul(w).lower_elem(0.5);
            flat(low.clone().any_dim(1)) + flat(low.all_dim(1)) * 2.0
        };
        "not a number": |w, (x, _, _)| flat(x.clone().matmul(w.clone()).is_nan()) + flat(x.matmul(w).recip().is_inf());
    }

    reductions {
        "mean": |w, (x, _, _)| x.matmul(w).mean_dim(1).squeeze_dim::<1>(1);
        "product": |w, (x, _, _)| x.matmul(w).prod_dim(1).squeeze_dim::<1>(1);
        "largest": |w, (x, _, _)| x.matmul(w).max_dim(1).squeeze_dim::<1>(1);
        "smallest": |w, (x, _, _)| x.matmul(w).min_dim(1).squeeze_dim::<1>(1);
        "largest with its index": |w, (x, _, _)| x.matmul(w).max_dim_with_indices(1).0.squeeze_dim::<1>(1);
        "of shared values": |w, (x, _, _)| each(x) * w.clone().mean() + w.clone().max() + w.clone().min() * w.clone().prod() + w.sum();
        "several axes": |w, (x, _, _)| (x.unsqueeze_dim::<3>(2) * w.unsqueeze_dim::<3>(0)).sum_dims(&[1, 2]).reshape([-1]);
        "cumulative": |w, (x, _, _)| each(x.matmul(w).cumsum(1).square());
        "largest size": |w, (x, _, _)| x.matmul(w).max_abs_dim(1).squeeze_dim::<1>(1);
        "variance": |w, (x, _, _)| x.matmul(w).var_mean(1).0.squeeze_dim::<1>(1);
    }

    products {
        "rows on the right": |w, (x, _, _)| w.transpose().matmul(x.transpose()).sum_dim(0).squeeze_dim::<1>(0);
        "rows as batch": |w, (x, _, _)| {
            let left = x.clone().unsqueeze_dim::<3>(1);
            let right = x.unsqueeze_dim::<3>(2) * w.unsqueeze_dim::<3>(0);
            each(left.matmul(right).exp())
        };
        "shared by batch": |w, (x, _, _)| each(w.transpose().unsqueeze_dim::<3>(0).matmul(x.unsqueeze_dim::<3>(2)).square());
        "linear": |w, (x, _, _)| each(burn_tensor::module::linear(x, w.clone(), Some(w.narrow(0, 0, 1).reshape([2]))).exp());
        "merged rows": |w, (x, _, _)| {
            let n = x.dims()[0];
            // Each observation has three vectors, which are multiplied by the same matrix.
            let many = x.clone().unsqueeze_dim::<3>(1).repeat_dim(1, 3) * w.clone().sum().reshape([1, 1, 1]);
            let out = many.reshape([n * 3, 3]).matmul(w).tanh().reshape([n, 3, 2]);
            each(out.square())
        };
        "dot": |w, (x, _, _)| x.clone().matmul(w.clone()).matmul(w.transpose()).mul(x).sum_dim(1).flatten::<1>(0, 1);
    }

    movement {
        "swapping and permuting": |w, (x, _, _)| {
            let z = x.unsqueeze_dim::<3>(2) * w.unsqueeze_dim::<3>(0);
            let z = z.permute([2, 0, 1]).swap_dims(0, 2).cumsum(0);
            z.swap_dims(0, 1).sum_dims(&[1, 2]).reshape([-1])
        };
        "slices": |w, (x, _, _)| {
            let z = x.clone().slice(s![.., 0..2]) * w.clone().slice([1..2, 0..2]) + x.clone().slice(s![.., 0..2;-1]).narrow(1, 0, 1);
            each(z) + each(x.clone().slice([0..x.dims()[0], 1..3]).exp()) + each(w.slice(s![0..3;2, 0..1]).reshape([1, 2]) * x.narrow(1, 1, 2))
        };
        "steps": |w, (x, _, _)| { let z = x.matmul(w.transpose().repeat_dim(0, 2).narrow(0, 0, 3)); each(z.clone().slice(s![.., ..;-1]).cumsum(1) + z.slice(s![.., 0..3;2]).sum_dim(1)) };
        "slice assignment": |w, (x, _, _)| {
            let z = x.clone().slice_assign(s![.., 1..2], (x.clone() * w.clone().sum().reshape([1, 1])).narrow(1, 0, 1));
            let v = w.clone().slice_assign([1..3, 0..1], w.narrow(0, 0, 2).narrow(1, 1, 1) * 2.0);
            each(z.matmul(v).exp())
        };
        "flips": |w, (x, _, _)| each(x.matmul(w.flip([0, 1])).flip([1]).cumsum(1));
        "cat and stack": |w, (x, _, _)| {
            let z = Tensor::cat(vec![x.clone(), x.clone().matmul(w)], 1);
            let pair: Tensor<3> = Tensor::stack(vec![z.clone(), z.exp()], 1);
            each(pair.cumsum(1))
        };
        "padding": |w, (x, _, _)| each(x.matmul(w).pad([(0, 0), (1, 2)], 0.5).cumsum(1));
        "repeats": |w, (x, _, _)| each(x.matmul(w).repeat_dim(1, 2).cumsum(1));
        "merging and splitting": |w, (x, _, _)| {
            let [n, k] = x.dims();
            let line = x.reshape([n * k]).exp();
            each(line.reshape([n, k]).matmul(w))
        };
        "expanding": |w, (x, _, _)| { let n = x.dims()[0]; each(w.unsqueeze_dim::<3>(0).expand([n, 3, 2]).mul(x.unsqueeze_dim(2)).exp()) };
        "repeating for the rows": |w, (x, _, _)| { let n = x.dims()[0]; each(w.narrow(0, 0, 1).repeat_dim(0, n) * x.narrow(1, 0, 2)) };
    }

    constants {
        "filled": |w, (x, _, _)| {
            let z = x.matmul(w);
            each(z.ones_like() * 2.0 + z.zeros_like() + Tensor::full(z.dims(), 0.5, (&z.device(), DType::F64)) * z)
        };
        "listed": |w, (x, _, _)| {
            let list = Tensor::<1>::from_data(TensorData::new(vec![0.5, -1.5], [2]), (&x.device(), DType::F64));
            each(x.matmul(w) * list.unsqueeze_dim(0))
        };
        "listed for the rows": |w, (x, _, _)| {
            let n = x.dims()[0];
            let same = Tensor::<1>::from_data(TensorData::new(vec![0.5; n], [n]), (&x.device(), DType::F64));
            each(x.matmul(w)) * same
        };
        "counting": |w, (x, _, _)| {
            let positions = Tensor::<1, Int>::arange(0..2, &x.device()).float().cast(DType::F64);
            each(x.matmul(w) * positions.unsqueeze_dim(0))
        };
        "one hot": |w, (x, index, _)| {
            let positions = Tensor::<1, Int>::arange(0..3, &x.device()).cast(index.dtype()).unsqueeze_dim::<2>(0);
            let hot = index.unsqueeze_dim::<2>(1).expand([x.dims()[0], 3]).equal(positions.expand([x.dims()[0], 3]));
            each(hot.float().cast(DType::F64).matmul(w) * x.narrow(1, 0, 2))
        };
    }

    indexing {
        "select": |w, (x, index, _)| each(w.select(0, index) * x.narrow(1, 0, 2));
        "select columns": |w, (x, index, _)| w.transpose().select(1, index).mul(x.narrow(1, 0, 2).transpose()).sum_dim(0).squeeze_dim::<1>(0);
        "select by a list": |w, (x, _, _)| {
            let list = Tensor::<1, Int>::from_data(TensorData::new(vec![1_i64, 0, 1], [3]), &x.device());
            each(x.matmul(w.clone()).select(1, list.clone()).cumsum(1)) + w.select(1, list).sum()
        };
        "gather": |w, (x, index, _)| x.matmul(w.clone().matmul(w.transpose())).gather(1, index.unsqueeze_dim(1)).squeeze_dim::<1>(1);
        "gather from shared": |w, (x, index, _)| {
            let n = x.dims()[0];
            each(w.gather(0, index.unsqueeze_dim::<2>(1).expand([n, 2])) * x.narrow(1, 0, 2))
        };
        "scatter": |w, (x, index, _)| each(x.clone().scatter(1, index.unsqueeze_dim(1), x.matmul(w).narrow(1, 0, 1), IndexingUpdateOp::Add).exp());
        "assign at a list": |w, (x, _, _)| {
            let list = Tensor::<1, Int>::from_data(TensorData::new(vec![1_i64, 1], [2]), &x.device());
            each(x.clone().select_assign(1, list, x.matmul(w), IndexingUpdateOp::Add).exp())
        };
        "embedding": |w, (x, index, _)| {
            let out: Tensor<3> = burn_tensor::module::embedding(w, index.unsqueeze_dim::<2>(1));
            each(out) * each(x)
        };
        "arithmetic of integers": |w, (x, index, _)| {
            let n = x.dims()[0];
            let next = (index.clone() * 2 + 1).remainder_scalar(3);
            let half = (index.clone() + 1) / 2;
            each(w.clone().select(0, next)) + each(w.select(0, half.clamp(0, 1))) + index.greater_elem(0).float().cast(DType::F64).reshape([n])
        };
    }
);

#[test]
fn single_precision() {
    let x = array(vec![0.5_f32, 1.0, 2.0], [3]).unwrap();
    let model = Model::new(|w: Tensor<1>, x: Tensor<1>| (x.clone() - w).square() * -0.5 + x.greater_elem(0.7).float());
    let (data, start) = (dataset(x), array(vec![0.25_f32], [1]).unwrap());
    let layout = model.layout(&start).unwrap();
    let posterior = model.with(&data);
    let captured = crate::engine::compiled::capture::capture(&posterior, &start, &layout, DType::F32).unwrap();
    assert!(captured.graph.shape(captured.likelihood.unwrap().node).rows);
}

#[test]
fn wide_rows() {
    let model = Model::new(|w: Tensor<1>, x: Tensor<4>| each(x * w.reshape([1, 1, 1, 2])));
    let x: Tensor<4> = array(numbers(3 * 2 * 2 * 2, 0.2), [3, 2, 2, 2]).unwrap();
    check("rank four", &model, &dataset(x), &vector(2));
}

//! A two-layer softmax network: h = softmax(Aᵀx + a), y ~ Categorical(softmax(Bᵀh + b)), standard normal prior on all
//! (the network of Baker 2019, §4.6.3, with known precision).

use rand::RngExt;
use sgmcmc::AnalyticTree;
use sgmcmc::burn::activation::{log_softmax, softmax};
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

use super::{Case, Simulated, normals, standard_normal_prior};
use crate::rng;

const INPUTS: usize = 4;
const HIDDEN: usize = 3;
const CLASSES: usize = 3;

/// A dense layer.
#[derive(TensorTree, Debug)]
pub struct Layer {
    /// The weights, inputs × outputs.
    pub weight: Tensor<2>,
    /// The biases, one per output.
    pub bias: Tensor<1>,
}

impl Layer {
    fn forward(self, x: Tensor<2>) -> Tensor<2> {
        x.matmul(self.weight) + self.bias.unsqueeze_dim(0)
    }

    fn squares(self) -> Tensor<1> {
        self.weight.square().sum() + self.bias.square().sum()
    }

    fn zeros(inputs: usize, outputs: usize) -> Self {
        Self { weight: zeros([inputs, outputs]), bias: zeros([outputs]) }
    }
}

/// The parameters.
#[derive(TensorTree, Debug)]
pub struct Network {
    /// The hidden layer, A and a.
    pub hidden: Layer,
    /// The output layer, B and b.
    pub output: Layer,
}

/// The observations.
#[derive(TensorTree, Debug)]
pub struct Images {
    /// The inputs, one row per observation.
    pub x: Tensor<2>,
    /// The class, from 0.
    pub label: Tensor<1, Int>,
}

/// Returns the model as closures.
pub fn model() -> Model<Network, Images> {
    Model::new(|network: Network, r: Images| {
        let hidden = softmax(network.hidden.forward(r.x), 1);
        let classes = log_softmax(network.output.forward(hidden), 1);
        classes.gather(1, r.label.unsqueeze_dim(1)).squeeze_dim::<1>(1)
    })
    .prior(|network: Network| (network.hidden.squares() + network.output.squares()) * -0.5)
}

/// The model with a hand-written gradient; the parameters are A, a, B, b, row-major.
#[derive(Debug)]
pub struct ByHand {
    x: Vec<f64>,
    label: Vec<i64>,
}

const A: usize = 0;
const A_BIAS: usize = A + INPUTS * HIDDEN;
const B: usize = A_BIAS + HIDDEN;
const B_BIAS: usize = B + HIDDEN * CLASSES;
const DIM: usize = B_BIAS + CLASSES;

fn softmax_by_hand<const K: usize>(z: [f64; K]) -> [f64; K] {
    let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exps = z.map(|z| (z - largest).exp());
    let sum: f64 = exps.iter().sum();
    exps.map(|e| e / sum)
}

impl AnalyticModel for ByHand {
    fn observations(&self) -> usize {
        self.label.len()
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let x = &self.x[row * INPUTS..(row + 1) * INPUTS];
        let label = self.label[row] as usize;
        let h = softmax_by_hand::<HIDDEN>(std::array::from_fn(|k| {
            theta[A_BIAS + k] + (0..INPUTS).map(|j| x[j] * theta[A + j * HIDDEN + k]).sum::<f64>()
        }));
        let p = softmax_by_hand::<CLASSES>(std::array::from_fn(|c| {
            theta[B_BIAS + c] + (0..HIDDEN).map(|k| h[k] * theta[B + k * CLASSES + c]).sum::<f64>()
        }));
        // ∂ log p_label / ∂z₂ = 1{label} − p, then back through h = softmax(z₁).
        let dz2: [f64; CLASSES] = std::array::from_fn(|c| f64::from(u8::from(c == label)) - p[c]);
        let dh: [f64; HIDDEN] =
            std::array::from_fn(|k| (0..CLASSES).map(|c| theta[B + k * CLASSES + c] * dz2[c]).sum::<f64>());
        let mean: f64 = h.iter().zip(&dh).map(|(h, dh)| h * dh).sum();
        let dz1: [f64; HIDDEN] = std::array::from_fn(|k| h[k] * (dh[k] - mean));
        for c in 0..CLASSES {
            grad[B_BIAS + c] += weight * dz2[c];
            (0..HIDDEN).for_each(|k| grad[B + k * CLASSES + c] += weight * h[k] * dz2[c]);
        }
        for k in 0..HIDDEN {
            grad[A_BIAS + k] += weight * dz1[k];
            (0..INPUTS).for_each(|j| grad[A + j * HIDDEN + k] += weight * x[j] * dz1[k]);
        }
        p[label].ln()
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        standard_normal_prior(theta, grad)
    }
}

/// This model as a test case.
#[derive(Debug)]
pub struct SoftmaxNetwork;

impl Case for SoftmaxNetwork {
    type Params = Network;
    type Data = Images;

    fn simulate(n: usize, seed: u64) -> Simulated<Network, Images> {
        let x = normals(n * INPUTS, seed);
        let mut rng = rng(seed + 1);
        let label: Vec<i64> = (0..n).map(|_| rng.random_range(0..CLASSES as i64)).collect();
        let images = Images {
            x: array(x.clone(), [n, INPUTS]).expect("x has n rows"),
            label: array(label.clone(), [n]).expect("labels have n rows"),
        };
        Simulated {
            posterior: model().with(&Dataset::new(images).expect("simulated data are finite")),
            by_hand: AnalyticTree::new(ByHand { x, label }),
            start: Network { hidden: Layer::zeros(INPUTS, HIDDEN), output: Layer::zeros(HIDDEN, CLASSES) },
        }
    }
}

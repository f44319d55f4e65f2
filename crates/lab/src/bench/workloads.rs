//! The reference workloads: closures over Burn tensors with data in single precision.
//!
//! | name | N | n | parameters | model |
//! |---|---|---|---|---|
//! | `gauss2` | 10 000 | 100 | 2 | the mean of a two-dimensional Gaussian |
//! | `logistic_small` | 30 000 | 10 | 124 | logistic regression, Laplace prior |
//! | `logistic` | 100 000 | 500 | 55 | logistic regression, Laplace prior |
//! | `mixture` | 1 000 | 100 | 4 | two two-dimensional Gaussians (Baker 2019, §4.6.1) |
//! | `bnn` | 55 000 | 500 | 79 510 | a 784-100-10 softmax network (Baker 2019, §4.6.3) |
//! | `pmf` | 80 000 | 5 000 | 55 125 | factorization of 943 × 1682 ratings at rank 20, with biases |

use sgmcmc::burn::activation::{softmax, softplus};
use sgmcmc::gradient::Result;
use sgmcmc::minibatch::WithReplacement;
use sgmcmc::prelude::*;

use crate::bench::data::{generator, images, integers, logistic, mixture, normals};

/// The names of the workloads, in the order of the tables.
pub(crate) const NAMES: [&str; 6] = ["gauss2", "logistic_small", "logistic", "mixture", "bnn", "pmf"];

/// The step size h of SGLD.
pub(crate) const STEP_SIZE: f64 = 1e-6;

/// The number of observations, the size of a minibatch and the number of timed steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) observations: usize,
    pub(crate) minibatch: usize,
    pub(crate) iterations: usize,
}

impl Size {
    /// Returns the size of the workload `name`, which is one of [`NAMES`].
    pub(crate) fn from_name(name: &str) -> Self {
        let (observations, minibatch, iterations) = match name {
            "gauss2" => (10_000, 100, 20_000),
            "logistic_small" => (30_000, 10, 20_000),
            "logistic" => (100_000, 500, 5_000),
            "mixture" => (1_000, 100, 20_000),
            "bnn" => (55_000, 500, 200),
            _ => (80_000, 5_000, 500),
        };
        Self { observations, minibatch, iterations }
    }

    /// Returns the minibatch scheme.
    pub(crate) fn scheme(self) -> WithReplacement {
        WithReplacement::new(self.minibatch)
    }
}

/// Returns the number of covariates of a logistic regression.
pub(crate) fn covariates(name: &str) -> usize {
    if name == "logistic_small" { 123 } else { 54 }
}

/// A model with its data.
#[derive(Debug)]
pub(crate) struct Workload<P, D> {
    pub(crate) name: &'static str,
    pub(crate) size: Size,
    pub(crate) posterior: Posterior<P, D>,
    pub(crate) start: P,
}

/// An action on a workload of any type.
pub(crate) trait Task {
    fn run<P: TensorTree, D: TensorTree>(&mut self, workload: &Workload<P, D>) -> Result<()>;
}

/// Runs `task` on each workload. The workloads are created one after another, so that only one is in memory.
pub(crate) fn each(names: &[&'static str], task: &mut impl Task) -> Result<()> {
    for name in names {
        match *name {
            "gauss2" => task.run(&gauss2()?)?,
            "logistic_small" | "logistic" => task.run(&logistic_regression(name)?)?,
            "mixture" => task.run(&gaussian_mixture()?)?,
            "bnn" => task.run(&network()?)?,
            _ => task.run(&factorization()?)?,
        }
    }
    Ok(())
}

#[derive(TensorTree, Debug)]
pub(crate) struct Points {
    x: Tensor<2>,
}

#[derive(TensorTree, Debug)]
pub(crate) struct Mean {
    pub(crate) mu: Tensor<1>,
}

/// Returns −½ ‖xᵢ − θ‖² for each observation.
fn minus_half_squares(x: Tensor<2>, theta: Tensor<1>) -> Tensor<1> {
    (x - theta.unsqueeze_dim(0)).square().sum_dim(1).squeeze_dim::<1>(1) * -0.5
}

fn gauss2() -> Result<Workload<Mean, Points>> {
    let (name, size) = ("gauss2", Size::from_name("gauss2"));
    let data =
        Dataset::new(Points { x: array(normals(2 * size.observations, &mut generator()), [size.observations, 2])? })?;
    let model = Model::new(|p: Mean, r: Points| minus_half_squares(r.x, p.mu))
        .prior(|p: Mean| p.mu.square().sum() * (-0.5 / 100.0));
    Ok(Workload { name, size, posterior: model.with(&data), start: Mean { mu: zeros([2]) } })
}

#[derive(TensorTree, Debug)]
pub(crate) struct Weights {
    pub(crate) beta: Tensor<1>,
    pub(crate) bias: Tensor<1>,
}

#[derive(TensorTree, Debug)]
pub(crate) struct Responses {
    x: Tensor<2>,
    y: Tensor<1>,
}

fn logistic_regression(name: &'static str) -> Result<Workload<Weights, Responses>> {
    let (size, covariates) = (Size::from_name(name), covariates(name));
    let (x, y) = logistic(size.observations, covariates);
    let data = Responses { x: array(x, [size.observations, covariates])?, y: array(y, [size.observations])? };
    let model = Model::new(|w: Weights, r: Responses| {
        let z = r.x.matmul(w.beta.unsqueeze_dim(1)).squeeze_dim::<1>(1) + w.bias;
        r.y * z.clone() - softplus(z, 1.0)
    })
    .prior(|w: Weights| -(w.beta.abs().sum() + w.bias.abs().sum()));
    let start = Weights { beta: zeros([covariates]), bias: zeros([1]) };
    Ok(Workload { name, size, posterior: model.with(&Dataset::new(data)?), start })
}

#[derive(TensorTree, Debug)]
pub(crate) struct Centers {
    theta1: Tensor<1>,
    theta2: Tensor<1>,
}

fn gaussian_mixture() -> Result<Workload<Centers, Points>> {
    let (name, size) = ("mixture", Size::from_name("mixture"));
    let data = Dataset::new(Points { x: array(mixture(size.observations), [size.observations, 2])? })?;
    let model = Model::new(|p: Centers, r: Points| {
        let a = minus_half_squares(r.x.clone(), p.theta1);
        let b = minus_half_squares(r.x, p.theta2);
        // log(eᵃ + eᵇ) with the larger exponent factored out.
        a.clone().max_pair(b.clone()) + (a - b).abs().neg().exp().log1p()
    })
    .prior(|p: Centers| (p.theta1.square().sum() + p.theta2.square().sum()) * (-0.5 / 10.0));
    let start = Centers { theta1: zeros([2]), theta2: full([2], 0.1) };
    Ok(Workload { name, size, posterior: model.with(&data), start })
}

const PIXELS: usize = 784;
const HIDDEN: usize = 100;
const CLASSES: usize = 10;

#[derive(TensorTree, Debug)]
pub(crate) struct Layer {
    weight: Tensor<2>,
    bias: Tensor<1>,
}

impl Layer {
    fn forward(self, x: Tensor<2>) -> Tensor<2> {
        softmax(x.matmul(self.weight) + self.bias.unsqueeze_dim(0), 1)
    }

    fn squares(self) -> Tensor<1> {
        self.weight.square().sum() + self.bias.square().sum()
    }
}

#[derive(TensorTree, Debug)]
pub(crate) struct Network {
    hidden: Layer,
    output: Layer,
}

#[derive(TensorTree, Debug)]
pub(crate) struct Images {
    x: Tensor<2>,
    y: Tensor<2>,
}

/// Returns normal numbers with standard deviation 0.1.
fn small<const R: usize>(shape: [usize; R], rng: &mut sgmcmc::rng::StreamRng) -> Result<Tensor<R>> {
    let values = normals(shape.iter().product(), rng).into_iter().map(|z| 0.1 * z).collect();
    array::<f32, R>(values, shape)
}

fn network() -> Result<Workload<Network, Images>> {
    let (name, size) = ("bnn", Size::from_name("bnn"));
    let (x, y) = images(size.observations, PIXELS, CLASSES);
    let data = Images { x: array(x, [size.observations, PIXELS])?, y: array(y, [size.observations, CLASSES])? };
    let model = Model::new(|network: Network, r: Images| {
        let p = network.output.forward(network.hidden.forward(r.x));
        (r.y * p.log()).sum_dim(1).squeeze_dim::<1>(1)
    })
    .prior(|network: Network| (network.hidden.squares() + network.output.squares()) * -0.5);
    let mut rng = generator();
    let start = Network {
        hidden: Layer { weight: small([PIXELS, HIDDEN], &mut rng)?, bias: zeros([HIDDEN]) },
        output: Layer { weight: small([HIDDEN, CLASSES], &mut rng)?, bias: zeros([CLASSES]) },
    };
    Ok(Workload { name, size, posterior: model.with(&Dataset::new(data)?), start })
}

const USERS: usize = 943;
const ITEMS: usize = 1682;
const RANK: usize = 20;

#[derive(TensorTree, Debug)]
pub(crate) struct Factors {
    users: Tensor<2>,
    items: Tensor<2>,
    user_bias: Tensor<1>,
    item_bias: Tensor<1>,
}

#[derive(TensorTree, Debug)]
pub(crate) struct Ratings {
    user: Tensor<1, Int>,
    item: Tensor<1, Int>,
    rating: Tensor<1>,
}

fn factorization() -> Result<Workload<Factors, Ratings>> {
    let (name, size) = ("pmf", Size::from_name("pmf"));
    let (n, mut rng) = (size.observations, generator());
    let data = Ratings {
        user: array(integers(n, USERS as i32, &mut rng), [n])?,
        item: array(integers(n, ITEMS as i32, &mut rng), [n])?,
        rating: array(integers(n, 5, &mut rng).into_iter().map(|stars| 1.0 + stars as f32).collect(), [n])?,
    };
    let model = Model::new(|f: Factors, r: Ratings| {
        let product = f.users.select(0, r.user.clone()) * f.items.select(0, r.item.clone());
        let bias = f.user_bias.select(0, r.user) + f.item_bias.select(0, r.item);
        (r.rating - product.sum_dim(1).squeeze_dim::<1>(1) - bias).square() * -1.5
    })
    .prior(|f: Factors| {
        let factors = f.users.square().sum() + f.items.square().sum();
        (factors + f.user_bias.square().sum() + f.item_bias.square().sum()) * -0.5
    });
    let start = Factors {
        users: small([USERS, RANK], &mut rng)?,
        items: small([ITEMS, RANK], &mut rng)?,
        user_bias: zeros([USERS]),
        item_bias: zeros([ITEMS]),
    };
    Ok(Workload { name, size, posterior: model.with(&Dataset::new(data)?), start })
}

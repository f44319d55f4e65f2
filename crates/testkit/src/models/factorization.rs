//! Matrix factorization: rᵢ ~ N(u_user(i) · v_item(i), 1/τ), standard normal prior on all rows of U and V.
//!
//! The parameters are local: each observation depends on one row of U and one row of V, selected by integer columns.

use rand::RngExt;
use sgmcmc::AnalyticTree;
use sgmcmc::gradient::AnalyticModel;
use sgmcmc::prelude::*;

use super::{Case, Simulated, normals, standard_normal_prior};
use crate::rng;

const USERS: usize = 6;
const ITEMS: usize = 4;
const RANK: usize = 2;
const TAU: f64 = 3.0;

/// The parameters.
#[derive(TensorTree, Debug)]
pub struct Factors {
    /// One row per user.
    pub u: Tensor<2>,
    /// One row per item.
    pub v: Tensor<2>,
}

/// The observations.
#[derive(TensorTree, Debug)]
pub struct Ratings {
    /// The user, from 0.
    pub user: Tensor<1, Int>,
    /// The item, from 0.
    pub item: Tensor<1, Int>,
    /// The rating.
    pub rating: Tensor<1>,
}

/// Returns the model as closures.
pub fn model() -> Model<Factors, Ratings> {
    Model::new(|f: Factors, r: Ratings| {
        let predicted = (f.u.select(0, r.user) * f.v.select(0, r.item)).sum_dim(1).squeeze_dim::<1>(1);
        (r.rating - predicted).square() * (-0.5 * TAU)
    })
    .prior(|f: Factors| (f.u.square().sum() + f.v.square().sum()) * -0.5)
}

/// The model with a hand-written gradient; the parameters are U and V, row-major.
#[derive(Debug)]
pub struct ByHand {
    user: Vec<i64>,
    item: Vec<i64>,
    rating: Vec<f64>,
}

impl AnalyticModel for ByHand {
    fn observations(&self) -> usize {
        self.rating.len()
    }

    fn dim(&self) -> usize {
        (USERS + ITEMS) * RANK
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let (u, v) = (self.user[row] as usize * RANK, (USERS + self.item[row] as usize) * RANK);
        let predicted: f64 = (0..RANK).map(|k| theta[u + k] * theta[v + k]).sum();
        let residual = self.rating[row] - predicted;
        for k in 0..RANK {
            grad[u + k] += weight * TAU * residual * theta[v + k];
            grad[v + k] += weight * TAU * residual * theta[u + k];
        }
        -0.5 * TAU * residual * residual
    }

    fn prior(&self, theta: &[f64], grad: &mut [f64]) -> f64 {
        standard_normal_prior(theta, grad)
    }
}

/// This model as a test case.
#[derive(Debug)]
pub struct Factorization;

impl Case for Factorization {
    type Params = Factors;
    type Data = Ratings;

    fn simulate(n: usize, seed: u64) -> Simulated<Factors, Ratings> {
        let mut rng = rng(seed + 1);
        let user: Vec<i64> = (0..n).map(|_| rng.random_range(0..USERS as i64)).collect();
        let item: Vec<i64> = (0..n).map(|_| rng.random_range(0..ITEMS as i64)).collect();
        let rating = normals(n, seed);
        let ratings = Ratings {
            user: array(user.clone(), [n]).expect("users have n rows"),
            item: array(item.clone(), [n]).expect("items have n rows"),
            rating: array(rating.clone(), [n]).expect("ratings have n rows"),
        };
        Simulated {
            posterior: model().with(&Dataset::new(ratings).expect("simulated data are finite")),
            by_hand: AnalyticTree::new(ByHand { user, item, rating }),
            start: Factors { u: zeros([USERS, RANK]), v: zeros([ITEMS, RANK]) },
        }
    }
}

//! Tests of the results of fits.

mod bias;
mod check;
mod fits;
mod groups;
mod health;
mod predictive;
mod stein;
mod summary;
mod typed;
mod zero_variance;

use sgmcmc::fit::ChainDraws;
use sgmcmc::sink::Draw;
use sgmcmc::{Constraint, Fit, Layout};
use sgmcmc_testkit::models::normals;

/// A parameter: its name and its shape.
type Leaf<'a> = (&'a str, &'a [usize]);

fn layout(leaves: &[Leaf<'_>]) -> Layout {
    Layout::new(leaves.iter().map(|(name, shape)| ((*name).to_owned(), shape.to_vec(), None::<Constraint>))).unwrap()
}

/// A fit with these draws: of each chain, a row of values per draw; all of weight one.
fn fit_of(layout: Layout, chains: &[Vec<Vec<f64>>]) -> Fit {
    let width = layout.value_count();
    let chain = |rows: &Vec<Vec<f64>>| {
        let mut chain = ChainDraws::new(width, Vec::new());
        for (iteration, values) in (1..).zip(rows) {
            chain.push(&Draw { iteration, values, weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
        }
        chain
    };
    Fit::new(layout, chains.iter().map(chain).collect()).unwrap()
}

/// `chains` chains of `draws` independent standard normal draws of every value.
fn independent(leaves: &[Leaf<'_>], chains: usize, draws: usize) -> Fit {
    let layout = layout(leaves);
    let width = layout.value_count();
    let chain = |number: usize| {
        let z = normals(width * draws, 100 + number as u64);
        z.chunks_exact(width).map(<[f64]>::to_vec).collect()
    };
    let chains: Vec<Vec<Vec<f64>>> = (0..chains).map(chain).collect();
    fit_of(layout, &chains)
}

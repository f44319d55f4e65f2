//! SGLD with one observation per step on a mixture with two modes: the transition from optimization to sampling as the
//! step size decreases.
//!
//! The model is θ₁ ~ N(0, 10), θ₂ ~ N(0, 1), x ~ ½ N(θ₁, 2) + ½ N(θ₁ + θ₂, 2), with 100 observations simulated at θ =
//! (0, 1). A second mode is near (1, −1). Source: Welling & Teh (2011), §5.1: 10 000 sweeps with h = a(b + t)^−0.55
//! from 0.01 to 0.0001.
//!
//! Claims: the draws, weighted by h, follow the posterior, which is evaluated on a grid. The noise of the gradient
//! exceeds the injected noise in the first steps and not in the last. The rejection rate of a Metropolis correction
//! vanishes with the step size, as √h.
//!
//! ```text
//! cargo run --release -p lab -- sgld-mixture
//! ```

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::algorithms::Sgld;
use sgmcmc::data::Rows;
use sgmcmc::distributions::{Mixture, Normal};
use sgmcmc::gradient::{Evaluator, GradientNoise, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::schedule::Polynomial;

use crate::Result;
use crate::papers::figure::{self, Axis, Panel, Series};
use crate::papers::flags::Flags;

const N: usize = 100;
/// The number of cells of the grid along each parameter.
const CELLS: usize = 24;
/// The range of the grid along θ₁.
const FIRST: (f64, f64) = (-1.5, 2.5);
/// The range of the grid along θ₂.
const SECOND: (f64, f64) = (-3.0, 3.0);
/// The number of evaluations in each cell along each parameter.
const POINTS_PER_CELL: usize = 6;

/// Runs the replication.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "SGLD with one observation per step on a mixture with two modes.")?;
    let sweeps: u64 = flags.get("sweeps", 10_000, "passes over the data")?;
    let seed = flags.get("seed", 4, "seed of data and chain")?;
    let figure = flags.get("figure", "target/sgld_mixture.svg".to_owned(), "file of the figure")?;
    let progress = flags.finish()?;
    println!("{N} SIMULATED observations of a mixture with tied means, theta = (0, 1)\n");
    let mut rng = StreamRng::seed_from_u64(seed);
    let x: Vec<f64> = (0..N)
        .map(|_| {
            let (z, second): (f64, bool) = (rng.sample(StandardNormal), rng.random());
            2.0_f64.sqrt() * z + f64::from(u8::from(second))
        })
        .collect();
    let data = Dataset::new(array(x, [N])?)?;
    let model = Model::new(|theta: Tensor<1>, x: Tensor<1>| {
        let (first, second) = (theta.clone().slice(0..1), theta.slice(1..2));
        let component = |center: Tensor<1>| Normal::new(center, 2.0_f64.sqrt());
        Mixture::weights(&[0.5, 0.5]).with(component(first.clone())).with(component(first + second)).log_prob(x)
    })
    .prior(|theta: Tensor<1>| {
        let (first, second) = (theta.clone().slice(0..1), theta.slice(1..2));
        Normal::new(0.0, 10.0_f64.sqrt()).log_prob(first).sum() + Normal::new(0.0, 1.0).log_prob(second).sum()
    });
    let target = model.with(&data);
    let mut evaluator = target.evaluator(&zeros([2]))?;

    let steps = Polynomial::between(0.01, 0.0001, sweeps * N as u64, 0.55)?;
    let gradient = MinibatchGradient::new(WithoutReplacement::new(1));
    let run = Builder::new(target, Sgld, gradient, steps).seed(seed).progress(progress);
    let fit = run.sample(&zeros([2]), (sweeps * N as u64) as usize)?;
    let chain = &fit.chains()[0];

    let exact = posterior(evaluator.as_mut())?;
    let mut drawn = vec![0.0; CELLS * CELLS];
    let total: f64 = chain.weights().iter().sum();
    for (row, weight) in chain.rows().zip(chain.weights()) {
        if let (Some(i), Some(j)) = (cell(row[0], FIRST), cell(row[1], SECOND)) {
            drawn[i * CELLS + j] += weight / total;
        }
    }
    let distance = 0.5 * exact.iter().zip(&drawn).map(|(a, b)| (a - b).abs()).sum::<f64>();
    let below = |cells: &[f64]| (0..CELLS * CELLS).filter(|k| k % CELLS < CELLS / 2).map(|k| cells[k]).sum::<f64>();
    println!("probability of theta_2 < 0: {:.3} drawn, {:.3} exact", below(&drawn), below(&exact));
    println!("total variation distance of draws and posterior on {CELLS} x {CELLS} cells: {distance:.3}\n");

    println!(
        "variance of the step by the noise of the gradient and by the noise injected\n{:>9} {:>12} {:>12} {:>12}",
        "h", "gradient 1", "gradient 2", "injected"
    );
    let rows: Vec<&[f64]> = chain.rows().collect();
    let mut variances: Vec<[f64; 4]> = Vec::new();
    for k in 0..7 {
        let t = ((rows.len() - 1) as f64 * (f64::from(k) / 6.0).powi(4)) as usize;
        let noise = GradientNoise::measure(&gradient, evaluator.as_mut(), rows[t], 2000, 1)?;
        let h = chain.weights()[t];
        let [first, second] = [0, 1].map(|j| 0.25 * h * h * noise.variance()[j]);
        println!("{h:>9.1e} {first:>12.2e} {second:>12.2e} {h:>12.2e}");
        variances.push([h, first, second, h]);
    }
    let ratio = |[h, first, second, _]: [f64; 4]| first.max(second) / h;
    let (start, end) = (ratio(variances[0]), ratio(variances[variances.len() - 1]));

    println!("\nrejections of a Metropolis step after each step of SGLD\n{:>9} {:>10}", "h", "rejected");
    let mut rejected = Vec::new();
    for power in 2..=8 {
        let h = 10.0_f64.powi(-power);
        let rate = rejections(evaluator.as_mut(), &rows, h, &mut rng)?;
        println!("{h:>9.0e} {rate:>10.5}");
        rejected.push((h, rate));
    }
    let falls = rejected.windows(2).all(|pair| pair[1].1 < pair[0].1);
    let decade = rejected[rejected.len() - 2].1 / rejected[rejected.len() - 1].1;
    println!();
    figure::save(&figure, &panels(&drawn, &exact, &rows, &variances, rejected))?;

    let mut failed = 0;
    let mut claim = |claim: String, holds: bool| {
        failed += usize::from(!holds);
        println!("{claim}: {}", if holds { "pass" } else { "FAIL" });
    };
    claim(format!("draws follow the posterior, total variation distance {distance:.3} below 0.15"), distance < 0.15);
    claim(format!("the noise of the gradient is {start:.1} times that injected at the start, above 1"), start > 1.0);
    claim(format!("and {end:.3} times at the end, below 1"), end < 1.0);
    claim("rejections fall with every step size".into(), falls);
    let by_root = (decade / 10.0_f64.sqrt() - 1.0).abs() < 0.2;
    claim(format!("the last tenth of the step size divides them by {decade:.2}, about √10"), by_root);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}

/// Returns panels of the draws, the marginal density of θ₂, the variances and the rejections.
fn panels(
    drawn: &[f64],
    exact: &[f64],
    rows: &[&[f64]],
    variances: &[[f64; 4]],
    rejected: Vec<(f64, f64)>,
) -> [Panel; 4] {
    let axis = |label, log| Axis { label, log };
    let series = |name: &str, color, dots, points| Series { name: name.into(), color, dots, points };
    let points = rows.iter().step_by(rows.len().div_ceil(2000)).map(|row| (row[0], row[1])).collect();
    let marginal = |cells: &[f64]| {
        let width = (SECOND.1 - SECOND.0) / CELLS as f64;
        let mass = |j: usize| (0..CELLS).map(|i| cells[i * CELLS + j]).sum::<f64>() / width;
        (0..CELLS).map(|j| (SECOND.0 + (j as f64 + 0.5) * width, mass(j))).collect()
    };
    let variance = |k: usize| variances.iter().map(|row| (row[0], row[k])).collect();
    let names = ["gradient, θ₁", "gradient, θ₂", "injected"];
    [
        Panel {
            title: "thinned draws".into(),
            x: axis("θ₁", false),
            y: axis("θ₂", false),
            series: vec![series("", 0, true, points)],
        },
        Panel {
            title: "density of θ₂".into(),
            x: axis("θ₂", false),
            y: axis("density", false),
            series: vec![series("drawn", 0, false, marginal(drawn)), series("exact", 1, false, marginal(exact))],
        },
        Panel {
            title: "variance of a step".into(),
            x: axis("h", true),
            y: axis("variance", true),
            series: (1..4).map(|k| series(names[k - 1], k - 1, false, variance(k))).collect(),
        },
        Panel {
            title: "rejections".into(),
            x: axis("h", true),
            y: axis("fraction of proposals", true),
            series: vec![series("", 0, false, rejected)],
        },
    ]
}

/// Returns the cell of a value, or `None` if it is outside of the grid.
fn cell(value: f64, (low, high): (f64, f64)) -> Option<usize> {
    let position = (value - low) / (high - low) * CELLS as f64;
    (position >= 0.0 && position < CELLS as f64).then_some(position as usize)
}

/// Returns the posterior probability of each cell.
fn posterior(evaluator: &mut dyn Evaluator) -> Result<Vec<f64>> {
    let points = CELLS * POINTS_PER_CELL;
    let at = |k: usize, (low, high): (f64, f64)| low + (high - low) * (k as f64 + 0.5) / points as f64;
    let mut logs = Vec::with_capacity(points * points);
    for i in 0..points {
        for j in 0..points {
            logs.push(evaluator.log_density(&[at(i, FIRST), at(j, SECOND)], Rows::range(0..N))?);
        }
    }
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut cells = vec![0.0; CELLS * CELLS];
    for (k, log) in logs.iter().enumerate() {
        cells[k / points / POINTS_PER_CELL * CELLS + k % points / POINTS_PER_CELL] += (log - largest).exp();
    }
    let total: f64 = cells.iter().sum();
    Ok(cells.into_iter().map(|cell| cell / total).collect())
}

/// Returns the mean of 1 − min(1, r) over steps of size `h` from draws of the chain, where r is the Metropolis–Hastings
/// ratio. The proposal densities use the observation of the step; the posterior uses all observations.
fn rejections(evaluator: &mut dyn Evaluator, draws: &[&[f64]], h: f64, rng: &mut StreamRng) -> Result<f64> {
    let proposals = 2000;
    let mut rejected = 0.0;
    for _ in 0..proposals {
        let from = draws[rng.random_range(draws.len() / 2..draws.len())];
        let row = [rng.random_range(0..N)];
        let mut estimate = |theta: &[f64]| -> Result<[f64; 2]> {
            let mut g = [0.0; 2];
            evaluator.posterior(theta, Rows::list(&row).scaled(N as f64), &mut g)?;
            Ok(g)
        };
        let g = estimate(from)?;
        let mut to = [0.0; 2];
        for j in 0..2 {
            let z: f64 = rng.sample(StandardNormal);
            to[j] = from[j] + 0.5 * h * g[j] + h.sqrt() * z;
        }
        let back = estimate(&to)?;
        let length =
            |a: &[f64], b: &[f64], g: &[f64; 2]| (0..2).map(|j| (b[j] - a[j] - 0.5 * h * g[j]).powi(2)).sum::<f64>();
        let log_ratio = evaluator.log_density(&to, Rows::range(0..N))?
            - evaluator.log_density(from, Rows::range(0..N))?
            + (length(from, &to, &g) - length(&to, from, &back)) / (2.0 * h);
        rejected += 1.0 - log_ratio.exp().min(1.0);
    }
    Ok(rejected / f64::from(proposals))
}

//! Draws against the density: the test of Kolmogorov and Smirnov on the line, Pearson's χ² elsewhere.

use sgmcmc::burn::DType;
use sgmcmc_testkit::rng;

use crate::distributions::support::Support;
use crate::distributions::{cases, host, ordinary, params, tensor};

/// False alarms of each test of draws: one in 10 000.
const DRAWS: usize = 3000;
const KOLMOGOROV: f64 = 2.225; // √(−½ ln(1e-4/2))
const NORMAL_QUANTILE: f64 = 3.719; // of 1 − 1e-4

/// Pearson's test, with cells of fewer than five expected draws put together. The quantile is Wilson and Hilferty's.
fn chi_square(name: &str, expected: &[f64], observed: &[f64]) {
    let (mut cells, mut rest) = (Vec::new(), (0.0, 0.0));
    for (e, o) in expected.iter().zip(observed) {
        if *e >= 5.0 {
            cells.push((*e, *o));
        } else {
            rest = (rest.0 + e, rest.1 + o);
        }
    }
    if rest.0 >= 5.0 {
        cells.push(rest);
    } else if let Some(last) = cells.last_mut() {
        *last = (last.0 + rest.0, last.1 + rest.1);
    }
    let statistic: f64 = cells.iter().map(|(e, o)| (o - e).powi(2) / e).sum();
    let freedom = (cells.len() - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    let critical = freedom * (1.0 - spread + NORMAL_QUANTILE * spread.sqrt()).powi(3);
    assert!(
        freedom >= 1.0 && statistic < critical,
        "{name}: χ² = {statistic} on {freedom} degrees, critical {critical}"
    );
}

#[test]
fn draws_follow_the_density() {
    for (seed, case) in cases::all().iter().enumerate() {
        for set in case.ordinary {
            let distribution = ordinary(case, set);
            let nodes = case.support.nodes();
            let points: Vec<_> = nodes.iter().map(|(x, _)| x.clone()).collect();
            let densities = host(&distribution.log_prob(tensor(&points, DType::F64)));
            let masses: Vec<f64> = densities.iter().zip(&nodes).map(|(log, (_, w))| log.exp() * w).collect();
            let width = points[0].len();
            let mut generator = rng(seed as u64 + 100);
            let sample = distribution.sample([DRAWS, width], &mut generator);
            assert_eq!((sample.dims(), sample.dtype()), ([DRAWS, width], DType::F64));
            let draws: Vec<Vec<f64>> = host(&sample).chunks(width).map(<[f64]>::to_vec).collect();
            let expected = |mass: f64| mass * DRAWS as f64;
            if case.support.is_discrete() {
                let count = |x: &Vec<f64>| draws.iter().filter(|draw| *draw == x).count() as f64;
                let observed: Vec<f64> = points.iter().map(count).collect();
                assert!(observed.iter().sum::<f64>() >= DRAWS as f64 - 1.0, "{}: draws out of range", case.name);
                chi_square(case.name, &masses.iter().map(|m| expected(*m)).collect::<Vec<_>>(), &observed);
            } else if let Support::Recorded(low, high) = case.support {
                let middle = 0.5 * (low + high);
                let cell = |x: f64| [x > low, x >= middle, x >= high].into_iter().filter(|beyond| *beyond).count();
                let (mut probabilities, mut observed) = ([0.0; 4], [0.0; 4]);
                points.iter().zip(&masses).for_each(|(x, mass)| probabilities[cell(x[0])] += mass);
                draws.iter().for_each(|draw| observed[cell(draw[0])] += 1.0);
                chi_square(case.name, &probabilities.map(expected), &observed);
            } else if width == 1 {
                kolmogorov_smirnov(case.name, &points.concat(), &masses, draws.concat());
            } else {
                // A table of 5 × 5 cells in the first two coordinates.
                let edges = [0, 1].map(|axis| quantiles(&points, &masses, axis));
                let cell = |x: &[f64]| {
                    let [i, j] = [0, 1].map(|axis| edges[axis].iter().filter(|edge| x[axis] > **edge).count());
                    5 * i + j
                };
                let (mut probabilities, mut observed) = ([0.0; 25], [0.0; 25]);
                points.iter().zip(&masses).for_each(|(x, mass)| probabilities[cell(x)] += mass);
                draws.iter().for_each(|draw| observed[cell(draw)] += 1.0);
                chi_square(case.name, &probabilities.map(expected), &observed);
            }
        }
    }
}

/// About the 20, 40, 60 and 80 % quantiles of a coordinate, between the nodes.
fn quantiles(points: &[Vec<f64>], masses: &[f64], axis: usize) -> Vec<f64> {
    let mut marginal: Vec<(f64, f64)> = points.iter().zip(masses).map(|(x, mass)| (x[axis], *mass)).collect();
    marginal.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    let mut edges = Vec::new();
    for pair in marginal.windows(2) {
        below += pair[0].1;
        if pair[1].0 > pair[0].0 && below >= 0.2 * (edges.len() + 1) as f64 && edges.len() < 4 {
            edges.push(0.5 * (pair[0].0 + pair[1].0));
        }
    }
    edges
}

fn kolmogorov_smirnov(name: &str, points: &[f64], masses: &[f64], mut draws: Vec<f64>) {
    // The distribution function at the nodes: half of a node's mass lies below it.
    let mut below = 0.0;
    let cumulative: Vec<f64> = masses
        .iter()
        .map(|mass| {
            below += mass;
            below - 0.5 * mass
        })
        .collect();
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let distance = draws.iter().enumerate().fold(0.0_f64, |largest, (rank, x)| {
        let above = points.partition_point(|point| point < x).clamp(1, points.len() - 1);
        let share = (x - points[above - 1]) / (points[above] - points[above - 1]);
        let cdf = cumulative[above - 1] + share * (cumulative[above] - cumulative[above - 1]);
        let distance = (cdf - rank as f64 / n).abs().max((cdf - (rank + 1) as f64 / n).abs());
        if distance.is_nan() { f64::INFINITY } else { largest.max(distance) }
    });
    let critical = KOLMOGOROV / n.sqrt();
    assert!(distance < critical, "{name}: largest distance {distance}, critical {critical}");
}

#[test]
fn draws_are_a_function_of_the_generator() {
    for case in cases::all() {
        let distribution = ordinary(&case, case.ordinary[0]);
        let width = case.support.nodes()[0].0.len();
        let draw = |seed| host(&distribution.sample([20, width], &mut rng(seed)));
        assert_eq!(draw(1), draw(1), "{}", case.name);
        assert_ne!(draw(1), draw(2), "{}", case.name);
    }
}

/// A parameter that is an error as a number gives NaN as the draw if it is an entry of a tensor. Other entries are not affected.
#[test]
fn draws_with_parameters_out_of_range_are_nan() {
    let mut refusals = 0;
    for case in cases::all() {
        let (Some(make), good) = (case.numbers, case.ordinary[0].concat()) else { continue };
        for (place, number) in (0..good.len()).flat_map(|place| [-1.0, f64::NAN].map(|number| (place, number))) {
            let mut bad = good.clone();
            bad[place] = number;
            if std::panic::catch_unwind(|| make(&bad)).is_err() {
                refusals += 1;
                let columns: Vec<Vec<f64>> = good.iter().zip(&bad).map(|(good, bad)| vec![*good, *bad]).collect();
                let draws = host(&(case.tensors)(&params(&columns, DType::F64)).sample([2, 1], &mut rng(1)));
                assert!(draws[0].is_finite() && draws[1].is_nan(), "{} with {columns:?}: {draws:?}", case.name);
            }
        }
    }
    assert!(refusals > 50, "only {refusals} parameters were refused");
}

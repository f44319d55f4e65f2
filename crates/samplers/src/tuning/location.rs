//! The location and scale of the posterior, from searches for its modes.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc_gradient::mode::NEGLIGIBLE_GAIN;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Evaluator, LbfgsSearch, Mode, Result, Rows};

use super::approximation::NormalApproximation;
use super::subset::{Selection, Subset};

/// The number of observations above which the searches use a part of the data.
const LARGE: usize = 40_000;
/// The number of observations of a part that is drawn uniformly, and of one that is drawn by influence.
const UNIFORM_PART: usize = 10_000;
const INFLUENTIAL_PART: usize = 30_000;
/// The share of uniform sampling in the probabilities of the second part.
const UNIFORM_SHARE: f64 = 0.2;
/// The number of entries of one block of gradients.
const BLOCK_ENTRIES: usize = 1 << 18;
/// The distances of the additional starts from the first, in coordinates. There are two on opposite sides at each
/// distance. They detect other modes.
const DISTANCES: [f64; 7] = [1.0, 3.0, 10.0, 10.0, 30.0, 30.0, 100.0];
/// The largest numbers of iterations of the searches.
const ITERATIONS: u64 = 500;
const ITERATIONS_ELSEWHERE: u64 = 200;
/// The largest number of corrections of the center with the gradient over all data.
const CORRECTIONS: usize = 4;

/// The location and scale of the posterior.
#[derive(Debug)]
pub(super) struct Location {
    /// The mode that a search with all data reached. `None` if the searches used a part of the data.
    pub(super) mode: Option<Mode>,
    /// The end of the search from the start of the caller, which the other modes are compared with.
    pub(super) reference: Mode,
    /// The modes that searches from other starts reached.
    pub(super) others: Vec<Mode>,
    /// The normal approximation, or the reason why there is none.
    pub(super) approximation: Result<NormalApproximation>,
    /// The number of gradients of single observations.
    pub(super) cost: u64,
    /// The number of passes over all data.
    pub(super) passes: u64,
}

/// Searches for the mode from `start` and for other modes from points around it, and approximates the posterior around
/// the mode.
///
/// Data sets of more than 40 000 observations are searched on parts: on one that is drawn uniformly, and then on one
/// that is drawn by influence, so that it has the observations that determine rare features. The gradient over all data
/// corrects the center at the end.
///
/// # Errors
///
/// Returns the errors of the model at `start`. Searches from other starts that fail are ignored.
pub(super) fn locate(evaluator: &mut dyn Evaluator, start: &[f64], seed: u64) -> Result<Location> {
    let mut rng = StreamRng::seed_from_u64(seed ^ 0x6c6f_6361_7465);
    let observations = evaluator.observations();
    // A gain below this does not move the center by a noticeable part of a standard deviation.
    let search = LbfgsSearch { tolerance: NEGLIGIBLE_GAIN, max_iterations: ITERATIONS, ..LbfgsSearch::default() };
    let unverified = LbfgsSearch { newton_steps: 0, ..search };
    if observations <= LARGE {
        let mut mode = search.run(evaluator, start)?;
        let (mut others, mut elsewhere) = search_elsewhere(evaluator, start, &mut rng);
        if let Some(higher) = highest_above(&mode, &others) {
            elsewhere += mode.full_passes;
            let higher = search.run(evaluator, &higher.theta)?;
            others.push(std::mem::replace(&mut mode, higher));
        }
        elsewhere += keep_separated(evaluator, &mode, &mut others);
        let approximation = NormalApproximation::new(evaluator, &mode.theta);
        let passes = mode.full_passes + elsewhere + approximation.as_ref().map_or(0, |found| found.passes);
        let cost = passes * observations.max(1) as u64;
        return Ok(Location { reference: mode.clone(), mode: Some(mode), others, approximation, cost, passes });
    }
    let selection = Selection::uniform(observations, UNIFORM_PART, &mut rng);
    let mut part = Subset::new(&mut *evaluator, &selection);
    let mut reference = unverified.run(&mut part, start)?;
    let (mut others, mut elsewhere) = search_elsewhere(&mut part, start, &mut rng);
    if let Some(higher) = highest_above(&reference, &others).cloned() {
        let full_passes = reference.full_passes;
        others.push(std::mem::replace(&mut reference, Mode { full_passes, ..higher }));
    }
    elsewhere += keep_separated(&mut part, &reference, &mut others);
    let mut cost = (reference.full_passes + elsewhere) * UNIFORM_PART as u64;
    // Without gradients of single observations the second part is drawn uniformly, too.
    let selection = match influences(evaluator, &reference.theta) {
        Ok(influences) => Selection::weighted(INFLUENTIAL_PART, influences, &mut rng)?,
        Err(_) => Selection::uniform(observations, INFLUENTIAL_PART, &mut rng),
    };
    let mut part = Subset::new(&mut *evaluator, &selection);
    let mode = unverified.run(&mut part, &reference.theta)?;
    let approximation = NormalApproximation::new(&mut part, &mode.theta);
    cost += (mode.full_passes + approximation.as_ref().map_or(0, |found| found.passes)) * INFLUENTIAL_PART as u64;
    let approximation = approximation.and_then(|found| correct(found, evaluator, &selection));
    let passes = 2 + CORRECTIONS as u64;
    cost += passes * observations as u64;
    Ok(Location { mode: None, reference, others, approximation, cost, passes })
}

/// Searches from random points around `start`. Returns the modes and the number of passes over the data.
fn search_elsewhere(evaluator: &mut dyn Evaluator, start: &[f64], rng: &mut StreamRng) -> (Vec<Mode>, u64) {
    let search = LbfgsSearch {
        tolerance: NEGLIGIBLE_GAIN,
        max_iterations: ITERATIONS_ELSEWHERE,
        newton_steps: 0,
        ..LbfgsSearch::default()
    };
    let mut found = Vec::new();
    for distance in DISTANCES {
        let away: Vec<f64> = start.iter().map(|_| distance * rng.sample::<f64, _>(StandardNormal)).collect();
        for side in [1.0, -1.0] {
            let point: Vec<f64> = start.iter().zip(&away).map(|(theta, away)| theta + side * away).collect();
            found.extend(search.run(evaluator, &point).ok());
        }
    }
    let passes = found.iter().map(|mode: &Mode| mode.full_passes).sum();
    (found, passes)
}

/// Keeps those of `others` that are separated from `mode` by a valley: on the line between them the log posterior falls
/// below both ends. A search that ended early on a slope or a ridge is not a mode. Returns the number of passes.
fn keep_separated(evaluator: &mut dyn Evaluator, mode: &Mode, others: &mut Vec<Mode>) -> u64 {
    let mut passes = 0;
    others.retain(|other| {
        let ends = mode.log_posterior.min(other.log_posterior);
        (1..VALLEY_POINTS).any(|k| {
            passes += 1;
            let share = f64::from(k) / f64::from(VALLEY_POINTS);
            let between: Vec<f64> = mode.theta.iter().zip(&other.theta).map(|(a, b)| a + share * (b - a)).collect();
            let value = evaluator.log_density(&between, evaluator.all_rows());
            value.is_ok_and(|value| value < ends - VALLEY_DEPTH)
        })
    });
    passes
}

/// The number of parts of the line between two modes, and the depth of a valley in log posterior.
const VALLEY_POINTS: u32 = 8;
const VALLEY_DEPTH: f64 = 2.0;

/// Returns the highest of `others`, if it is noticeably higher than `mode`.
fn highest_above<'a>(mode: &Mode, others: &'a [Mode]) -> Option<&'a Mode> {
    let finite = others.iter().filter(|other| other.log_posterior.is_finite());
    let highest = finite.max_by(|a, b| a.log_posterior.total_cmp(&b.log_posterior))?;
    (highest.log_posterior > mode.log_posterior + NOTICEABLE).then_some(highest)
}

/// The difference in log posterior above which another mode is preferred.
const NOTICEABLE: f64 = 1.0;

/// Returns the influence of every observation at `theta`: the norm of its gradient, where each coordinate is divided by
/// the root of the sum of squares over all observations. A uniform share bounds the weights.
fn influences(evaluator: &mut dyn Evaluator, theta: &[f64]) -> Result<Vec<f64>> {
    let (observations, d) = (evaluator.observations(), theta.len());
    let mut sums = vec![0.0; d];
    for_each_gradient(evaluator, theta, |_, gradient| {
        sums.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g * g);
    })?;
    let scales: Vec<f64> = sums.iter().map(|sum| if *sum > 0.0 { 1.0 / sum } else { 0.0 }).collect();
    let mut influences = vec![0.0; observations];
    for_each_gradient(evaluator, theta, |row, gradient| {
        influences[row] = gradient.iter().zip(&scales).map(|(g, scale)| g * g * scale).sum::<f64>().sqrt();
    })?;
    let mean = influences.iter().sum::<f64>() / observations as f64;
    if !(mean.is_finite() && mean > 0.0) {
        return Ok(vec![1.0; observations]);
    }
    influences.iter_mut().for_each(|influence| *influence = (1.0 - UNIFORM_SHARE) * *influence / mean + UNIFORM_SHARE);
    Ok(influences)
}

/// Calls `each` with every observation and its gradient.
fn for_each_gradient(evaluator: &mut dyn Evaluator, theta: &[f64], mut each: impl FnMut(usize, &[f64])) -> Result<()> {
    let (observations, d) = (evaluator.observations(), theta.len());
    let block = (BLOCK_ENTRIES / d.max(1)).max(1);
    let mut gradients = vec![0.0; block * d];
    for first in (0..observations).step_by(block) {
        let end = observations.min(first + block);
        let part = &mut gradients[..(end - first) * d];
        evaluator.gradient_per_observation(theta, Rows::range(first..end), part)?;
        part.chunks_exact(d).zip(first..).for_each(|(gradient, row)| each(row, gradient));
    }
    Ok(())
}

/// Moves the center of an approximation of a part of the data by S Sᵀ (g(c) − gₚ(c)), where g is the gradient over all
/// data and gₚ that over the part.
fn correct(
    mut approximation: NormalApproximation,
    evaluator: &mut dyn Evaluator,
    selection: &Selection,
) -> Result<NormalApproximation> {
    let d = approximation.center.len();
    let unchanged = approximation.unit_covariance();
    // The gradient over the part at the first center is what the gradient over all data is to become.
    let mut wanted = vec![0.0; d];
    let mut part = Subset::new(&mut *evaluator, selection);
    part.posterior(&approximation.center, part.all_rows(), &mut wanted)?;
    for _ in 0..CORRECTIONS {
        let mut force = vec![0.0; d];
        evaluator.posterior(&approximation.center, evaluator.all_rows(), &mut force)?;
        force.iter_mut().zip(&wanted).for_each(|(force, wanted)| *force -= wanted);
        approximation.whiten_gradient(&mut force);
        let largest = force.iter().fold(0.0, |largest: f64, force| largest.max(force.abs()));
        if !largest.is_finite() || largest < NEGLIGIBLE_SHIFT {
            break;
        }
        let scale = (LARGEST_SHIFT / largest).min(1.0);
        force.iter_mut().for_each(|force| *force *= scale);
        approximation = approximation.transformed(&force, &unchanged)?;
    }
    Ok(approximation)
}

/// The shift of the center below which it is not corrected, and the largest shift of one correction, in standard
/// deviations.
const NEGLIGIBLE_SHIFT: f64 = 0.1;
const LARGEST_SHIFT: f64 = 3.0;

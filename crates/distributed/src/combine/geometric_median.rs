//! The geometric median of subposteriors: see [`GeometricMedian`].

use rand::RngExt;
use rayon::prelude::*;
use sgmcmc_fit::Tempering;
use sgmcmc_gradient::rng::StreamRng;

use super::draws::systematic;
use super::normal::variances;
use super::{Combination, DrawOrder, Draws, Error, Result, draw_count};

/// The geometric median of the inflated subposteriors, the M-posterior (Minsker, Srivastava, Lin & Dunson 2014, 2017).
///
/// The distributions of the shards are points of a Hilbert space with inner product ⟨P, Q⟩ = E k(θ, θ'), θ ~ P, θ' ~ Q,
/// and a Gaussian kernel k. The geometric median Q* minimizes Σ_s ‖Q − Q_s‖. It is a mixture Σ_s w_s Q_s, whose weights
/// are found by Weiszfeld's iteration w_s ∝ 1/‖Q* − Q_s‖. Weights below 1/(2S) are set to zero, as in the paper. The
/// combined draws are draws of the shards, each shard in proportion to its weight.
///
/// It does not converge to the posterior of all data. It is robust: as long as more than half of the shards are good,
/// bad ones, for instance with outliers or a diverged chain, have little influence. It needs subposteriors of
/// [`Tempering::Inflated`].
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{Combination, Draws, GeometricMedian};
///
/// let shard = |shift: f64| Draws::new((0..100).map(|k| shift + f64::from(k % 10)).collect(), 1);
/// // The third shard is far from the others.
/// let shards = [shard(0.0)?, shard(0.5)?, shard(1000.0)?];
/// let draws = GeometricMedian::default().combine(&shards, 1)?;
/// assert!(draws.values().iter().all(|x| *x < 20.0));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeometricMedian {
    /// The number of draws. `None` makes as many as the shortest shard has.
    pub draws: Option<usize>,
    /// The largest number of draws of a shard that distances are computed from. The cost is quadratic in it.
    pub kernel_draws: usize,
    /// The standard deviation of the kernel, in average standard deviations of the shards. `None` chooses the median
    /// distance of two draws.
    pub bandwidth: Option<f64>,
}

impl Default for GeometricMedian {
    fn default() -> Self {
        Self { draws: None, kernel_draws: 500, bandwidth: None }
    }
}

impl Combination for GeometricMedian {
    fn name(&self) -> &'static str {
        "geometric-median"
    }

    fn order(&self) -> DrawOrder {
        DrawOrder::New
    }

    fn temperings(&self) -> &'static [Tempering] {
        &[Tempering::Inflated]
    }

    fn apply(&self, shards: &[Draws], _tempering: Tempering, rng: &mut StreamRng) -> Result<Draws> {
        let count = draw_count(self.draws, shards)?;
        let gram = self.gram(shards, rng)?;
        let mut weights = weiszfeld(&gram, shards.len());
        let least = 0.5 / shards.len() as f64;
        weights.iter_mut().filter(|weight| **weight < least).for_each(|weight| *weight = 0.0);
        // Every draw has the weight of its shard, divided by the number of its draws.
        let each: Vec<f64> = shards
            .iter()
            .zip(&weights)
            .flat_map(|(draws, weight)| std::iter::repeat_n(weight / draws.len() as f64, draws.len()))
            .collect();
        let d = shards[0].dim();
        let all = Draws::from_parts(shards.iter().flat_map(|draws| draws.values().iter().copied()).collect(), d);
        Ok(all.only(&systematic(&each, count, rng)))
    }
}

impl GeometricMedian {
    /// Returns the inner products of the distributions of all shards, row-major.
    fn gram(&self, shards: &[Draws], rng: &mut StreamRng) -> Result<Vec<f64>> {
        if self.kernel_draws < 2 {
            let (name, value) = ("the number of draws of the kernel", self.kernel_draws as f64);
            return Err(Error::Setting { name, value, expected: "at least 2 are needed" });
        }
        let (count, d) = (shards.len(), shards[0].dim());
        let mut scales = vec![0.0; d];
        for (shard, draws) in shards.iter().enumerate() {
            let variances = variances(draws, shard, self.name())?;
            scales.iter_mut().zip(variances).for_each(|(scale, variance)| *scale += variance / count as f64);
        }
        let scaled = |draws: &Draws| {
            let rows = draws.thinned_to(self.kernel_draws);
            let values = rows.rows().flat_map(|row| row.iter().zip(&scales).map(|(x, scale)| x / scale.sqrt()));
            Draws::from_parts(values.collect(), d)
        };
        let shards: Vec<Draws> = shards.iter().map(scaled).collect();
        let bandwidth = match self.bandwidth {
            Some(value) if !(value.is_finite() && value > 0.0) => {
                return Err(Error::Setting { name: "the bandwidth", value, expected: "it must be a positive number" });
            }
            Some(value) => value,
            None => median_distance(&shards, rng),
        };
        let factor = -0.5 / (bandwidth * bandwidth);
        let pairs: Vec<(usize, usize)> = (0..count).flat_map(|s| (0..=s).map(move |t| (s, t))).collect();
        let products: Vec<f64> =
            pairs.par_iter().map(|(s, t)| inner_product(&shards[*s], &shards[*t], factor)).collect();
        let mut gram = vec![0.0; count * count];
        for ((s, t), product) in pairs.into_iter().zip(products) {
            gram[s * count + t] = product;
            gram[t * count + s] = product;
        }
        Ok(gram)
    }
}

/// Returns the mean of exp(`factor` ‖x − y‖²) over all draws x of one shard and y of the other.
fn inner_product(one: &Draws, other: &Draws, factor: f64) -> f64 {
    let kernel = |x: &[f64]| other.rows().map(|y| (factor * square(x, y)).exp()).sum::<f64>();
    one.rows().map(kernel).sum::<f64>() / (one.len() * other.len()) as f64
}

fn square(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Returns the median distance of two random draws of random shards.
fn median_distance(shards: &[Draws], rng: &mut StreamRng) -> f64 {
    let mut pick = || {
        let draws = &shards[rng.random_range(0..shards.len())];
        draws.row(rng.random_range(0..draws.len()))
    };
    let mut squares: Vec<f64> = (0..2001).map(|_| square(pick(), pick())).filter(|square| *square > 0.0).collect();
    let middle = squares.len() / 2;
    if squares.is_empty() { 1.0 } else { squares.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt() }
}

/// Returns the weights of the geometric median of points with the Gram matrix `gram`.
fn weiszfeld(gram: &[f64], count: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / count as f64; count];
    for _ in 0..10_000 {
        let distances = distances(gram, &weights);
        let zero: Vec<bool> = distances.iter().map(|distance| *distance <= 1e-12).collect();
        let inverse: Vec<f64> = if zero.contains(&true) {
            // The median is at one of the points.
            zero.iter().map(|zero| if *zero { 1.0 } else { 0.0 }).collect()
        } else {
            distances.iter().map(|distance| distance.recip()).collect()
        };
        let sum: f64 = inverse.iter().sum();
        let next: Vec<f64> = inverse.iter().map(|weight| weight / sum).collect();
        let change = next.iter().zip(&weights).map(|(next, last)| (next - last).abs()).fold(0.0, f64::max);
        weights = next;
        if change < 1e-10 {
            break;
        }
    }
    weights
}

/// Returns the distance of each point to the mixture with these weights.
fn distances(gram: &[f64], weights: &[f64]) -> Vec<f64> {
    let count = weights.len();
    let products: Vec<f64> = gram
        .chunks_exact(count)
        .map(|row| row.iter().zip(weights).map(|(entry, weight)| entry * weight).sum())
        .collect();
    let norm: f64 = products.iter().zip(weights).map(|(product, weight)| product * weight).sum();
    (0..count).map(|s| (norm - 2.0 * products[s] + gram[s * count + s]).max(0.0).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Gram matrix of points of the plane.
    fn gram(points: &[[f64; 2]]) -> Vec<f64> {
        points.iter().flat_map(|a| points.iter().map(|b| a[0] * b[0] + a[1] * b[1])).collect()
    }

    #[test]
    fn the_median_of_a_triangle_is_its_fermat_point() {
        let points = [[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]];
        let weights = weiszfeld(&gram(&points), 3);
        let median = [0, 1].map(|k| points.iter().zip(&weights).map(|(point, weight)| weight * point[k]).sum::<f64>());
        // At the Fermat point the unit vectors to the corners sum to zero.
        for k in 0..2 {
            let unit = |point: &[f64; 2]| {
                let delta = [point[0] - median[0], point[1] - median[1]];
                delta[k] / delta[0].hypot(delta[1])
            };
            assert!(points.iter().map(unit).sum::<f64>().abs() < 1e-6);
        }
    }

    #[test]
    fn a_majority_is_the_median() {
        let weights = weiszfeld(&gram(&[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [50.0, 0.0], [0.0, 70.0]]), 5);
        assert!(weights[3] + weights[4] < 1e-6, "{weights:?}");
        let equidistant = weiszfeld(&[1.0, 0.2, 0.2, 0.2, 1.0, 0.2, 0.2, 0.2, 1.0], 3);
        assert!(equidistant.iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-9));
    }
}

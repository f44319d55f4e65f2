//! Products of kernel density estimates: mixtures with one component per choice of one draw from every shard.
//!
//! With Gaussian kernels of variance h², the product of the estimates of S shards is a mixture. Its component
//! t = (t₁, …, t_S) has the weight Π_s N(θ_{t_s} | θ̄_t, h² I), the mean θ̄_t of its draws and the variance h²/S
//! (Neiswanger, Wang & Xing 2014, eq. (3.2)). The components are too many to list. They are sampled by Metropolis
//! within Gibbs: shard by shard, a draw chosen at random replaces that of the component.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_numerics::{Cholesky, SymmetricEigen, vector::dot};

use super::normal::{Normal, factor, product};
use super::{Draws, Error, Result, draw_count, shortest};

/// The bandwidth h of kernel density estimates, in units of the average covariance of the shards.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::Bandwidth;
///
/// assert_eq!(Bandwidth::default(), Bandwidth::Annealed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bandwidth {
    /// h = i^{−1/(4 + d)} at iteration i, until i is the number of draws of the shortest shard.
    ///
    /// Large bandwidths at the start help the chain of components to find overlapping ones. The last value is Scott's
    /// rule.
    #[default]
    Annealed,
    /// A constant bandwidth.
    Fixed(f64),
}

impl Bandwidth {
    /// Returns h at iteration `iteration` in `dim` dimensions.
    fn at(self, iteration: usize, dim: usize) -> f64 {
        match self {
            Self::Fixed(h) => h,
            Self::Annealed => (iteration as f64).powf(-1.0 / (4.0 + dim as f64)),
        }
    }
}

/// The settings of the Markov chain over the components.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::combine::{ComponentSampling, Kdemc};
///
/// let kdemc = Kdemc { sampling: ComponentSampling { draws: Some(5000), ..ComponentSampling::default() } };
/// assert_eq!(kdemc.sampling.sweeps, 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComponentSampling {
    /// The number of draws. `None` makes as many as the shortest shard has.
    pub draws: Option<usize>,
    /// The bandwidth.
    pub bandwidth: Bandwidth,
    /// The number of iterations before the first draw.
    pub burn_in: usize,
    /// The number of proposals for every shard per iteration.
    pub sweeps: usize,
}

impl Default for ComponentSampling {
    fn default() -> Self {
        Self { draws: None, bandwidth: Bandwidth::Annealed, burn_in: 1000, sweeps: 20 }
    }
}

/// The normal approximations that a semiparametric estimate multiplies with kernel estimates of the rest.
pub(super) struct Correction {
    /// The mean of the product of the normal approximations.
    mean: Vec<f64>,
    /// The variances of the product, which is uncorrelated in the coordinates of the frame.
    variances: Vec<f64>,
    /// The log density of the normal approximation of each shard at each of its draws.
    log_normal: Vec<Vec<f64>>,
}

/// Affine coordinates in which the average covariance of the shards is the identity.
struct Frame {
    origin: Vec<f64>,
    root: Cholesky,
    /// The rows of an orthogonal matrix that is applied last.
    rotation: Option<Vec<Vec<f64>>>,
}

impl Frame {
    fn to(&self, x: &[f64]) -> Vec<f64> {
        let mut z: Vec<f64> = x.iter().zip(&self.origin).map(|(x, o)| x - o).collect();
        self.root.solve_lower(&mut z);
        match &self.rotation {
            Some(rows) => rows.iter().map(|row| dot(row, &z)).collect(),
            None => z,
        }
    }

    fn write_back(&self, u: &[f64], x: &mut [f64]) {
        let mut z = vec![0.0; u.len()];
        match &self.rotation {
            Some(rows) => {
                rows.iter().zip(u).for_each(|(row, u)| z.iter_mut().zip(row).for_each(|(z, entry)| *z += u * entry))
            }
            None => z.copy_from_slice(u),
        }
        self.root.product(&z, x);
        x.iter_mut().zip(&self.origin).for_each(|(x, o)| *x += o);
    }
}

/// A product of kernel density estimates, or of semiparametric estimates.
pub(super) struct DensityProduct {
    frame: Frame,
    /// The draws of the shards in the coordinates of the frame.
    shards: Vec<Draws>,
    correction: Option<Correction>,
}

impl DensityProduct {
    /// Creates the product of the estimates of `shards`.
    pub(super) fn new(shards: &[Draws], semiparametric: bool, method: &'static str) -> Result<Self> {
        let normals = Normal::estimate_all(shards, method)?;
        let (Some(first), count) = (normals.first(), shards.len() as f64) else { return Err(Error::NoShards) };
        let d = first.dim();
        let mut covariance = vec![0.0; d * d];
        let mut origin = vec![0.0; d];
        for normal in &normals {
            covariance.iter_mut().zip(&normal.covariance).for_each(|(sum, entry)| *sum += entry / count);
            origin.iter_mut().zip(&normal.mean).for_each(|(sum, entry)| *sum += entry / count);
        }
        let root = factor(&covariance, d, 0)?;
        let mut frame = Frame { origin, root, rotation: None };
        let mut correction = None;
        if semiparametric {
            let product = product(&normals)?;
            // The covariance of the product in the frame, L⁻¹ Σ L⁻ᵀ.
            let mut whitened = product.covariance.clone();
            for _ in 0..2 {
                whitened.chunks_exact_mut(d).for_each(|row| frame.root.solve_lower(row));
                transpose(&mut whitened, d);
            }
            let SymmetricEigen { values, vectors } = SymmetricEigen::new(&whitened, d);
            frame.rotation = Some(vectors);
            let log_normal =
                |(draws, normal): (&Draws, &Normal)| draws.rows().map(|row| normal.log_density(row)).collect();
            correction = Some(Correction {
                mean: frame.to(&product.mean),
                variances: values,
                log_normal: shards.iter().zip(&normals).map(log_normal).collect(),
            });
        }
        let in_frame = |draws: &Draws| Draws::from_parts(draws.rows().flat_map(|row| frame.to(row)).collect(), d);
        Ok(Self { shards: shards.iter().map(in_frame).collect(), frame, correction })
    }

    /// Samples from the product.
    pub(super) fn sample(&self, settings: ComponentSampling, rng: &mut StreamRng) -> Result<Draws> {
        let ComponentSampling { bandwidth, burn_in, sweeps, .. } = settings;
        let count = draw_count(settings.draws, &self.shards)?;
        if sweeps == 0 {
            return Err(Error::Setting { name: "the number of sweeps", value: 0.0, expected: "at least 1 is needed" });
        }
        if let Bandwidth::Fixed(h) = bandwidth
            && !(h.is_finite() && h > 0.0)
        {
            return Err(Error::Setting { name: "the bandwidth", value: h, expected: "it must be a positive number" });
        }
        let (d, most) = (self.shards[0].dim(), shortest(&self.shards));
        let mut component = Component::new(self, rng);
        let mut values = vec![0.0; count * d];
        for iteration in 1..=burn_in + count {
            let h = bandwidth.at(iteration.min(most), d);
            for _ in 0..sweeps {
                component.sweep(h, rng);
            }
            if iteration > burn_in {
                let index = iteration - burn_in - 1;
                self.frame.write_back(&component.draw(h, rng), &mut values[index * d..(index + 1) * d]);
            }
        }
        Ok(Draws::from_parts(values, d))
    }
}

/// One component of the mixture: one draw of every shard.
struct Component<'a> {
    of: &'a DensityProduct,
    chosen: Vec<usize>,
    totals: Totals,
}

/// The quantities that determine the weight of a component.
#[derive(Clone)]
struct Totals {
    /// The sum of the chosen draws.
    sum: Vec<f64>,
    /// The sum of their squared norms.
    squares: f64,
    /// The sum of the log densities of the normal approximations at the chosen draws.
    log_normal: f64,
}

impl<'a> Component<'a> {
    fn new(of: &'a DensityProduct, rng: &mut StreamRng) -> Self {
        let chosen: Vec<usize> = of.shards.iter().map(|draws| rng.random_range(0..draws.len())).collect();
        let totals = Self::totals(of, &chosen);
        Self { of, chosen, totals }
    }

    /// Returns the totals of the chosen draws.
    fn totals(of: &DensityProduct, chosen: &[usize]) -> Totals {
        let mut totals = Totals { sum: vec![0.0; of.shards[0].dim()], squares: 0.0, log_normal: 0.0 };
        for (shard, index) in chosen.iter().enumerate() {
            totals.add(of, shard, *index, 1.0);
        }
        totals
    }

    /// Proposes another draw for every shard.
    fn sweep<R: Rng>(&mut self, h: f64, rng: &mut R) {
        // Sums that are only updated would collect rounding errors.
        self.totals = Self::totals(self.of, &self.chosen);
        let mut weight = self.log_weight(&self.totals, h);
        let mut proposed = self.totals.clone();
        for shard in 0..self.chosen.len() {
            let index = rng.random_range(0..self.of.shards[shard].len());
            proposed.clone_from(&self.totals);
            proposed.add(self.of, shard, self.chosen[shard], -1.0);
            proposed.add(self.of, shard, index, 1.0);
            let other = self.log_weight(&proposed, h);
            if rng.random::<f64>().ln() < other - weight {
                self.chosen[shard] = index;
                std::mem::swap(&mut self.totals, &mut proposed);
                weight = other;
            }
        }
    }

    /// Returns the log weight of a component at bandwidth h, up to a constant.
    fn log_weight(&self, totals: &Totals, h: f64) -> f64 {
        let count = self.chosen.len() as f64;
        let spread = totals.squares - dot(&totals.sum, &totals.sum) / count;
        let kernels = -spread / (2.0 * h * h);
        let Some(Correction { mean, variances, .. }) = &self.of.correction else { return kernels };
        let terms = totals.sum.iter().zip(mean.iter().zip(variances));
        let squares: f64 =
            terms.map(|(sum, (mean, variance))| (sum / count - mean).powi(2) / (variance + h * h / count)).sum();
        kernels - 0.5 * squares - totals.log_normal
    }

    /// Draws from the component.
    fn draw<R: Rng>(&self, h: f64, rng: &mut R) -> Vec<f64> {
        let count = self.chosen.len() as f64;
        let precision = count / (h * h);
        let one = |(k, sum): (usize, &f64)| {
            let z: f64 = rng.sample(StandardNormal);
            match &self.of.correction {
                None => sum / count + z / precision.sqrt(),
                Some(Correction { mean, variances, .. }) => {
                    let both = precision + 1.0 / variances[k];
                    (precision * sum / count + mean[k] / variances[k]) / both + z / both.sqrt()
                }
            }
        };
        self.totals.sum.iter().enumerate().map(one).collect()
    }
}

impl Totals {
    /// Adds `sign` times the terms of a draw.
    fn add(&mut self, of: &DensityProduct, shard: usize, index: usize, sign: f64) {
        let row = of.shards[shard].row(index);
        self.sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += sign * x);
        self.squares += sign * dot(row, row);
        self.log_normal += sign * of.correction.as_ref().map_or(0.0, |correction| correction.log_normal[shard][index]);
    }
}

/// Transposes a square matrix.
fn transpose(matrix: &mut [f64], d: usize) {
    for i in 0..d {
        for j in 0..i {
            matrix.swap(i * d + j, j * d + i);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Scott's rule for n draws in d dimensions is n^{−1/(d + 4)} standard deviations.
    #[test]
    fn the_annealed_bandwidth_ends_at_the_rule_of_scott() {
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        close(Bandwidth::Annealed.at(1, 1), 1.0);
        close(Bandwidth::Annealed.at(32, 1), 0.5);
        close(Bandwidth::Annealed.at(64, 2), 0.5);
        close(Bandwidth::Fixed(0.3).at(64, 2), 0.3);
    }

    /// A component is Π_s N(x | θ_s, h² v), times f_s(x)/f_s(θ_s) for semiparametric estimates. Its weight is the integral over x.
    #[test]
    fn components_have_their_weights_and_laws() {
        let rows = [vec![-1.0, 0.2, 0.9, 1.7], vec![1.4, 1.6, 1.9, 1.2], vec![0.3, -1.2, 0.8, 2.5]];
        let shards = rows.clone().map(|rows| Draws::new(rows, 1).unwrap());
        let normals = Normal::estimate_all(&shards, "test").unwrap();
        let h = 0.7;
        let variance = h * h * normals.iter().map(|normal| normal.covariance[0]).sum::<f64>() / 3.0;
        for semiparametric in [false, true] {
            let moments = |chosen: &[usize]| -> [f64; 3] {
                let density = |x: f64| -> f64 {
                    let factor = |(shard, index): (usize, &usize)| {
                        let (y, normal) = (rows[shard][*index], &normals[shard]);
                        let ratio = normal.log_density(&[x]) - normal.log_density(&[y]);
                        -0.5 * (x - y).powi(2) / variance + if semiparametric { ratio } else { 0.0 }
                    };
                    chosen.iter().enumerate().map(factor).sum::<f64>().exp()
                };
                let nodes = (-4000..4000).map(|k| f64::from(k) * 2.5e-3);
                let weighted = nodes.map(|x| [density(x), x * density(x), x * x * density(x)]);
                weighted.fold([0.0; 3], |sums, terms| [0, 1, 2].map(|k| sums[k] + terms[k]))
            };
            let product = DensityProduct::new(&shards, semiparametric, "test").unwrap();
            let component = |chosen: [usize; 3]| {
                let totals = Component::totals(&product, &chosen);
                Component { of: &product, chosen: chosen.to_vec(), totals }
            };
            let log_weight = |chosen| {
                let component = component(chosen);
                component.log_weight(&component.totals, h)
            };
            let (first, mut rng) = ([0, 0, 0], StreamRng::seed_from_u64(2));
            for chosen in [[1, 0, 2], [3, 2, 0], [2, 3, 1], [3, 3, 3]] {
                let [weight, sum, squares] = moments(&chosen);
                let (found, expected) = (log_weight(chosen) - log_weight(first), (weight / moments(&first)[0]).ln());
                assert!((found - expected).abs() < 1e-9, "{chosen:?}: {found} {expected}");
                let (count, component) = (40_000, component(chosen));
                let mut draws = vec![0.0; count];
                for draw in draws.chunks_exact_mut(1) {
                    product.frame.write_back(&component.draw(h, &mut rng), draw);
                }
                let found = Normal::estimate(&Draws::new(draws, 1).unwrap(), 0, "test").unwrap();
                let (mean, n) = (sum / weight, count as f64);
                let variance = squares / weight - mean * mean;
                let error = (found.mean[0] - mean) / (variance / n).sqrt();
                assert!(error.abs() < 4.0, "{chosen:?}: mean {} {mean}", found.mean[0]);
                let error = (found.covariance[0] / variance - 1.0) / (2.0 / n).sqrt();
                assert!(error.abs() < 4.0, "{chosen:?}: variance {} {variance}", found.covariance[0]);
            }
        }
    }
}

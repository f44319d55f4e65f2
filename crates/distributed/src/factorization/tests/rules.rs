//! Steps of the algorithms, compared with their rules on whole vectors.

use super::*;

/// The rules of the algorithms on whole vectors, W followed by H in the order of the matrix, computed from all entries.
struct Reference<'a> {
    entries: &'a Entries,
    grid: &'a Grid,
    sizes: &'a [u64],
    source: Source,
    /// True if the priors are exponential and factors are mirrored.
    mirrored: bool,
}

const FACTORS: usize = 2;
/// The variances of the priors of W and H.
const VARIANCES: [f64; 2] = [2.0, 1.0];
/// The rates of exponential priors.
const RATES: [f64; 2] = [1.5, 0.5];

impl Reference<'_> {
    /// Returns the sums of the derivatives of the likelihood over the entries of a part.
    fn derivatives(&self, theta: &[f64], part: usize) -> Vec<f64> {
        let mut sums = vec![0.0; theta.len()];
        for Entry { row, column, value } in self.entries.iter() {
            let (b, c) = (self.grid.rows().place(row).block, self.grid.columns().place(column).block);
            if (b + part) % self.grid.blocks() != c {
                continue;
            }
            let (i, j) = (row * FACTORS, (self.entries.rows() + column) * FACTORS);
            let residual = value - block::dot(&theta[i..i + FACTORS], &theta[j..j + FACTORS]);
            for k in 0..FACTORS {
                sums[i + k] += residual * theta[j + k];
                sums[j + k] += residual * theta[i + k];
            }
        }
        sums
    }

    /// Returns the estimate of the gradient of the log posterior.
    fn gradient(&self, theta: &[f64], part: usize) -> Vec<f64> {
        let weight = self.entries.len() as f64 / self.sizes[part] as f64;
        let prior = |index: usize| {
            let factor = usize::from(index >= self.entries.rows() * FACTORS);
            if self.mirrored { RATES[factor] } else { theta[index] / VARIANCES[factor] }
        };
        let sums = self.derivatives(theta, part);
        (0..theta.len()).map(|index| weight * sums[index] - prior(index)).collect()
    }

    fn noise(&self, t: u64) -> Vec<f64> {
        let of = |purpose: Use| {
            let order = if matches!(purpose, Use::Row) { self.grid.rows() } else { self.grid.columns() };
            let line = move |line: usize| {
                let place = order.place(line);
                let mut z = vec![0.0; order.range(place.block).len() * FACTORS];
                self.source.fill_normals(purpose, place.block, t, &mut z);
                z[place.index * FACTORS..(place.index + 1) * FACTORS].to_vec()
            };
            (0..order.count()).flat_map(line)
        };
        of(Use::Row).chain(of(Use::Column)).collect()
    }

    /// Returns the samples after each of `count` iterations.
    fn samples(&self, start: &[f64], algorithm: BlockAlgorithm, h: f64, count: u64) -> Vec<Vec<f64>> {
        let mut chains = vec![start.to_vec(); algorithm.interleaved()];
        let mut squares = Vec::new();
        let mut lbfgs = Lbfgs::new(start.len(), 1, InitialScale::Fixed(1.0));
        if let BlockAlgorithm::Hamcmc { memory, gamma, .. } = algorithm {
            lbfgs = Lbfgs::new(start.len(), memory - 1, gamma);
        }
        let mut samples = Vec::new();
        for t in 1..=count {
            let part = self.source.part(self.sizes, t);
            let chain = t as usize % chains.len();
            let theta = chains[chain].clone();
            let (mut drift, mut noise) = (self.gradient(&theta, part), self.noise(t));
            let gradient = drift.clone();
            match algorithm {
                BlockAlgorithm::Sgld => {}
                BlockAlgorithm::Psgld { alpha, lambda } => {
                    let mean = self.derivatives(&theta, part).into_iter().map(|sum| sum / self.sizes[part] as f64);
                    let mean: Vec<f64> = mean.map(|mean| mean * mean).collect();
                    if t == 1 {
                        squares.clone_from(&mean);
                    }
                    for (index, square) in squares.iter_mut().enumerate() {
                        let scale = 1.0 / (lambda + square.sqrt());
                        drift[index] *= scale;
                        noise[index] *= scale.sqrt();
                        *square = alpha * *square + (1.0 - alpha) * mean[index];
                    }
                }
                BlockAlgorithm::Hamcmc { .. } => {
                    lbfgs.inverse_product(&mut drift);
                    lbfgs.root_product(&mut noise);
                }
            }
            let step: Vec<f64> = drift.iter().zip(&noise).map(|(g, z)| 0.5 * h * g + h.sqrt() * z).collect();
            let mut next: Vec<f64> = theta.iter().zip(&step).map(|(theta, step)| theta + step).collect();
            if self.mirrored {
                next.iter_mut().for_each(|theta| *theta = theta.abs());
            }
            let step: Vec<f64> = next.iter().zip(&theta).map(|(next, theta)| next - theta).collect();
            if let BlockAlgorithm::Hamcmc { lambda, .. } = algorithm {
                let after = self.gradient(&next, part);
                let change = gradient.iter().zip(&after).zip(&step).map(|((g, after), s)| g - after + lambda * s);
                lbfgs.push_in_turn(&step, &change.collect::<Vec<_>>());
            }
            chains[chain].clone_from(&next);
            samples.push(next);
        }
        samples
    }
}

#[test]
fn steps_follow_the_rules() {
    let (entries, h) = (ratings(), 1e-3);
    let grid = Arc::new(Grid::new(22, 27, 3, 8).unwrap());
    let algorithms = [BlockAlgorithm::Sgld, PSGLD, HAMCMC, HAMCMC_4];
    for (algorithm, mirrored) in algorithms.into_iter().flat_map(|algorithm| [(algorithm, false), (algorithm, true)]) {
        let ranks = Arc::new(ThreadRank::alone());
        let blocked = BlockedEntries::distribute(ranks, grid.clone(), entries.iter()).unwrap();
        let sizes = blocked.parts().to_vec();
        let model = BlockedFactorization::new(FACTORS).algorithm(algorithm).step_size(h).start_scale(0.7).seed(4);
        let priors = [0, 1].map(|factor| {
            let (variance, rate) = (VARIANCES[factor], RATES[factor]);
            if mirrored { FactorPrior::Exponential { rate } } else { FactorPrior::Gaussian { variance } }
        });
        let model = model.row_prior(priors[0]).column_prior(priors[1]);
        let mut sampler = model.sampler(blocked).unwrap();
        let whole = |sampler: &BlockSampler<GaussianEntries>| {
            let factors = sampler.factors().unwrap().unwrap();
            [factors.rows, factors.columns].concat()
        };
        let reference =
            Reference { entries: &entries, grid: &grid, sizes: &sizes, source: Source { seed: 4, chain: 0 }, mirrored };
        let samples = reference.samples(&whole(&sampler), algorithm, h, 12);
        for (t, expected) in (1..).zip(samples) {
            sampler.step().unwrap();
            for (index, (found, expected)) in whole(&sampler).iter().zip(expected).enumerate() {
                assert!((found - expected).abs() < 1e-9, "{algorithm:?}, {t}, {index}: {found} {expected}");
            }
        }
    }
}

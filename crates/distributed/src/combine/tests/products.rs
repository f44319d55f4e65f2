//! Products of subposteriors of other shapes, evaluated on grids in one and two dimensions.

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_diagnostics::distance::ks_p_value;

use super::super::*;

/// A mixture of two normal distributions with the same weight, in one dimension.
#[derive(Clone, Copy)]
struct Bimodal {
    centers: [f64; 2],
    sd: f64,
}

impl Bimodal {
    fn density(&self, x: f64) -> f64 {
        self.centers.iter().map(|center| (-0.5 * ((x - center) / self.sd).powi(2)).exp() / self.sd).sum()
    }

    fn draw(&self, count: usize, rng: &mut StreamRng) -> Vec<f64> {
        let one = |_| {
            let z: f64 = rng.sample(StandardNormal);
            self.centers[rng.random_range(0..2)] + self.sd * z
        };
        (0..count).map(one).collect()
    }
}

const GRID: usize = 1200;

/// Returns the distribution function of a density on [-6, 6], normalized.
fn cumulative(density: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
    let width = 12.0 / GRID as f64;
    let mut sums = vec![0.0];
    for k in 0..GRID {
        sums.push(sums[k] + density(-6.0 + (k as f64 + 0.5) * width));
    }
    let total = sums[GRID];
    move |x: f64| {
        let position = ((x + 6.0) / width).clamp(0.0, GRID as f64 - 1e-9);
        let (cell, rest) = (position as usize, position.fract());
        (sums[cell] + rest * (sums[cell + 1] - sums[cell])) / total
    }
}

/// Returns the Kolmogorov distance of draws from a distribution function.
fn kolmogorov(draws: impl Iterator<Item = f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    let mut draws: Vec<f64> = draws.collect();
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let gap = |(k, x): (usize, &f64)| {
        let p = cdf(*x);
        (p - k as f64 / n).abs().max((p - (k as f64 + 1.0) / n).abs())
    };
    draws.iter().enumerate().map(gap).fold(0.0, f64::max)
}

const SHARDS: [Bimodal; 3] = [
    Bimodal { centers: [-1.2, 1.0], sd: 0.8 },
    Bimodal { centers: [-0.8, 1.3], sd: 0.9 },
    Bimodal { centers: [-1.0, 1.5], sd: 1.0 },
];

/// The chain over components samples the product of kernel estimates that a grid evaluates.
#[test]
fn kdemc_samples_the_product_of_kernel_estimates() {
    let mut rng = stream(21);
    let shards = SHARDS.map(|shard| Draws::new(shard.draw(300, &mut rng), 1).unwrap());
    let h = 0.6;
    let sampling = ComponentSampling {
        draws: Some(8000),
        bandwidth: Bandwidth::Fixed(h),
        sweeps: 20,
        ..ComponentSampling::default()
    };
    let mean_variance = shards.iter().map(|draws| normal::variances(draws, 0, "test").unwrap()[0]).sum::<f64>() / 3.0;
    let kernel_variance = h * h * mean_variance;
    let estimate = |draws: &Draws, x: f64, factor: &dyn Fn(f64) -> f64| {
        draws.values().iter().map(|y| (-0.5 * (x - y).powi(2) / kernel_variance).exp() * factor(*y)).sum::<f64>()
    };
    let kernel = cumulative(|x| shards.iter().map(|draws| estimate(draws, x, &|_| 1.0)).product());
    let normals: Vec<normal::Normal> =
        shards.iter().map(|draws| normal::Normal::estimate(draws, 0, "test").unwrap()).collect();
    let semiparametric = cumulative(|x| {
        let of = |(draws, normal): (&Draws, &normal::Normal)| {
            estimate(draws, x, &|y| (normal.log_density(&[x]) - normal.log_density(&[y])).exp())
        };
        shards.iter().zip(&normals).map(of).product()
    });
    let kdemc = Kdemc { sampling }.combine(&shards, 1).unwrap();
    // 20 sweeps per draw leave little autocorrelation; a quarter of the draws is assumed to be independent.
    let distance = kolmogorov(kdemc.values().iter().copied(), &kernel);
    assert!(ks_p_value(distance, 2000.0) > 1e-3, "{distance}");
    let other = kolmogorov(kdemc.values().iter().copied(), &semiparametric);
    assert!(other > 0.03, "the two products are not distinguished: {other}");
    let combined = SemiparametricKdemc { sampling }.combine(&shards, 1).unwrap();
    let distance = kolmogorov(combined.values().iter().copied(), &semiparametric);
    assert!(ks_p_value(distance, 2000.0) > 1e-3, "{distance}");
}

/// The products of the subposteriors themselves, which have two modes.
#[test]
fn nonparametric_methods_follow_a_product_with_two_modes() {
    let mut rng = stream(8);
    let shards = SHARDS.map(|shard| Draws::new(shard.draw(5000, &mut rng), 1).unwrap());
    let product = cumulative(|x| SHARDS.iter().map(|shard| shard.density(x)).product());
    let sampling = ComponentSampling { sweeps: 100, bandwidth: Bandwidth::Fixed(0.2), ..ComponentSampling::default() };
    let methods: [Box<dyn Combination>; 3] = [
        Box::new(Kdemc { sampling }),
        Box::new(SemiparametricKdemc { sampling }),
        Box::new(Weierstrass { acceptance: 0.03, ..Weierstrass::default() }),
    ];
    for method in methods {
        let combined = method.combine(&shards, 2).unwrap();
        let distance = kolmogorov(combined.values().iter().copied(), &product);
        assert!(distance < 0.035, "{method:?}: {distance}");
    }
    let consensus = Consensus::default().combine(&shards, 2).unwrap();
    assert!(kolmogorov(consensus.values().iter().copied(), &product) > 0.1);
}

/// The functions whose means are compared in two dimensions.
fn functions(x: f64, y: f64) -> [f64; 4] {
    [x, y * y, x * x, x * y * y]
}

/// Means and standard deviations of [`functions`] under a density on a grid.
fn moments_on_grid(density: impl Fn(f64, f64) -> f64) -> [[f64; 4]; 2] {
    let nodes = 110;
    let (mut total, mut sums) = (0.0, [[0.0; 4]; 2]);
    for i in 0..nodes {
        for j in 0..nodes {
            let x = -9.0 + 14.0 * (f64::from(i) + 0.5) / f64::from(nodes);
            let y = -4.0 + 8.0 * (f64::from(j) + 0.5) / f64::from(nodes);
            let weight = density(x, y);
            total += weight;
            for (k, f) in functions(x, y).into_iter().enumerate() {
                sums[0][k] += weight * f;
                sums[1][k] += weight * f * f;
            }
        }
    }
    let mean = sums[0].map(|sum| sum / total);
    [mean, [0, 1, 2, 3].map(|k| (sums[1][k] / total - mean[k] * mean[k]).sqrt())]
}

/// Means of [`functions`] over the draws in the range of the grid. Semiparametric estimates have heavy tails outside.
fn moments_of(draws: &Draws) -> [f64; 4] {
    let mut means = [0.0; 4];
    let inside: Vec<&[f64]> =
        draws.rows().filter(|row| (-9.0..5.0).contains(&row[0]) && (-4.0..4.0).contains(&row[1])).collect();
    for row in &inside {
        functions(row[0], row[1]).iter().zip(&mut means).for_each(|(f, sum)| *sum += f / inside.len() as f64);
    }
    means
}

const CURVE_CENTERS: [f64; 2] = [0.3, -0.2];

/// A curved density: x + y² with unit noise around a center, and y standard normal.
fn curved(center: f64, x: f64, y: f64) -> f64 {
    (-0.5 * (x + y * y - center).powi(2) - 0.5 * y * y).exp()
}

fn curved_shards(count: usize, rng: &mut StreamRng) -> [Draws; 2] {
    CURVE_CENTERS.map(|center| {
        let row = |_| {
            let (y, z): (f64, f64) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
            [center - y * y + z, y]
        };
        Draws::new((0..count).flat_map(row).collect(), 2).unwrap()
    })
}

/// In two dimensions: the chain over components samples the product of kernel estimates that a grid evaluates.
#[test]
fn kdemc_samples_the_product_of_kernel_estimates_in_two_dimensions() {
    let shards = curved_shards(1000, &mut stream(5));
    let h = 0.35;
    let normals: Vec<normal::Normal> =
        shards.iter().map(|draws| normal::Normal::estimate(draws, 0, "test").unwrap()).collect();
    let average: Vec<f64> =
        (0..4).map(|k| 0.5 * h * h * (normals[0].covariance[k] + normals[1].covariance[k])).collect();
    let determinant = average[0] * average[3] - average[1] * average[2];
    let kernel = |row: &[f64], x: f64, y: f64| {
        let (dx, dy) = (x - row[0], y - row[1]);
        let square = average[3] * dx * dx - 2.0 * average[1] * dx * dy + average[0] * dy * dy;
        (-0.5 * square / determinant).exp()
    };
    let sampling = ComponentSampling {
        draws: Some(8000),
        bandwidth: Bandwidth::Fixed(h),
        sweeps: 100,
        ..ComponentSampling::default()
    };
    let check = |method: &dyn Combination, semiparametric: bool| {
        // The reciprocal of the normal approximation at every draw.
        let factors: Vec<Vec<f64>> = shards
            .iter()
            .zip(&normals)
            .map(|(draws, normal)| {
                draws.rows().map(|row| if semiparametric { (-normal.log_density(row)).exp() } else { 1.0 }).collect()
            })
            .collect();
        let [mean, sd] = moments_on_grid(|x, y| {
            let estimate = |(shard, draws): (usize, &Draws)| {
                let outer = if semiparametric { normals[shard].log_density(&[x, y]).exp() } else { 1.0 };
                outer * draws.rows().zip(&factors[shard]).map(|(row, factor)| factor * kernel(row, x, y)).sum::<f64>()
            };
            shards.iter().enumerate().map(estimate).product()
        });
        let found = moments_of(&method.combine(&shards, 2).unwrap());
        for (found, (mean, sd)) in found.iter().zip(mean.iter().zip(&sd)) {
            // A quarter of the draws is assumed to be independent.
            let error = (found - mean) / (sd / 2000.0_f64.sqrt());
            assert!(error.abs() < 4.0, "{method:?}: {found} {mean} {sd}");
        }
        mean
    };
    let plain = check(&Kdemc { sampling }, false);
    let corrected = check(&SemiparametricKdemc { sampling }, true);
    assert!((plain[2] - corrected[2]).abs() > 0.1, "the two products are not distinguished: {plain:?} {corrected:?}");
}

/// In two dimensions: the product of the subposteriors themselves.
#[test]
fn weierstrass_follows_a_curved_product() {
    let shards = curved_shards(6000, &mut stream(5));
    let [exact, _] = moments_on_grid(|x, y| CURVE_CENTERS.iter().map(|center| curved(*center, x, y)).product());
    let found = moments_of(&Weierstrass { acceptance: 0.01, ..Weierstrass::default() }.combine(&shards, 2).unwrap());
    assert!(found.iter().zip(exact).all(|(found, exact)| (found - exact).abs() < 0.1), "{found:?} {exact:?}");
    let consensus = moments_of(&Consensus::default().combine(&shards, 2).unwrap());
    assert!(consensus.iter().zip(exact).any(|(found, exact)| (found - exact).abs() > 0.2), "{consensus:?} {exact:?}");
}

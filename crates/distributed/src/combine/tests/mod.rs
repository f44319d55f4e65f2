//! Tests of all methods: identity, exactness for normal subposteriors, errors. [`products`] has other shapes.

mod products;

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_numerics::Cholesky;

use super::*;

/// Returns the methods that combine subposteriors whose product is the posterior.
fn product_methods() -> Vec<Box<dyn Combination>> {
    METHODS.iter().map(|method| (method.create)()).filter(|m| m.temperings()[0] == Tempering::FractionalPrior).collect()
}

/// A normal distribution to draw from.
struct Source {
    mean: Vec<f64>,
    root: Cholesky,
    precision: Vec<f64>,
}

impl Source {
    /// Returns the distribution of shard number `shard`: means, scales and correlations depend on the shard.
    fn new(dim: usize, shard: usize) -> Self {
        let s = shard as f64;
        let sd = |k: usize| 1.0 + 0.5 * ((k + 2 * shard) % 3) as f64;
        let correlation: f64 = 0.6 - 0.2 * s;
        let entry = |i: usize, j: usize| sd(i) * sd(j) * correlation.powi(i.abs_diff(j) as i32);
        let covariance: Vec<f64> = (0..dim * dim).map(|k| entry(k / dim, k % dim)).collect();
        let root = Cholesky::new(&covariance, dim).unwrap();
        let mut precision = vec![0.0; dim * dim];
        root.inverse(&mut precision);
        Self { mean: (0..dim).map(|k| (s - 1.0) * (0.3 + 0.1 * (k % 4) as f64)).collect(), root, precision }
    }

    fn draw(&self, count: usize, rng: &mut StreamRng) -> Draws {
        let d = self.mean.len();
        let mut values = vec![0.0; count * d];
        let mut z = vec![0.0; d];
        for row in values.chunks_exact_mut(d) {
            z.fill_with(|| rng.sample(StandardNormal));
            self.root.product(&z, row);
            row.iter_mut().zip(&self.mean).for_each(|(x, m)| *x += m);
        }
        Draws::new(values, d).unwrap()
    }
}

/// The exact product of normal densities.
struct Exact {
    mean: Vec<f64>,
    covariance: Vec<f64>,
}

impl Exact {
    fn new(sources: &[Source]) -> Self {
        let d = sources[0].mean.len();
        let (mut precision, mut linear) = (vec![0.0; d * d], vec![0.0; d]);
        for source in sources {
            precision.iter_mut().zip(&source.precision).for_each(|(sum, entry)| *sum += entry);
            for (i, linear) in linear.iter_mut().enumerate() {
                *linear += (0..d).map(|j| source.precision[i * d + j] * source.mean[j]).sum::<f64>();
            }
        }
        let cholesky = Cholesky::new(&precision, d).unwrap();
        cholesky.solve(&mut linear);
        let mut covariance = vec![0.0; d * d];
        cholesky.inverse(&mut covariance);
        Self { mean: linear, covariance }
    }

    /// Returns the largest errors of means and covariances, in standard errors of `n` independent draws.
    fn errors(&self, draws: &Draws, n: f64) -> (f64, f64) {
        let d = draws.dim();
        let normal = normal::Normal::estimate(draws, 0, "test").unwrap();
        let variance = |i: usize| self.covariance[i * d + i];
        let mean_error = |i: usize| (normal.mean[i] - self.mean[i]).abs() / (variance(i) / n).sqrt();
        let covariance_error = |k: usize| {
            let (i, j) = (k / d, k % d);
            let se = ((variance(i) * variance(j) + self.covariance[k].powi(2)) / n).sqrt();
            (normal.covariance[k] - self.covariance[k]).abs() / se
        };
        let largest = |errors: &mut dyn Iterator<Item = f64>| errors.fold(0.0, f64::max);
        (largest(&mut (0..d).map(mean_error)), largest(&mut (0..d * d).map(covariance_error)))
    }
}

#[test]
fn one_shard_is_returned_unchanged() {
    let draws = Source::new(2, 0).draw(50, &mut stream(1));
    for method in METHODS {
        let method = (method.create)();
        let tempering = method.temperings()[0];
        assert_eq!(method.combine_tempered(std::slice::from_ref(&draws), tempering, 3).unwrap(), draws, "{method:?}");
    }
}

/// The rules themselves are the identity on one shard where they transform draws.
#[test]
fn transformations_of_one_shard_are_the_identity() {
    let draws = Source::new(3, 0).draw(50, &mut stream(1));
    let one = std::slice::from_ref(&draws);
    let weights = [Weights::Covariance, Weights::Variances, Weights::Equal];
    let consensus = weights.map(|weights| Box::new(Consensus { weights }) as Box<dyn Combination>);
    let swiss: Box<dyn Combination> = Box::new(Swiss);
    for method in consensus.into_iter().chain([swiss]) {
        for tempering in method.temperings() {
            let combined = method.apply(one, *tempering, &mut stream(0)).unwrap();
            for (a, b) in combined.values().iter().zip(draws.values()) {
                assert!((a - b).abs() < 1e-10, "{method:?}: {a} {b}");
            }
        }
    }
    // The median of one point is the point; all draws are resampled once.
    let median = GeometricMedian::default().apply(one, Tempering::Inflated, &mut stream(0)).unwrap();
    assert_eq!(median, draws);
}

/// Normal subposteriors: errors within Monte Carlo error, in 2 and 20 dimensions.
#[test]
fn normal_subposteriors_are_combined_exactly() {
    let mut rng = stream(11);
    for (dim, shards, count) in [(2, 4, 20_000), (20, 3, 20_000)] {
        let sources: Vec<Source> = (0..shards).map(|shard| Source::new(dim, shard)).collect();
        let exact = Exact::new(&sources);
        let draws: Vec<Draws> = sources.iter().map(|source| source.draw(count, &mut rng)).collect();
        let methods: [Box<dyn Combination>; 3] =
            [Box::new(Consensus::default()), Box::new(GaussianProduct::default()), Box::new(Swiss)];
        for method in methods {
            let combined = method.combine(&draws, 5).unwrap();
            // The moments of the shards and the combined draws are estimated from `count` draws each.
            let (mean, covariance) = exact.errors(&combined, count as f64 / 2.0);
            assert!(mean < 4.5 && covariance < 4.5, "{method:?} in {dim} dimensions: {mean} {covariance}");
        }
        // The wrong weights are detected.
        let equal = Consensus { weights: Weights::Equal }.combine(&draws, 5).unwrap();
        let (mean, covariance) = exact.errors(&equal, count as f64 / 2.0);
        assert!(mean.max(covariance) > 10.0, "{mean} {covariance}");
    }
}

/// Diagonal weights are exact without correlations, equal weights with equal covariances.
#[test]
fn simpler_weights_are_exact_where_they_apply() {
    let mut rng = stream(4);
    let independent = |sd: [f64; 2], mean: f64| Source {
        mean: vec![mean, -mean],
        root: Cholesky::new(&[sd[0] * sd[0], 0.0, 0.0, sd[1] * sd[1]], 2).unwrap(),
        precision: vec![1.0 / (sd[0] * sd[0]), 0.0, 0.0, 1.0 / (sd[1] * sd[1])],
    };
    let check = |sources: [Source; 2], weights, rng: &mut StreamRng| {
        let draws = sources.each_ref().map(|source| source.draw(20_000, rng));
        let combined = Consensus { weights }.combine(&draws, 0).unwrap();
        let (mean, covariance) = Exact::new(&sources).errors(&combined, 10_000.0);
        assert!(mean < 4.0 && covariance < 4.0, "{weights:?}: {mean} {covariance}");
    };
    check([independent([1.0, 3.0], 0.5), independent([2.0, 1.0], -0.5)], Weights::Variances, &mut rng);
    check([independent([1.0, 3.0], 0.5), independent([1.0, 3.0], -0.5)], Weights::Equal, &mut rng);
}

/// Inflated normal subposteriors have S times the precision.
#[test]
fn swiss_combines_inflated_subposteriors() {
    let sources: Vec<Source> = (0..3).map(|shard| Source::new(2, shard)).collect();
    let mut exact = Exact::new(&sources);
    exact.covariance.iter_mut().for_each(|entry| *entry *= 3.0);
    let draws: Vec<Draws> = sources.iter().map(|source| source.draw(20_000, &mut stream(9))).collect();
    // With one stream for all shards the draws are not independent, which the rule does not use.
    let combined = Swiss.combine_tempered(&draws, Tempering::Inflated, 0).unwrap();
    let (mean, covariance) = exact.errors(&combined, 7_000.0);
    assert!(mean < 4.0 && covariance < 4.0, "{mean} {covariance}");
}

/// The geometric median ignores a minority of bad shards; means do not.
#[test]
fn the_geometric_median_ignores_a_bad_shard() {
    let mut rng = stream(2);
    let source = Source::new(2, 1);
    let mut shards: Vec<Draws> = (0..4).map(|_| source.draw(400, &mut rng)).collect();
    shards.push(Draws::new(source.draw(400, &mut rng).values().iter().map(|x| x + 100.0).collect(), 2).unwrap());
    let median = GeometricMedian::default().combine(&shards, 1).unwrap();
    assert!(median.values().iter().all(|x| *x < 50.0));
    let mean = normal::mean(&median);
    assert!(mean.iter().zip(&source.mean).all(|(found, exact)| (found - exact).abs() < 0.3), "{mean:?}");
}

#[test]
fn mistakes_are_errors() {
    let mut rng = stream(1);
    let good = Source::new(2, 0).draw(100, &mut rng);
    let few = Source::new(2, 1).draw(3, &mut rng);
    let constant = Draws::new((0..100).flat_map(|k| [f64::from(k), 2.0 * f64::from(k)]).collect(), 2).unwrap();
    let empty = Draws::new(vec![], 2).unwrap();
    for method in product_methods() {
        let combine = |other: &Draws| method.combine(&[good.clone(), other.clone()], 0);
        assert_eq!(method.combine(&[], 0), Err(Error::NoShards));
        assert!(matches!(combine(&few), Err(Error::TooFewDraws { shard: 1, found: 3, .. })), "{method:?}");
        assert!(matches!(combine(&empty), Err(Error::TooFewDraws { shard: 1, found: 0, .. })), "{method:?}");
        assert!(matches!(combine(&constant), Err(Error::Singular { shard: 1, row: 1 })), "{method:?}");
        let one = Draws::new(vec![1.0; 100], 1).unwrap();
        assert!(matches!(combine(&one), Err(Error::Dimension { shard: 1, found: 1, expected: 2 })));
    }
    let pair = [good.clone(), good];
    let setting = |method: &dyn Combination| matches!(method.combine(&pair, 0), Err(Error::Setting { .. }));
    assert!(setting(&GaussianProduct { draws: Some(0) }));
    assert!(setting(&Weierstrass { acceptance: 0.0, ..Weierstrass::default() }));
    assert!(setting(&Weierstrass { acceptance: f64::NAN, ..Weierstrass::default() }));
    assert!(setting(&GeometricMedian { kernel_draws: 0, ..GeometricMedian::default() }));
    assert!(setting(&GeometricMedian { bandwidth: Some(0.0), ..GeometricMedian::default() }));
    let kdemc = |sampling| Kdemc { sampling };
    assert!(setting(&kdemc(ComponentSampling { sweeps: 0, ..ComponentSampling::default() })));
    assert!(setting(&kdemc(ComponentSampling { bandwidth: Bandwidth::Fixed(-1.0), ..ComponentSampling::default() })));
    let error = Consensus::default().combine_tempered(&pair, Tempering::Inflated, 0).unwrap_err();
    assert!(error.to_string().contains("Shards::tempering(Tempering::FractionalPrior)"), "{error}");
}

#[test]
fn results_are_a_function_of_the_seed() {
    let mut rng = stream(1);
    let shards: Vec<Draws> = (0..3).map(|shard| Source::new(2, shard).draw(60, &mut rng)).collect();
    for method in METHODS {
        let method = (method.create)();
        let tempering = method.temperings()[0];
        let combine = |seed| method.combine_tempered(&shards, tempering, seed).unwrap();
        assert_eq!(combine(4), combine(4), "{method:?}");
        assert_eq!(combine(4).dim(), 2);
        if method.order() == DrawOrder::New {
            assert_ne!(combine(4), combine(5), "{method:?}");
        }
    }
}

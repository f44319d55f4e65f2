//! Families: marginal likelihoods, predictive densities and checks.

use sgmcmc_gradient::data::Column;
use sgmcmc_gradient::rng::ChainRng;

use super::exact::{Partitions, TOLERANCE, cluster_count, statistics};
use super::{counts, gaussian, levels, multinomial, points, prior};
use crate::mixture::random::log_sum_exp;
use crate::mixture::{
    Categorical, Concentration, Counts, DirichletProcess, Evaluation, Family, Gaussian, Levels, Multinomial,
    NormalInverseWishart, Observations, Points,
};

/// Estimates the marginal likelihood of all observations by the mean of the likelihood over the base distribution.
fn check_marginal<F: Family>(family: &F, data: &F::Data, rows: usize) {
    let mut statistics = family.no_statistics();
    (0..rows).for_each(|row| family.add(&mut statistics, data, row, 1.0));
    let exact = family.log_marginal(&statistics).unwrap().exp();
    let mut rng = ChainRng::new(1, 0);
    let empty = family.no_statistics();
    let likelihoods: Vec<f64> = (0..400_000)
        .map(|_| {
            let parameters = family.draw(&empty, rng.noise()).unwrap();
            (0..rows).map(|row| family.log_density(&parameters, data, row)).sum::<f64>().exp()
        })
        .collect();
    let n = likelihoods.len() as f64;
    let mean = likelihoods.iter().sum::<f64>() / n;
    let error = (likelihoods.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / n).sqrt();
    assert!((mean - exact).abs() < TOLERANCE * error, "{mean} ± {error}, exact {exact}");
}

#[test]
fn marginal_likelihoods_are_integrals_over_the_base_distribution() {
    check_marginal(&multinomial(), &counts(), 3);
    check_marginal(&Categorical::symmetric(&[2, 3, 2], 0.6).unwrap(), &levels(), 3);
    check_marginal(&gaussian(), &points(), 2);
}

/// The posterior mean of the predictive density by enumeration, for each new observation.
fn exact_predictive<F: Family>(family: &F, data: &F::Data, new: &F::Data, alpha: f64) -> Vec<f64> {
    let partitions = Partitions::new(family, data);
    let posterior = partitions.given(alpha);
    let n = data.observations() as f64;
    let density = |row: usize| {
        let with = |statistics: &F::Statistics| {
            let mut more = statistics.clone();
            family.add(&mut more, new, row, 1.0);
            (family.log_marginal(&more).unwrap() - family.log_marginal(statistics).unwrap()).exp()
        };
        let of = |labels: &Vec<usize>| {
            let statistics = statistics(family, data, labels);
            let sizes: Vec<f64> =
                (0..cluster_count(labels)).map(|k| labels.iter().filter(|label| **label == k).count() as f64).collect();
            let known: f64 = statistics.iter().zip(sizes).map(|(s, size)| size * with(s)).sum();
            (known + alpha * with(&family.no_statistics())) / (n + alpha)
        };
        partitions.labels.iter().zip(&posterior).map(|(labels, p)| p * of(labels)).sum::<f64>().ln()
    };
    (0..new.observations()).map(density).collect()
}

fn check_predictive<F: Family>(process: DirichletProcess<F>, family: &F, data: &F::Data, new: &F::Data) {
    let exact = exact_predictive(family, data, new, 0.8);
    let process = process.concentration(Concentration::Fixed(0.8));
    // Independent runs give the Monte Carlo error.
    let runs: Vec<Vec<f64>> = (0..20)
        .map(|seed| {
            let mut sampler = process.clone().seed(seed).sampler(data).unwrap();
            let mut evaluation = Evaluation::new(family, new).unwrap();
            (0..100).for_each(|_| sampler.step().unwrap());
            for _ in 0..2000 {
                sampler.step().unwrap();
                evaluation.add(&sampler.mixture()).unwrap();
            }
            evaluation.finish().unwrap().each().to_vec()
        })
        .collect();
    for (index, exact) in exact.iter().enumerate() {
        let values: Vec<f64> = runs.iter().map(|run| run[index]).collect();
        let log_mean = log_sum_exp(&values) - 20.0_f64.ln();
        let mean = values.iter().sum::<f64>() / 20.0;
        let error = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 19.0 / 20.0).sqrt();
        assert!((log_mean - exact).abs() < TOLERANCE * error, "{log_mean} ± {error}, exact {exact}");
    }
}

#[test]
fn predictive_densities_are_exact() {
    let new = Counts::new(3, [vec![(0, 2)], vec![(1, 1), (2, 2)], vec![(2, 1)]]).unwrap();
    check_predictive(DirichletProcess::new(|_| Ok(multinomial())), &multinomial(), &counts(), &new);
    let new = Points::new(vec![-1.0, 0.0, 0.5, 1.0, 5.0, 5.0], 2).unwrap();
    check_predictive(DirichletProcess::gaussian_with(prior()), &gaussian(), &points(), &new);
}

#[test]
fn invalid_data_and_settings_are_errors() {
    assert!(Counts::new(3, Vec::<Vec<(usize, u32)>>::new()).is_err());
    let error = Counts::new(3, [vec![(0, 1)], vec![(3, 1)]]).unwrap_err().to_string();
    assert!(error.contains("observation 1") && error.contains("categories below 3"), "{error}");
    let column = Column::new("visits", vec![1.0_f32, -1.0], [2]).unwrap();
    assert!(Counts::from_column(&column).unwrap_err().to_string().contains("visits"));
    let column = Column::new("visits", vec![1.0_f32, 0.5], [2]).unwrap();
    assert!(Counts::from_column(&column).is_err());
    assert!(Levels::new(vec![2, 2], vec![0, 1, 1]).is_err());
    let error = Levels::new(vec![2, 2], vec![0, 1, 1, 2]).unwrap_err().to_string();
    assert!(error.contains("row 1, column 1"), "{error}");
    assert!(Points::new(vec![1.0, f64::NAN], 1).is_err());
    assert!(Points::new(vec![1.0, 2.0, 3.0], 2).is_err());
    assert!(Points::new(vec![], 2).is_err());
    assert!(Multinomial::symmetric(3, 0.0).is_err());
    assert!(multinomial().check(&Counts::new(4, [vec![(0, 1)]]).unwrap()).is_err());
    assert!(Gaussian::around(&Points::new(vec![1.0, 1.0], 1).unwrap()).is_err());
    for prior in [
        NormalInverseWishart { degrees_of_freedom: 1.0, ..prior() },
        NormalInverseWishart { strength: 0.0, ..prior() },
        NormalInverseWishart { scale: vec![1.0, 2.0, 2.0, 1.0], ..prior() },
        NormalInverseWishart { scale: vec![1.0], ..prior() },
    ] {
        assert!(Gaussian::new(prior.clone()).is_err(), "{prior:?}");
    }
    for process in [
        DirichletProcess::multinomial(0.5).scir(0.0),
        DirichletProcess::multinomial(0.5).sgrld(f64::NAN),
        DirichletProcess::multinomial(0.5).minibatch(7),
        DirichletProcess::multinomial(0.5).initial_clusters(0),
        DirichletProcess::multinomial(-1.0),
        DirichletProcess::multinomial(0.5).concentration(Concentration::Fixed(0.0)),
        DirichletProcess::multinomial(0.5).concentration(Concentration::Gamma { shape: 1.0, rate: -1.0 }),
    ] {
        assert!(process.sampler(&counts()).is_err(), "{process:?}");
    }
}

/// Tiny prior parameters give probabilities far below the smallest `f64`.
#[test]
fn sparse_components_stay_finite() {
    let data = Counts::new(50, (0..40).map(|i| vec![(i % 50, 2), ((i * 7) % 50, 1)])).unwrap();
    for process in [
        DirichletProcess::multinomial(1e-6),
        DirichletProcess::multinomial(1e-6).minibatch(8).scir(0.1),
        DirichletProcess::multinomial(1e-3).minibatch(8).sgrld(1e-3),
    ] {
        let mut sampler = process.clone().seed(1).sampler(&data).unwrap();
        for _ in 0..300 {
            sampler.step().unwrap();
        }
        let mixture = sampler.mixture();
        let finite = |x: &f64| x.is_finite();
        assert!(mixture.log_weights.iter().all(|x| !x.is_nan()), "{process:?}");
        assert!(mixture.components.iter().all(|c| c.log_probabilities().iter().all(finite)), "{process:?}");
        assert!(sampler.concentration() > 0.0);
    }
}

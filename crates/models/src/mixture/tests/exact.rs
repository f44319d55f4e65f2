//! The exact posterior over all partitions of few observations.

use sgmcmc_diagnostics::mcse_mean;
use statrs::function::gamma::ln_gamma;

use crate::mixture::data::Observations;
use crate::mixture::random::log_sum_exp;
use crate::mixture::{Concentration, DirichletProcess, Family};

/// The number of Monte Carlo standard errors that an estimate may be off.
pub(super) const TOLERANCE: f64 = 4.0;

/// Partitions of observations, and their marginal likelihoods.
pub(super) struct Partitions {
    /// Labels in the order of first appearance.
    pub(super) labels: Vec<Vec<usize>>,
    /// log Π Γ(mₖ) + log marginal likelihood, the part that does not depend on α.
    log_scores: Vec<f64>,
}

/// Returns all partitions of `n` observations as labels in the order of first appearance.
pub(super) fn all_partitions(n: usize) -> Vec<Vec<usize>> {
    let mut partitions = vec![vec![]];
    for _ in 0..n {
        let extend = |labels: Vec<usize>| {
            let clusters = labels.iter().max().map_or(0, |last| last + 1);
            (0..=clusters).map(move |label| [labels.clone(), vec![label]].concat())
        };
        partitions = partitions.into_iter().flat_map(extend).collect();
    }
    partitions
}

pub(super) fn cluster_count(labels: &[usize]) -> usize {
    labels.iter().max().map_or(0, |last| last + 1)
}

/// Returns the labels in the order of first appearance.
pub(super) fn canonical(allocations: &[u32]) -> Vec<usize> {
    let mut seen = Vec::new();
    allocations
        .iter()
        .map(|z| {
            seen.iter().position(|other| other == z).unwrap_or_else(|| {
                seen.push(*z);
                seen.len() - 1
            })
        })
        .collect()
}

/// Returns the statistics of every cluster.
pub(super) fn statistics<F: Family>(family: &F, data: &F::Data, labels: &[usize]) -> Vec<F::Statistics> {
    let mut statistics = vec![family.no_statistics(); cluster_count(labels)];
    labels.iter().enumerate().for_each(|(row, label)| family.add(&mut statistics[*label], data, row, 1.0));
    statistics
}

impl Partitions {
    pub(super) fn new<F: Family>(family: &F, data: &F::Data) -> Self {
        let labels = all_partitions(data.observations());
        let score = |labels: &Vec<usize>| {
            let statistics = statistics(family, data, labels);
            let likelihood: f64 = statistics.iter().map(|s| family.log_marginal(s).unwrap()).sum();
            let sizes = (0..statistics.len()).map(|k| labels.iter().filter(|label| **label == k).count() as f64);
            likelihood + sizes.map(ln_gamma).sum::<f64>()
        };
        let log_scores = labels.iter().map(score).collect();
        Self { labels, log_scores }
    }

    /// Returns log p(x, partition | α) of every partition, up to a constant.
    fn log_joint(&self, alpha: f64) -> Vec<f64> {
        let n = self.labels[0].len() as f64;
        let constant = ln_gamma(alpha) - ln_gamma(alpha + n);
        let joint = |(labels, score): (&Vec<usize>, &f64)| cluster_count(labels) as f64 * alpha.ln() + score + constant;
        self.labels.iter().zip(&self.log_scores).map(joint).collect()
    }

    /// Returns the posterior given α.
    pub(super) fn given(&self, alpha: f64) -> Vec<f64> {
        normalized(&self.log_joint(alpha))
    }

    /// Returns the posterior with the prior Gamma(shape, rate) of α, and the posterior mean and mean square of α, by the
    /// trapezoidal rule in log α.
    pub(super) fn integrated(&self, shape: f64, rate: f64) -> (Vec<f64>, f64, f64) {
        let (mut totals, mut first, mut second, mut mass) = (vec![0.0; self.labels.len()], 0.0, 0.0, 0.0);
        for index in 0..4000 {
            let log_alpha = -20.0 + 26.0 * f64::from(index) / 4000.0;
            let alpha = log_alpha.exp();
            let log_prior = shape * log_alpha - rate * alpha;
            for (total, log_joint) in totals.iter_mut().zip(self.log_joint(alpha)) {
                let density = (log_joint + log_prior).exp();
                *total += density;
                mass += density;
                first += density * alpha;
                second += density * alpha * alpha;
            }
        }
        totals.iter_mut().for_each(|total| *total /= mass);
        (totals, first / mass, second / mass)
    }
}

pub(super) fn normalized(log_weights: &[f64]) -> Vec<f64> {
    let total = log_sum_exp(log_weights);
    log_weights.iter().map(|x| (x - total).exp()).collect()
}

pub(super) fn average(series: &[f64]) -> f64 {
    series.iter().sum::<f64>() / series.len() as f64
}

/// The draws of a run.
pub(super) struct Run {
    pub(super) partitions: Vec<Vec<usize>>,
    pub(super) concentrations: Vec<f64>,
}

/// Makes `draws` draws after 500 steps.
pub(super) fn run<F: Family>(process: &DirichletProcess<F>, data: &F::Data, draws: usize, seed: u64) -> Run {
    let mut sampler = process.clone().seed(seed).sampler(data).unwrap();
    (0..500).for_each(|_| sampler.step().unwrap());
    let (mut partitions, mut concentrations) = (Vec::new(), Vec::new());
    for _ in 0..draws {
        sampler.step().unwrap();
        partitions.push(canonical(sampler.allocations()));
        concentrations.push(sampler.concentration());
    }
    Run { partitions, concentrations }
}

/// A summary of partitions, with its exact expectation and its estimate.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) name: String,
    pub(super) exact: f64,
    pub(super) estimate: f64,
    pub(super) error: f64,
}

impl Comparison {
    pub(super) fn z(&self) -> f64 {
        (self.estimate - self.exact) / self.error
    }
}

/// A number that describes a partition, given by its labels.
type Summary = Box<dyn Fn(&[usize]) -> f64>;

/// Compares the ten most probable partitions, the number of clusters, and all co-clustering probabilities.
pub(super) fn compare(labels: &[Vec<usize>], exact: &[f64], draws: &[Vec<usize>]) -> Vec<Comparison> {
    let n = labels[0].len();
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by(|a, b| exact[*b].total_cmp(&exact[*a]));
    let mut summaries: Vec<(String, Summary)> = Vec::new();
    for index in order.into_iter().take(10) {
        let partition = labels[index].clone();
        let indicator = move |labels: &[usize]| f64::from(u8::from(labels == partition));
        summaries.push((format!("P({:?})", labels[index]), Box::new(indicator)));
    }
    summaries.push(("clusters".into(), Box::new(|labels| cluster_count(labels) as f64)));
    for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
        summaries
            .push((format!("P(z{i} = z{j})"), Box::new(move |labels| f64::from(u8::from(labels[i] == labels[j])))));
    }
    let compare = |(name, summary): (String, Summary)| {
        let series: Vec<f64> = draws.iter().map(|labels| summary(labels)).collect();
        let exact = labels.iter().zip(exact).map(|(labels, probability)| probability * summary(labels)).sum();
        Comparison { name, exact, estimate: average(&series), error: mcse_mean(&[&series]) }
    };
    summaries.into_iter().map(compare).collect()
}

/// Asserts that all summaries agree.
pub(super) fn assert_agreement(comparisons: &[Comparison]) {
    for comparison in comparisons {
        assert!(comparison.z().abs() < TOLERANCE, "{comparison:?}: {} standard errors", comparison.z());
    }
}

/// Runs `process` with α = 0.8 and asserts that its partitions have the exact posterior distribution.
pub(super) fn assert_exact<F: Family>(process: &DirichletProcess<F>, family: &F, data: &F::Data, seed: u64) {
    let partitions = Partitions::new(family, data);
    let process = process.clone().concentration(Concentration::Fixed(0.8));
    let draws = run(&process, data, 40_000, seed).partitions;
    assert_agreement(&compare(&partitions.labels, &partitions.given(0.8), &draws));
}

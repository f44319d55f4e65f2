//! Latent variables of observations: exact with minibatches, and part of checkpoints.

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc::algorithms::{Hamcmc, LatentStore, LocalLatents, UpdateContext, UpdatesOnly, WithLatents};
use sgmcmc::gradient::MinibatchGradient;
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::run::{CheckpointInterval, InMemoryCheckpoints};

use super::*;

const X: [f64; 6] = [-1.2, -0.7, 0.1, 0.4, 1.1, 1.6];
/// The prior precision of the means.
const PRECISION: f64 = 0.5;

/// A mixture of two normal distributions of unit variance and equal weights.
fn mixture() -> Model<Tensor<1>, Tensor<1>> {
    Model::new(|mean: Tensor<1>, x: Tensor<1>| {
        let density = |k: usize| ((x.clone() - mean.clone().slice(k..k + 1)).square() * -0.5).exp();
        (density(0) + density(1)).log()
    })
    .prior(|mean: Tensor<1>| mean.square().sum() * (-0.5 * PRECISION))
}

fn observations() -> Dataset<Tensor<1>> {
    Dataset::new(array(X.to_vec(), [6]).unwrap()).unwrap()
}

/// The number of observations with each label, and their sums.
fn sums(labels: impl Iterator<Item = u8>) -> [[f64; 2]; 2] {
    let mut sums = [[0.0; 2]; 2];
    for (label, x) in labels.zip(X) {
        sums[usize::from(label)][0] += 1.0;
        sums[usize::from(label)][1] += x;
    }
    sums
}

/// Draws the labels of the minibatch given the means, and then the means given all labels.
fn gibbs(labels: &mut LatentStore<u8>, context: &mut UpdateContext<'_>) -> Result<(), Error> {
    let mean = context.get("theta")?.to_vec();
    for (row, _) in context.minibatch()?.iter() {
        let density = |k: usize| (-0.5 * (X[row] - mean[k]).powi(2)).exp();
        let second = density(1) / (density(0) + density(1));
        labels[row][0] = u8::from(context.rng().random::<f64>() < second);
    }
    let drawn = sums(labels.values().iter().copied()).map(|[count, sum]| {
        let z: f64 = context.rng().sample(StandardNormal);
        sum / (count + PRECISION) + z / (count + PRECISION).sqrt()
    });
    context.set("theta", &drawn)
}

type MixtureRun = Builder<Posterior<Tensor<1>, Tensor<1>>, UpdatesOnly, MinibatchGradient>;

fn run() -> MixtureRun {
    let gradient = MinibatchGradient::new(WithoutReplacement::new(2));
    Builder::new(mixture().with(&observations()), UpdatesOnly, gradient, 1.0)
        .update(|_| WithLatents::new(LatentStore::fixed(6, 1, 0), gibbs))
        .jitter(0.0)
        .seed(9)
}

fn start() -> Tensor<1> {
    array(vec![-1.0, 1.0], [2]).unwrap()
}

/// E μ₀μ₁ and E (μ₀² + μ₁²) by enumeration of all 64 labelings.
fn enumerated() -> [f64; 2] {
    let (mut total, mut answers) = (0.0, [0.0; 2]);
    for labeling in 0..64_u32 {
        let sums = sums((0..6).map(|i| ((labeling >> i) & 1) as u8));
        let part = |[n, s]: [f64; 2]| (0.5 * s * s / (n + PRECISION)).exp() / (n + PRECISION).sqrt();
        let (weight, mean) = (part(sums[0]) * part(sums[1]), sums.map(|[n, s]| s / (n + PRECISION)));
        let squares: f64 = sums.iter().zip(mean).map(|([n, _], mean)| mean * mean + 1.0 / (n + PRECISION)).sum();
        total += weight;
        answers[0] += weight * mean[0] * mean[1];
        answers[1] += weight * squares;
    }
    answers.map(|answer| answer / total)
}

#[test]
fn labels_of_minibatches_and_means_given_all_labels_have_the_joint_law() {
    let fit = run().sample(&start(), 200_000).unwrap();
    let means = [fit.element("theta[0]").unwrap().remove(0), fit.element("theta[1]").unwrap().remove(0)];
    let features: Vec<[f64; 2]> = means[0].iter().zip(&means[1]).map(|(a, b)| [a * b, a * a + b * b]).collect();
    for (k, exact) in enumerated().into_iter().enumerate() {
        let batches: Vec<f64> =
            features.chunks_exact(4000).map(|batch| batch.iter().map(|f| f[k]).sum::<f64>() / 4000.0).collect();
        let mean = batches.iter().sum::<f64>() / 50.0;
        let error = (batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (49.0 * 50.0)).sqrt();
        assert!((mean - exact).abs() < 4.0 * error, "{mean} ± {error} against {exact}");
        assert!(error < 0.03, "a standard error of {error} tells too little");
    }
}

#[test]
fn a_run_with_a_store_resumes_bit_for_bit() {
    let store = InMemoryCheckpoints::default();
    let saved = || run().chains(2).checkpoint(store.clone(), CheckpointInterval::Steps(3));
    saved().sample(&start(), 17).unwrap();
    let (resumed, whole) = (saved().sample(&start(), 60).unwrap(), run().chains(2).sample(&start(), 60).unwrap());
    for (resumed, whole) in resumed.chains().iter().zip(whole.chains()) {
        assert_eq!(resumed.values(), whole.values());
    }
    // Without the store, the labels of observations outside the first minibatches would be lost.
    let fresh = || run().update(|_| |_: &mut UpdateContext<'_>| Ok(()));
    let error = fresh().chains(2).checkpoint(store.clone(), CheckpointInterval::Steps(3)).sample(&start(), 60);
    assert!(error.unwrap_err().to_string().contains("updates"));
}

/// Interleaved chains have stores of their own, so that the labels of one do not enter another.
#[test]
fn interleaved_chains_have_latent_variables_of_their_own() {
    let count = |calls: &mut LatentStore<u64>, context: &mut UpdateContext<'_>| {
        calls[0][0] += 1;
        // The counter of this chain, not of all: iteration t is call number ⌈t/M⌉ of its chain.
        assert_eq!(calls[0][0], context.iteration().div_ceil(3));
        Ok::<(), Error>(())
    };
    let dynamics = Hamcmc { memory: 3, ..Hamcmc::default() };
    let run = Builder::new(mixture().with(&observations()), dynamics, FullGradient, 0.01)
        .update(move |_| WithLatents::new(LatentStore::fixed(1, 1, 0_u64), count));
    let store = InMemoryCheckpoints::default();
    let saved = || run.clone().checkpoint(store.clone(), CheckpointInterval::Steps(5));
    saved().sample(&start(), 12).unwrap();
    let (resumed, whole) = (saved().sample(&start(), 30).unwrap(), run.sample(&start(), 30).unwrap());
    assert!(resumed.outcomes().iter().all(|outcome| matches!(outcome, sgmcmc::fit::ChainOutcome::Complete)));
    assert_eq!(resumed.chains()[2].values(), whole.chains()[2].values());
}

#[test]
fn local_latents_are_those_of_the_minibatch() {
    let mut latents = LocalLatents::new();
    let check = move |context: &mut UpdateContext<'_>| {
        latents.redraw(context, |row, latents: &mut Vec<f64>, rng| {
            latents.extend((0..row).map(|_| rng.random::<f64>()));
            Ok(())
        })?;
        let batch = context.minibatch()?;
        assert_eq!((latents.iter().count(), batch.len()), (2, 2));
        for (block, (row, weight)) in latents.iter().zip(batch.iter()) {
            assert_eq!((block.row, block.weight, block.latents.len()), (row, weight, row));
        }
        Ok::<(), Error>(())
    };
    let fit = run().update(move |_| check.clone()).sample(&start(), 50).unwrap();
    assert_eq!(fit.chains()[0].len(), 50);
}

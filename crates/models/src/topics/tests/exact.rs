//! A tiny model whose posterior is a sum over all topics of all tokens.

use sgmcmc_samplers::chain::Chain;

use crate::topics::{Corpus, Document, Lda, Method, StochasticSampler, TopicKernel, VarianceReduction, Vocabulary};

const TOPICS: usize = 2;
const WORDS: usize = 3;
const ALPHA: [f64; TOPICS] = [0.9, 0.3];
const BETA: [f64; WORDS] = [0.5, 0.4, 0.8];
const DOCUMENTS: [&[u32]; 3] = [&[0, 1], &[1, 2, 2], &[0, 0]];

fn corpus() -> Corpus {
    let documents = DOCUMENTS.map(|tokens| Document::from_tokens(tokens.iter().copied()));
    Corpus::new(Vocabulary::numbered(WORDS), documents).unwrap()
}

/// Γ(a + n)/Γ(a).
fn rising(a: f64, n: usize) -> f64 {
    (0..n).map(|i| a + i as f64).product()
}

/// The posterior means of φ_kw and of φ_kw², in the order of topics.
struct Exact {
    mean: Vec<f64>,
    square: Vec<f64>,
}

impl Exact {
    /// Sums over all 2⁷ vectors of topics.
    fn enumerate() -> Self {
        let tokens: Vec<(usize, usize)> = DOCUMENTS
            .iter()
            .enumerate()
            .flat_map(|(d, words)| words.iter().map(move |word| (d, *word as usize)))
            .collect();
        let prior: f64 = BETA.iter().sum();
        let (mut mean, mut square, mut total) = (vec![0.0; TOPICS * WORDS], vec![0.0; TOPICS * WORDS], 0.0);
        for code in 0..1_usize << tokens.len() {
            let (mut in_document, mut in_topic) = ([[0; TOPICS]; 3], [[0; WORDS]; TOPICS]);
            for (i, (document, word)) in tokens.iter().enumerate() {
                let topic = code >> i & 1;
                in_document[*document][topic] += 1;
                in_topic[topic][*word] += 1;
            }
            let mut p = 1.0;
            for counts in in_document {
                counts.iter().zip(ALPHA).for_each(|(n, alpha)| p *= rising(alpha, *n));
            }
            for counts in in_topic {
                counts.iter().zip(BETA).for_each(|(n, beta)| p *= rising(beta, *n));
                p /= rising(prior, counts.iter().sum());
            }
            total += p;
            for (k, counts) in in_topic.iter().enumerate() {
                let sum = prior + counts.iter().sum::<usize>() as f64;
                for (w, n) in counts.iter().enumerate() {
                    let a = *n as f64 + BETA[w];
                    mean[k * WORDS + w] += p * a / sum;
                    square[k * WORDS + w] += p * a * (a + 1.0) / (sum * (sum + 1.0));
                }
            }
        }
        mean.iter_mut().chain(&mut square).for_each(|x| *x /= total);
        Self { mean, square }
    }
}

/// The mean of a chain and its standard error, from 50 batches.
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    fn new(draws: &[f64]) -> Self {
        let size = draws.len() / 50;
        let means: Vec<f64> = draws.chunks_exact(size).map(|part| part.iter().sum::<f64>() / size as f64).collect();
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        let variance = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (means.len() - 1) as f64;
        Self { mean, error: (variance / means.len() as f64).sqrt() }
    }
}

/// Runs a method and compares the moments of its draws with the exact ones, within 4.5 standard errors plus `bias`.
fn agrees(name: &str, method: Method, steps: usize, bias: f64, squares: bool) {
    let lda = Lda::new(TOPICS).alpha(ALPHA.to_vec()).beta(BETA.to_vec()).method(method).seed(3);
    let mut sampler = lda.sampler(&corpus()).unwrap();
    let mut draws = vec![Vec::new(); TOPICS * WORDS];
    for step in 0..steps + 500 {
        sampler.step().unwrap();
        if step >= 500 {
            draws.iter_mut().zip(sampler.position()).for_each(|(draws, x)| draws.push(*x));
        }
    }
    let exact = Exact::enumerate();
    for (i, draws) in draws.iter().enumerate() {
        let compare = |what: &str, draws: &[f64], exact: f64| {
            let found = Estimate::new(draws);
            let difference = (found.mean - exact).abs();
            assert!(
                difference < 4.5 * found.error + bias,
                "{name}: {what} {i} is {} ± {} and should be {exact}",
                found.mean,
                found.error
            );
        };
        compare("mean", draws, exact.mean[i]);
        if squares {
            compare("square", &draws.iter().map(|x| x * x).collect::<Vec<_>>(), exact.square[i]);
        }
    }
}

#[test]
fn the_posterior_is_not_symmetric() {
    let exact = Exact::enumerate();
    assert!((exact.mean.iter().sum::<f64>() - TOPICS as f64).abs() < 1e-12);
    assert!((exact.mean[0] - exact.mean[WORDS]).abs() > 0.05, "{:?}", exact.mean);
}

#[test]
fn collapsed_gibbs_is_exact() {
    agrees("collapsed", Method::CollapsedGibbs, 200_000, 0.0, false);
}

#[test]
fn gibbs_is_exact() {
    agrees("Gibbs", Method::Gibbs, 200_000, 0.0, true);
}

#[test]
fn scir_with_all_documents_is_exact_for_every_step_size() {
    for h in [0.2, 1.0, 4.0] {
        let scir = StochasticSampler::scir().step_size(h).minibatch(3).sweeps(1, 0).keep_latents();
        agrees(&format!("SCIR {h}"), scir.into(), 200_000, 0.0, true);
    }
}

#[test]
fn langevin_samplers_agree_for_small_steps() {
    for (kernel, h) in [(TopicKernel::Sgrld, 0.01), (TopicKernel::Sgld, 0.02)] {
        let all = StochasticSampler::new(kernel).step_size(h).minibatch(3).sweeps(1, 0).keep_latents();
        agrees(&format!("{kernel:?}"), all.into(), 400_000, 0.008, true);
        let part = StochasticSampler::new(kernel).step_size(h).minibatch(2).sweeps(3, 1);
        agrees(&format!("{kernel:?}, minibatch"), part.into(), 400_000, 0.015, true);
    }
}

#[test]
fn variance_reduction_agrees_for_small_steps() {
    for reduction in [VarianceReduction::ControlVariate { after: 10 }, VarianceReduction::Saga] {
        for (kernel, h) in [(TopicKernel::Sgrld, 0.01), (TopicKernel::Sgld, 0.02)] {
            let part =
                StochasticSampler::new(kernel).step_size(h).minibatch(2).sweeps(3, 1).variance_reduction(reduction);
            agrees(&format!("{kernel:?}, {reduction:?}"), part.into(), 400_000, 0.015, true);
        }
    }
}

#[test]
fn scir_with_minibatches_is_near_the_posterior() {
    // The transition treats the number of tokens of a topic as given, so that a bias remains in a corpus of 7 tokens.
    for reduction in [VarianceReduction::None, VarianceReduction::ControlVariate { after: 10 }, VarianceReduction::Saga]
    {
        let part = StochasticSampler::scir().step_size(0.02).minibatch(2).sweeps(3, 1).variance_reduction(reduction);
        agrees(&format!("SCIR, {reduction:?}"), part.into(), 200_000, 0.03, false);
    }
}

//! Perplexity of documents drawn from the model.

use rand::{RngExt, SeedableRng};
use sgmcmc_gradient::rng::StreamRng;

use crate::topics::{
    Coherence, CompletionSplit, Corpus, Document, Lda, Method, PredictiveScore, StochasticSampler, Topics,
    VarianceReduction, Vocabulary,
};

const TOPICS: usize = 4;
const WORDS: u32 = 40;

/// Returns 160 documents of 40 tokens. Each has two of four topics, and each topic has ten words.
fn corpus() -> Corpus {
    let mut rng = StreamRng::seed_from_u64(11);
    let documents = (0..160).map(|_| {
        let pair: [u32; 2] = [rng.random_range(0..4), rng.random_range(0..4)];
        Document::from_tokens((0..40).map(|_| 10 * pair[rng.random_range(0..2)] + rng.random_range(0..10)))
    });
    let documents: Vec<Document> = documents.collect();
    Corpus::new(Vocabulary::numbered(WORDS as usize), documents).unwrap()
}

#[test]
fn every_method_finds_the_topics() {
    let corpus = corpus();
    let split = CompletionSplit::new(&corpus, 8, 10).unwrap();
    // The truth has 10 equally likely words if the pair is one topic, and 20 otherwise: 10^(1/4) 20^(3/4) = 16.8.
    let one = Lda::new(1).burn_in(1).fit(&split.train, 1).unwrap().perplexity(&split).unwrap();
    assert!((one - f64::from(WORDS)).abs() < 2.0, "{one}");
    let center = VarianceReduction::ControlVariate { after: 200 };
    let methods: [(&str, Method); 7] = [
        ("collapsed", Method::CollapsedGibbs),
        ("Gibbs", Method::Gibbs),
        ("SCIR", StochasticSampler::scir().minibatch(20).into()),
        ("SCIR, control variate", StochasticSampler::scir().minibatch(20).variance_reduction(center).into()),
        ("SCIR, SAGA", StochasticSampler::scir().minibatch(20).variance_reduction(VarianceReduction::Saga).into()),
        ("SGRLD", StochasticSampler::sgrld().minibatch(20).into()),
        ("SGLD", StochasticSampler::sgld().step_size(0.005).minibatch(20).into()),
    ];
    for (name, method) in methods {
        let lda = Lda::new(TOPICS).method(method).seed(2).burn_in(400).thin(10);
        let fit = lda.fit(&split.train, 30).unwrap();
        let perplexity = fit.perplexity(&split).unwrap();
        assert!(perplexity < 20.0, "{name}: {perplexity}");
        assert!((fit.shares().iter().sum::<f64>() - 1.0).abs() < 1e-4);
        for topic in 0..TOPICS {
            let words = fit.topics().top_words(topic, 10);
            assert!(words.iter().all(|word| word / 10 == words[0] / 10), "{name}: {words:?}");
            let document = Document::from_tokens(words);
            assert!(fit.proportions(&document).unwrap()[topic] > 0.9, "{name}");
        }
        assert!(fit.coherence(Coherence::Npmi, 5, &corpus).unwrap().iter().all(|npmi| *npmi > 0.2), "{name}");
    }
}

#[test]
fn perplexity_is_that_of_the_mean_probability() {
    let documents = [Document::from_tokens([0]), Document::from_tokens([0, 0, 1, 1])];
    let corpus = Corpus::new(Vocabulary::numbered(2), documents).unwrap();
    // Tokens 0 and 2 of the second document are held out: words 0 and 1.
    let split = CompletionSplit::new(&corpus, 2, 2).unwrap();
    let mut score = PredictiveScore::new(&split, &[1.0]).unwrap();
    assert!(score.perplexity().is_nan());
    let alone = score.add(&Topics::from_values(&[0.9, 0.1], 1, 2).unwrap()).unwrap();
    assert!((alone - (0.9_f64 * 0.1).powf(-0.5)).abs() < 1e-5);
    score.add(&Topics::from_values(&[0.3, 0.7], 1, 2).unwrap()).unwrap();
    assert!((score.perplexity() - (0.6_f64 * 0.4).powf(-0.5)).abs() < 1e-5);
    assert!(score.add(&Topics::from_values(&[0.5; 4], 2, 2).unwrap()).is_err());
    assert!(score.add(&Topics::from_values(&[1.0], 1, 1).unwrap()).is_err());
}

#[test]
fn proportions_are_the_fixed_point() {
    let topics = Topics::from_values(&[0.7, 0.2, 0.1, 0.1, 0.3, 0.6], 2, 3).unwrap();
    let (document, alpha) = (Document::from_counts([(0, 3), (2, 2)]), [0.4, 0.2]);
    let theta = topics.proportions(&document, &alpha).unwrap();
    let expected: Vec<f64> = (0..2)
        .map(|k| {
            let share = |w: u32| {
                let p = |k: usize| theta[k] * topics.probability(k, w);
                p(k) / (p(0) + p(1))
            };
            (alpha[k] + 3.0 * share(0) + 2.0 * share(2)) / 5.6
        })
        .collect();
    assert!(theta.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5), "{theta:?} {expected:?}");
    assert!(topics.proportions(&Document::from_tokens([3]), &alpha).is_err());
    assert!(topics.proportions(&document, &[0.4]).is_err());
}

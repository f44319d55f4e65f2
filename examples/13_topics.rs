//! Topics of a collection of documents by latent Dirichlet allocation.
//!
//! The words of each topic, the perplexity of held-out words by exact Gibbs sampling and by SCIR with minibatches, and
//! a page with all topics. Without a corpus, the documents are simulated. Source of SCIR: Baker et al. (2018). The exit code
//! is 1 if a method predicts no better than a model with one topic.
//!
//! ```text
//! cargo run --release --features models --example topics
//! cargo run --release --features models --example topics -- --docword docword.kos.txt --vocabulary vocab.kos.txt --topics 20
//! ```

#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::process::ExitCode;

use flags::Flags;
use rand::{RngExt, SeedableRng};
use sgmcmc::models::topics::{Coherence, CompletionSplit, Corpus, Document, Lda, StochasticSampler, TopicsFit, uci};
use sgmcmc::rng::StreamRng;
use verdict::verdict;

/// The words of the simulated documents, one line per topic.
const THEMES: [&str; 4] = [
    "election vote senate party candidate campaign poll governor",
    "goal match team player coach season league score",
    "bread butter oven flour recipe sugar salt dough",
    "star planet moon orbit telescope galaxy comet sun",
];

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("Latent Dirichlet allocation of a UCI bag-of-words file, or of simulated documents.");
    let docword = flags.get("docword", String::new(), "file with the counts of words; simulated documents if empty");
    let vocabulary = flags.get("vocabulary", String::new(), "file with one word per line");
    let topics = flags.get("topics", 4, "number of topics");
    let burn_in = flags.get("burn-in", 100, "iterations before the first draw");
    let draws = flags.get("draws", 20, "number of draws");
    let page = flags.get("page", String::new(), "file for the page of the topics; none if empty");
    let progress = flags.finish();

    let corpus = match (docword.as_str(), vocabulary.as_str()) {
        ("", _) => simulated()?,
        (docword, "") => uci(docword).read()?,
        (docword, vocabulary) => uci(docword).vocabulary(vocabulary).read()?,
    };
    println!("{} documents, {} tokens, {} words", corpus.documents(), corpus.tokens(), corpus.vocabulary().len());
    let split = CompletionSplit::new(&corpus, 8, 10)?;

    let lda = Lda::new(topics).alpha(0.1).beta(0.01).seed(1).burn_in(burn_in);
    let run = |lda: &Lda| -> sgmcmc::Result<TopicsFit> {
        let run = lda.run(&split.train)?.progress(progress.clone());
        Ok(lda.with_draws(&split.train, run.sample(draws)?)?)
    };
    let fit = run(&lda)?;
    let coherence = fit.coherence(Coherence::Npmi, 8, &split.train)?;
    for (topic, coherence) in coherence.iter().enumerate() {
        let words: Vec<String> = fit.top_words(topic, 8).into_iter().map(|word| word.word).collect();
        let share = 100.0 * fit.shares()[topic];
        println!("topic {topic}, {share:4.1} %, NPMI {coherence:5.2}: {}", words.join(" "));
    }

    println!("\nperplexity of held-out words");
    let unigram = Lda::new(1).burn_in(1).fit(&split.train, 1)?;
    let stochastic = run(&lda.clone().method(StochasticSampler::scir().minibatch(20)))?;
    let [one, gibbs, scir] = [unigram.perplexity(&split)?, fit.perplexity(&split)?, stochastic.perplexity(&split)?];
    for (method, perplexity) in [("one topic", one), ("collapsed Gibbs", gibbs), ("SCIR, 20 documents", scir)] {
        println!("{method:>24} {perplexity:8.1}");
    }

    let document = &split.observed[0];
    let proportions = fit.proportions(document)?;
    let shown: Vec<String> = proportions.iter().map(|p| format!("{p:.2}")).collect();
    println!("\ntopics of the first held-out document: {}", shown.join(" "));
    if !page.is_empty() {
        fit.report(&split.train, &page)?;
    }
    Ok(verdict(gibbs < one && scir < one, "both methods predict held-out words better than a model with one topic"))
}

/// Returns 400 documents of 30 words, each about one or two themes.
fn simulated() -> sgmcmc::Result<Corpus> {
    let words = THEMES.iter().flat_map(|line| line.split(' ')).collect();
    let mut rng = StreamRng::seed_from_u64(1);
    let documents: Vec<Document> = (0..400)
        .map(|_| {
            let themes: [u32; 2] = [rng.random_range(0..4), rng.random_range(0..4)];
            Document::from_tokens((0..30).map(|_| 8 * themes[rng.random_range(0..2)] + rng.random_range(0..8)))
        })
        .collect();
    Ok(Corpus::new(words, documents)?)
}

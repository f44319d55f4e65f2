//! Topic models: latent Dirichlet allocation.
//!
//! | type | purpose |
//! |---|---|
//! | [`Lda`] | the model, its priors and its sampling method |
//! | [`StochasticSampler`] | SCIR, SGRLD and SGLD for the topics, with minibatches of documents |
//! | [`TopicsFit`] | words and coherence of topics, proportions of new documents, perplexity, report page |
//! | [`TopicSampler`] | the Markov chain, step by step |
//! | [`Corpus`] | documents in memory or on disk; readers [`uci`], [`lda_c`], [`text`] |
//!
//! # Examples
//!
//! ```
//! use sgmcmc::models::topics::{Lda, text};
//!
//! let file = std::env::temp_dir().join("sgmcmc-doc-topics.txt");
//! std::fs::write(&file, "sun and moon\nbread and butter\nmoon, sun\nbutter, bread\n")?;
//! let corpus = text(&file).read()?;
//! let fit = Lda::new(2).seed(1).fit(&corpus, 50)?;
//! println!("{:?}", fit.top_words(0, 2));
//! # std::fs::remove_file(file)?;
//! # Ok::<(), sgmcmc::Error>(())
//! ```

mod blocked;
mod coherence;
mod collapsed;
mod completion;
mod corpus;
mod document_gibbs;
mod fit;
mod lda;
mod log_gamma;
mod pick;
mod prior;
mod read;
mod report;
mod sampler;
mod stochastic;
mod table;
#[cfg(test)]
mod tests;
mod tokens;
mod topic_table;
mod vocabulary;

pub use coherence::Coherence;
pub use completion::PredictiveScore;
pub use corpus::{CompletionSplit, Corpus, CorpusWriter, Document};
pub use fit::{TopWord, TopicsFit};
pub use lda::{Lda, Method};
pub use prior::DirichletPrior;
pub use read::{LdaC, Text, Tokenizer, Uci, lda_c, text, uci};
pub use sampler::TopicSampler;
pub use stochastic::{StochasticSampler, TopicKernel, VarianceReduction};
pub use topic_table::Topics;
pub use vocabulary::Vocabulary;

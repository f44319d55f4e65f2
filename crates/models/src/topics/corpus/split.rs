//! The split of a corpus for document completion.

use sgmcmc_gradient::{Result, settings};

use super::{Corpus, Document};

/// Training documents, and test documents of which some tokens are held out.
///
/// The split needs no random numbers, so that other programs can make the same one. Document number `every` (counted
/// from 1), 2 `every`, … are test documents, all others are training documents. The tokens of a test document, in the
/// order of the words, are numbered from 0. Tokens 0, `held`, 2 `held`, … are held out, the others are observed.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{CompletionSplit, Corpus, Document};
///
/// let words = ["sun", "moon"].into_iter().collect();
/// let corpus = Corpus::new(words, (0..4).map(|_| Document::from_tokens([0, 0, 1, 1])))?;
/// let split = CompletionSplit::new(&corpus, 2, 3)?;
/// assert_eq!(split.train.documents(), 2);
/// assert_eq!(split.held_out[0], Document::from_tokens([0, 1]));
/// assert_eq!(split.observed[0], Document::from_tokens([0, 1]));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CompletionSplit {
    /// The training documents.
    pub train: Corpus,
    /// The observed tokens of each test document.
    pub observed: Vec<Document>,
    /// The held-out tokens of each test document.
    pub held_out: Vec<Document>,
}

impl CompletionSplit {
    /// Splits `corpus`: every `every`-th document is a test document, and of it every `held`-th token is held out.
    ///
    /// Training documents without tokens are left out.
    ///
    /// # Errors
    ///
    /// Returns an error if `every` or `held` is below 2, if the training documents have no tokens, or if the corpus
    /// cannot be read.
    pub fn new(corpus: &Corpus, every: usize, held: u64) -> Result<Self> {
        settings::at_least("the distance of test documents", every, 2, "it must be at least 2")?;
        settings::at_least("the distance of held-out tokens", held, 2, "it must be at least 2")?;
        let (mut train, mut observed, mut held_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut document = Document::default();
        for index in 0..corpus.documents() {
            corpus.read(index, &mut document)?;
            if document.is_empty() {
                continue;
            }
            if (index + 1) % every != 0 {
                train.push(index);
                continue;
            }
            let (mut seen, mut hidden, mut number) = (Vec::new(), Vec::new(), 0_u64);
            for (word, count) in document.iter() {
                let end = number + u64::from(count);
                // The number of multiples of `held` in number..end.
                let out = (end.div_ceil(held) - number.div_ceil(held)) as u32;
                hidden.push((word, out));
                seen.push((word, count - out));
                number = end;
            }
            observed.push(Document::from_counts(seen));
            held_out.push(Document::from_counts(hidden));
        }
        Ok(Self { train: corpus.select(train)?, observed, held_out })
    }
}

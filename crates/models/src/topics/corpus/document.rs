//! The words of one document.

use crate::topics::read::Tokenizer;
use crate::topics::vocabulary::Vocabulary;

/// The distinct words of a document in increasing order, and how often each occurs.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::Document;
///
/// let document = Document::from_tokens([4, 1, 4]);
/// assert_eq!(document.iter().collect::<Vec<_>>(), [(1, 1), (4, 2)]);
/// assert_eq!(document.tokens(), 3);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// Pairs of word and count, in increasing order of the words.
    entries: Vec<(u32, u32)>,
}

impl Document {
    /// Creates the document with these tokens, each given as the number of its word.
    pub fn from_tokens(tokens: impl IntoIterator<Item = u32>) -> Self {
        Self::from_counts(tokens.into_iter().map(|word| (word, 1)))
    }

    /// Creates the document with the words of a text. Words outside the vocabulary are left out.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::topics::{Document, Tokenizer, Vocabulary};
    ///
    /// let words: Vocabulary = ["moon", "sun"].into_iter().collect();
    /// let document = Document::from_text("The sun, the moon, the sun!", &Tokenizer::new(), &words);
    /// assert_eq!(document, Document::from_counts([(0, 1), (1, 2)]));
    /// ```
    pub fn from_text(text: &str, tokenizer: &Tokenizer, vocabulary: &Vocabulary) -> Self {
        Self::from_tokens(tokenizer.words(text).filter_map(|word| vocabulary.number(&word)))
    }

    /// Creates the document with these pairs of word and count. Repeated words are added up, and zero counts dropped.
    pub fn from_counts(counts: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut document = Self { entries: counts.into_iter().collect() };
        document.normalize();
        document
    }

    /// Returns the pairs of word and count.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        self.entries.iter().copied()
    }

    /// Returns the number of distinct words.
    pub fn words(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of tokens: the sum of the counts.
    pub fn tokens(&self) -> u64 {
        self.entries.iter().map(|entry| u64::from(entry.1)).sum()
    }

    /// Returns whether the document has no tokens.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all words.
    pub(in crate::topics) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Appends a pair. [`normalize`](Self::normalize) must follow.
    pub(in crate::topics) fn push(&mut self, word: u32, count: u32) {
        self.entries.push((word, count));
    }

    /// Sorts the words, adds up repeated ones and drops zero counts.
    pub(in crate::topics) fn normalize(&mut self) {
        if !self.entries.is_sorted_by(|a, b| a.0 < b.0) {
            self.entries.sort_unstable();
            self.entries.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 = kept.1.saturating_add(next.1);
                }
                same
            });
        }
        self.entries.retain(|entry| entry.1 > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_words_are_added_and_zeros_dropped() {
        let document = Document::from_counts([(5, 2), (1, 1), (5, 3), (7, 0)]);
        assert_eq!(document.iter().collect::<Vec<_>>(), [(1, 1), (5, 5)]);
        assert_eq!((document.words(), document.tokens()), (2, 6));
        assert!(Document::from_tokens([]).is_empty());
    }
}

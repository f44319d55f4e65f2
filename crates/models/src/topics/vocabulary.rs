//! The words of a corpus and their numbers.

use std::collections::HashMap;
use std::path::Path;

use sgmcmc_storage::error::{Error, FilePosition, Problem, Result, shortened};
use sgmcmc_storage::limit;
use sgmcmc_storage::source::Lines;

/// The words of a corpus, numbered from 0.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::Vocabulary;
///
/// let words: Vocabulary = ["sun", "moon"].into_iter().collect();
/// assert_eq!((words.word(1), words.number("sun")), (Some("moon"), Some(0)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vocabulary {
    words: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Vocabulary {
    /// Creates the vocabulary `word1`, `word2`, … of `words` words, for corpora without a list of words.
    pub fn numbered(words: usize) -> Self {
        (1..=words).map(|number| format!("word{number}")).collect()
    }

    /// Reads a file with one word per line, with or without gzip compression.
    ///
    /// # Errors
    ///
    /// Returns an error with file and line if a line is empty or repeats a word, or if the file exceeds the memory
    /// limit.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let (mut lines, mut vocabulary) = (Lines::open(path)?, Self::default());
        let (bytes, mut used) = (limit::memory_limit(), 0);
        while let Some((line, text)) = lines.next_line()? {
            let fail = |problem| Error::at_position(path, FilePosition::line(line), problem);
            let word = String::from_utf8_lossy(text).trim().to_owned();
            // Each word is stored twice, in the list and in the index.
            used += 2 * word.len() as u64 + 64;
            if used > bytes {
                return Err(fail(limit::exceeded(bytes)));
            }
            if word.is_empty() {
                return Err(fail(Problem::Corrupt { detail: "a line of the vocabulary is empty".into() }));
            }
            if vocabulary.numbers.contains_key(&word) {
                let detail = format!("the word `{}` occurs twice in the vocabulary", shortened(word.as_bytes()));
                return Err(fail(Problem::Corrupt { detail }));
            }
            vocabulary.insert(word);
        }
        match vocabulary.words.is_empty() {
            true => Err(Error::file(path, Problem::Empty)),
            false => Ok(vocabulary),
        }
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the word with this number.
    pub fn word(&self, number: u32) -> Option<&str> {
        self.words.get(number as usize).map(String::as_str)
    }

    /// Returns the number of a word.
    pub fn number(&self, word: &str) -> Option<u32> {
        self.numbers.get(word).copied()
    }

    /// Returns the words in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    /// Appends a word that is not yet in the vocabulary.
    fn insert(&mut self, word: String) {
        self.numbers.insert(word.clone(), self.words.len() as u32);
        self.words.push(word);
    }
}

impl<S: Into<String>> FromIterator<S> for Vocabulary {
    /// Collects words in order. Repeated words are kept once.
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut vocabulary = Self::default();
        for word in words {
            let word = word.into();
            if !vocabulary.numbers.contains_key(&word) {
                vocabulary.insert(word);
            }
        }
        vocabulary
    }
}

//! The division of text into words.

use std::collections::HashSet;

use super::stop_words::ENGLISH;

/// Divides text into words: runs of letters and digits, with apostrophes inside, in lower case.
///
/// Words shorter than the minimal length (2 by default), words of digits only, and stop words are left out.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::Tokenizer;
///
/// let tokenizer = Tokenizer::new().english_stop_words().stop_words(["moon"]);
/// assert_eq!(tokenizer.words("The Sun, the moon: 2 stars don't x").collect::<Vec<_>>(), ["sun", "stars"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokenizer {
    stop_words: HashSet<String>,
    shortest: usize,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self::new()
    }
}

impl Tokenizer {
    /// Creates a tokenizer without stop words.
    pub fn new() -> Self {
        Self { stop_words: HashSet::new(), shortest: 2 }
    }

    /// Adds frequent English words to the stop words.
    #[must_use]
    pub fn english_stop_words(self) -> Self {
        self.stop_words(ENGLISH.split_ascii_whitespace())
    }

    /// Adds stop words.
    #[must_use]
    pub fn stop_words<'a>(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.stop_words.extend(words.into_iter().map(str::to_lowercase));
        self
    }

    /// Sets the number of characters of the shortest word.
    #[must_use]
    pub fn shortest(self, characters: usize) -> Self {
        Self { shortest: characters, ..self }
    }

    /// Returns the words of a text.
    pub fn words<'a>(&'a self, text: &'a str) -> impl Iterator<Item = String> + 'a {
        text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'))
            .map(|word| word.trim_matches(['\'', '’']).replace('’', "'").to_lowercase())
            .filter(|word| self.keeps(word))
    }

    fn keeps(&self, word: &str) -> bool {
        let long = word.chars().count() >= self.shortest.max(1);
        long && !word.chars().all(char::is_numeric) && !self.stop_words.contains(word)
    }
}

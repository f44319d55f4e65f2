//! Plain text: one document per line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sgmcmc_gradient::settings;
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::limit::{exceeded, memory_limit};
use sgmcmc_storage::source::Lines;

use super::tokenizer::Tokenizer;
use super::{Receive, collect, write};
use crate::topics::corpus::{Corpus, Document};
use crate::topics::vocabulary::Vocabulary;

/// A reader of a text file with one document per line, with or without gzip compression. [`text`] creates it.
///
/// The vocabulary has the words that occur in at least [`min_documents`](Self::min_documents) documents and at most a
/// [`max_share`](Self::max_share) of them, in alphabetical order. The file is read twice, unless the
/// [`vocabulary`](Self::vocabulary) is given.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::text;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-text.txt");
/// std::fs::write(&file, "The sun and the moon.\nBread and butter.\nSun, moon, sun!\n")?;
/// let corpus = text(&file).read()?;
/// let words: Vec<&str> = corpus.vocabulary().iter().collect();
/// assert_eq!(words, ["bread", "butter", "moon", "sun"]);
/// assert_eq!(corpus.document(2)?.iter().collect::<Vec<_>>(), [(2, 1), (3, 2)]);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Text {
    path: PathBuf,
    tokenizer: Tokenizer,
    vocabulary: Option<Vocabulary>,
    min_documents: u64,
    max_share: f64,
    max_words: usize,
    allow_empty: bool,
    limit: u64,
}

/// Creates a reader of the text file at `path`. The file is opened by [`Text::read`] or [`Text::write`].
///
/// The default tokenizer leaves out English stop words.
///
/// # Examples
///
/// See [`Text`].
pub fn text(path: impl AsRef<Path>) -> Text {
    Text {
        path: path.as_ref().into(),
        tokenizer: Tokenizer::new().english_stop_words(),
        vocabulary: None,
        min_documents: 1,
        max_share: 1.0,
        max_words: usize::MAX,
        allow_empty: false,
        limit: memory_limit(),
    }
}

impl Text {
    /// Sets the tokenizer.
    #[must_use]
    pub fn tokenizer(self, tokenizer: Tokenizer) -> Self {
        Self { tokenizer, ..self }
    }

    /// Sets the words in place of those of the file, for instance those of the corpus of a fit. Other words are left
    /// out, and the settings of the vocabulary do not apply.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::models::topics::{Vocabulary, text};
    ///
    /// let file = std::env::temp_dir().join("sgmcmc-doc-text-new.txt");
    /// std::fs::write(&file, "Moon and Mars\n")?;
    /// let words: Vocabulary = ["moon", "sun"].into_iter().collect();
    /// let corpus = text(&file).vocabulary(&words).read()?;
    /// assert_eq!(corpus.document(0)?.iter().collect::<Vec<_>>(), [(0, 1)]);
    /// # std::fs::remove_file(file)?;
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    #[must_use]
    pub fn vocabulary(self, words: &Vocabulary) -> Self {
        Self { vocabulary: Some(words.clone()), ..self }
    }

    /// Leaves out words that occur in fewer documents. The default is 1.
    #[must_use]
    pub fn min_documents(self, documents: u64) -> Self {
        Self { min_documents: documents, ..self }
    }

    /// Leaves out words that occur in a larger share of the documents. The default is 1.
    #[must_use]
    pub fn max_share(self, share: f64) -> Self {
        Self { max_share: share, ..self }
    }

    /// Keeps at most this number of words: those that occur in most documents.
    #[must_use]
    pub fn max_words(self, words: usize) -> Self {
        Self { max_words: words, ..self }
    }

    /// Keeps documents without words of the vocabulary. By default they are an error.
    #[must_use]
    pub fn allow_empty(self) -> Self {
        Self { allow_empty: true, ..self }
    }

    /// Sets the memory limit in bytes, for the vocabulary and for the documents, see [`limit`](sgmcmc_storage::limit).
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Reads the corpus into memory.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is out of range, and an error with file and line if the file cannot be read, is
    /// not UTF-8, has a document without words of the vocabulary, or exceeds the memory limit.
    pub fn read(&self) -> Result<Corpus> {
        collect(&self.path, self.limit, |receive| self.each(receive))
    }

    /// Converts the file to a corpus on disk at `target`, for [`Corpus::open`]. Memory holds the vocabulary only.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`read`](Self::read), or if `target` cannot be written.
    pub fn write(&self, target: impl AsRef<Path>) -> Result<()> {
        write(target.as_ref(), |receive| self.each(receive))
    }

    fn each(&self, receive: &mut Receive<'_>) -> Result<Vocabulary> {
        settings::probability("the largest share of documents with a word", self.max_share)?;
        let vocabulary = match &self.vocabulary {
            Some(words) => words.clone(),
            None => self.count_words()?,
        };
        let (mut lines, mut documents) = (Lines::open(&self.path)?, 0);
        while let Some((line, content)) = lines.next_line()? {
            let content = self.decode(line, content)?;
            let document = Document::from_text(content, &self.tokenizer, &vocabulary);
            documents += 1;
            if document.is_empty() && !self.allow_empty {
                let problem = Problem::EmptyDocument { document: documents };
                return Err(Error::at_position(&self.path, FilePosition::line(line), problem));
            }
            receive(line, &document)?;
        }
        Ok(vocabulary)
    }

    /// Returns the vocabulary: the words within the limits of document frequency, in alphabetical order.
    fn count_words(&self) -> Result<Vocabulary> {
        /// The number of documents with a word, and the last of them.
        #[derive(Clone, Copy)]
        struct Frequency {
            documents: u64,
            last: u64,
        }
        let mut frequencies: HashMap<String, Frequency> = HashMap::new();
        let (mut lines, mut documents, mut bytes) = (Lines::open(&self.path)?, 0, 0);
        while let Some((line, content)) = lines.next_line()? {
            documents += 1;
            for word in self.tokenizer.words(self.decode(line, content)?) {
                match frequencies.get_mut(&word) {
                    Some(known) if known.last == documents => {}
                    Some(known) => *known = Frequency { documents: known.documents + 1, last: documents },
                    None => {
                        // The word, its entry in the map, and its place in the vocabulary.
                        bytes += 2 * word.len() as u64 + 100;
                        frequencies.insert(word, Frequency { documents: 1, last: documents });
                    }
                }
            }
            if bytes > self.limit {
                return Err(Error::at_position(&self.path, FilePosition::line(line), exceeded(self.limit)));
            }
        }
        let most = self.max_share * documents as f64;
        let mut words: Vec<(String, u64)> =
            frequencies.into_iter().map(|(word, frequency)| (word, frequency.documents)).collect();
        words.retain(|(_, frequency)| *frequency >= self.min_documents && *frequency as f64 <= most);
        words.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        words.truncate(self.max_words);
        if words.is_empty() {
            return Err(Error::file(&self.path, Problem::Empty));
        }
        let mut words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
        words.sort_unstable();
        Ok(words.into_iter().collect())
    }

    fn decode<'a>(&self, line: u64, content: &'a [u8]) -> Result<&'a str> {
        std::str::from_utf8(content).map_err(|_| {
            let detail = "the text is not UTF-8".into();
            Error::at_position(&self.path, FilePosition::line(line), Problem::Corrupt { detail })
        })
    }
}

//! The LDA-C format: one document per line, `M word:count word:count …` with M pairs, words counted from 0.

use std::path::{Path, PathBuf};

use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::limit::memory_limit;
use sgmcmc_storage::source::Lines;

use super::{Receive, collect, fields, write};
use crate::topics::corpus::{Corpus, Document};
use crate::topics::vocabulary::Vocabulary;

/// A reader of an LDA-C file, with or without gzip compression. [`lda_c`] creates it.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::lda_c;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-lda-c.dat");
/// std::fs::write(&file, "2 0:2 2:1\n1 1:1\n")?;
/// let corpus = lda_c(&file).read()?;
/// assert_eq!((corpus.documents(), corpus.vocabulary().len(), corpus.tokens()), (2, 3, 4));
///
/// std::fs::write(&file, "2 0:2 2:1\n1 1:-1\n")?;
/// let error = lda_c(&file).read().unwrap_err().to_string();
/// assert!(error.ends_with("line 2: count -1 is out of range: counts are from 1 to 2147483647"), "{error}");
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LdaC {
    path: PathBuf,
    vocabulary: Option<PathBuf>,
    allow_empty: bool,
    limit: u64,
}

/// Creates a reader of the LDA-C file at `path`. The file is opened by [`LdaC::read`] or [`LdaC::write`].
///
/// # Examples
///
/// See [`LdaC`].
pub fn lda_c(path: impl AsRef<Path>) -> LdaC {
    LdaC { path: path.as_ref().into(), vocabulary: None, allow_empty: false, limit: memory_limit() }
}

impl LdaC {
    /// Reads the words from a file with one word per line. Without it, the words are `word1`, `word2`, … up to the
    /// largest one in the file.
    #[must_use]
    pub fn vocabulary(self, path: impl AsRef<Path>) -> Self {
        Self { vocabulary: Some(path.as_ref().into()), ..self }
    }

    /// Keeps documents without words (`0`). By default they are an error.
    #[must_use]
    pub fn allow_empty(self) -> Self {
        Self { allow_empty: true, ..self }
    }

    /// Sets the memory limit of [`read`](Self::read) in bytes, see [`limit`](sgmcmc_storage::limit).
    #[must_use]
    pub fn memory_limit(self, bytes: u64) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Reads the corpus into memory.
    ///
    /// # Errors
    ///
    /// Returns an error with file and line if a file is missing or truncated, has text in place of a number, a word
    /// outside the vocabulary, a count below 1, or a document without words, or if the documents exceed the memory
    /// limit.
    pub fn read(&self) -> Result<Corpus> {
        collect(&self.path, self.limit, |receive| self.each(receive))
    }

    /// Converts the file to a corpus on disk at `target`, for [`Corpus::open`]. Memory does not grow with the file.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`read`](Self::read), or if `target` cannot be written.
    pub fn write(&self, target: impl AsRef<Path>) -> Result<()> {
        write(target.as_ref(), |receive| self.each(receive))
    }

    /// Passes every document to `receive`, and returns the vocabulary.
    fn each(&self, receive: &mut Receive<'_>) -> Result<Vocabulary> {
        let vocabulary = self.vocabulary.as_ref().map(Vocabulary::read).transpose()?;
        // An invented vocabulary must fit in memory: each word takes about 100 bytes.
        let most = vocabulary.as_ref().map_or(self.limit / 100, |words| words.len() as u64).min(i32::MAX as u64);
        let mut lines = Lines::open(&self.path)?;
        let (mut document, mut words, mut documents) = (Document::default(), 0, 0);
        while let Some((line, text)) = lines.next_line()? {
            let fail = |problem| Error::at_position(&self.path, FilePosition::line(line), problem);
            documents += 1;
            parse(text, most, &mut document).map_err(fail)?;
            document.normalize();
            if document.is_empty() && !self.allow_empty {
                return Err(fail(Problem::EmptyDocument { document: documents }));
            }
            words = words.max(document.iter().map(|(word, _)| word as usize + 1).max().unwrap_or_default());
            receive(line, &document)?;
        }
        if documents == 0 {
            return Err(Error::file(&self.path, Problem::Empty));
        }
        Ok(vocabulary.unwrap_or_else(|| Vocabulary::numbered(words)))
    }
}

/// Parses a line. Words are below `most`.
fn parse(text: &[u8], most: u64, document: &mut Document) -> Result<(), Problem> {
    document.clear();
    let mut parts = fields::split(text);
    let Some(pairs) = parts.next() else { return Ok(()) };
    let pairs = fields::integer(pairs, "number of words", 0, i32::MAX as u64, "it is from 0 to 2147483647")?;
    let mut found = 0;
    for part in parts {
        found += 1;
        let mut pair = part.splitn(2, |byte| *byte == b':');
        let (Some(word), Some(count)) = (pair.next(), pair.next()) else {
            return Err(Problem::not_a_number(part, "a pair `word:count`"));
        };
        let range = format!("the vocabulary has {most} words, counted from 0");
        let word = fields::integer(word, "word", 0, most.saturating_sub(1), &range)?;
        document.push(word as u32, fields::count(count)?);
    }
    match found == pairs {
        true => Ok(()),
        false => Err(Problem::Truncated { detail: format!("the line announces {pairs} pairs and has {found}") }),
    }
}

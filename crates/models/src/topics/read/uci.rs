//! The UCI bag-of-words format: the numbers of documents, words and entries, and then one line per entry.
//!
//! ```text
//! 3430
//! 6906
//! 353160
//! 1 61 2
//! 1 76 1
//! ```
//!
//! An entry is `document word count`. Documents and words are counted from 1, and documents are in increasing order.

use std::path::{Path, PathBuf};

use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::limit::memory_limit;
use sgmcmc_storage::source::Lines;

use super::{Receive, collect, fields, write};
use crate::topics::corpus::{Corpus, Document};
use crate::topics::vocabulary::Vocabulary;

/// The length of the shortest line with an entry, with its line break.
const SHORTEST_ENTRY: u64 = 6;

/// A reader of a UCI bag-of-words file, with or without gzip compression. [`uci`] creates it.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::uci;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-docword.txt");
/// std::fs::write(&file, "2\n3\n3\n1 1 2\n1 3 1\n2 2 1\n")?;
/// let corpus = uci(&file).read()?;
/// assert_eq!((corpus.documents(), corpus.vocabulary().len(), corpus.tokens()), (2, 3, 4));
///
/// std::fs::write(&file, "2\n3\n3\n1 1 2\n1 4 1\n2 2 1\n")?;
/// let error = uci(&file).read().unwrap_err().to_string();
/// assert!(error.ends_with("line 5: word 4 is out of range: the vocabulary has 3 words, counted from 1"), "{error}");
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Uci {
    path: PathBuf,
    vocabulary: Option<PathBuf>,
    allow_empty: bool,
    limit: u64,
}

/// Creates a reader of the UCI bag-of-words file at `path`. The file is opened by [`Uci::read`] or [`Uci::write`].
///
/// # Examples
///
/// See [`Uci`].
pub fn uci(path: impl AsRef<Path>) -> Uci {
    Uci { path: path.as_ref().into(), vocabulary: None, allow_empty: false, limit: memory_limit() }
}

impl Uci {
    /// Reads the words from a file with one word per line. Without it, the words are `word1`, `word2`, …
    #[must_use]
    pub fn vocabulary(self, path: impl AsRef<Path>) -> Self {
        Self { vocabulary: Some(path.as_ref().into()), ..self }
    }

    /// Keeps documents without entries as documents without tokens. By default they are an error.
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
    /// Returns an error with file and line if a file is missing, truncated or longer than its header says, has text in
    /// place of a number, a word outside the vocabulary, a count below 1 or a document without entries, or if the
    /// documents exceed the memory limit.
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
        let mut lines = Lines::open(&self.path)?;
        let fail = |line, problem| Error::at_position(&self.path, FilePosition::line(line), problem);
        let header = Header::read(&mut lines, &self.path)?;
        self.check_size(&header)?;
        let vocabulary = match &self.vocabulary {
            Some(path) => Vocabulary::read(path)?,
            // Each invented word takes about 100 bytes.
            None if header.words > self.limit / 100 => {
                return Err(fail(2, sgmcmc_storage::limit::exceeded(self.limit)));
            }
            None => Vocabulary::numbered(header.words as usize),
        };
        if vocabulary.len() as u64 != header.words {
            let range = format!("the vocabulary has {} words", vocabulary.len());
            let problem = Problem::OutOfRange { what: "number of words", value: header.words.to_string(), range };
            return Err(fail(2, problem));
        }
        let mut open = Open { document: Document::default(), number: 1, line: 3 };
        let mut entries = 0;
        while let Some((line, text)) = lines.next_line()? {
            if fields::split(text).next().is_none() {
                continue;
            }
            entries += 1;
            if entries > header.entries {
                let detail = format!("there are more entries than the {} of line 3", header.entries);
                return Err(fail(line, Problem::Corrupt { detail }));
            }
            let entry = Entry::parse(text, &header).map_err(|problem| fail(line, problem))?;
            if entry.document < open.number {
                let range = format!("documents are in increasing order, and {} comes before it", open.number);
                let problem = Problem::OutOfRange { what: "document", value: entry.document.to_string(), range };
                return Err(fail(line, problem));
            }
            while open.number < entry.document {
                open.close(line, self, receive)?;
            }
            open.line = line;
            open.document.push(entry.word, entry.count);
        }
        if entries < header.entries {
            let detail = format!("line 3 announces {} entries, and {entries} were found", header.entries);
            return Err(fail(open.line, Problem::Truncated { detail }));
        }
        while open.number <= header.documents {
            open.close(open.line, self, receive)?;
        }
        Ok(vocabulary)
    }

    /// Checks that a file without compression is long enough for the entries that its header announces.
    fn check_size(&self, header: &Header) -> Result<()> {
        let compressed = header.is_compressed(&self.path)?;
        let bytes = std::fs::metadata(&self.path).map_err(|error| Error::file(&self.path, Problem::Io(error)))?.len();
        let fail =
            |line, detail| Err(Error::at_position(&self.path, FilePosition::line(line), Problem::Truncated { detail }));
        if !compressed && header.entries > bytes.div_ceil(SHORTEST_ENTRY) {
            return fail(3, format!("{} entries do not fit in its {bytes} bytes", header.entries));
        }
        if header.documents > header.entries && !self.allow_empty {
            return fail(1, format!("{} documents with {} entries", header.documents, header.entries));
        }
        Ok(())
    }
}

/// The numbers at the start of a file.
struct Header {
    documents: u64,
    words: u64,
    entries: u64,
}

impl Header {
    fn read(lines: &mut Lines<'_>, path: &Path) -> Result<Self> {
        let mut number = |line, what, most| {
            let fail = |problem| Error::at_position(path, FilePosition::line(line), problem);
            let detail = || Problem::Truncated { detail: "its first three lines are three numbers".into() };
            let (_, text) = lines.next_line()?.ok_or_else(|| fail(detail()))?;
            let mut parts = fields::split(text);
            let (Some(text), None) = (parts.next(), parts.next()) else {
                return Err(fail(Problem::not_a_number(text, "one integer")));
            };
            fields::integer(text, what, 1, most, &format!("it is from 1 to {most}")).map_err(fail)
        };
        let documents = number(1, "number of documents", u64::MAX)?;
        let words = number(2, "number of words", i32::MAX as u64)?;
        Ok(Self { documents, words, entries: number(3, "number of entries", u64::MAX)? })
    }

    /// Returns whether the file is compressed, by its first bytes.
    fn is_compressed(&self, path: &Path) -> Result<bool> {
        use std::io::Read;
        let mut start = [0; 2];
        let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut start));
        Ok(read.map_err(|error| Error::file(path, Problem::Io(error)))? == 2 && start == [0x1f, 0x8b])
    }
}

/// One line after the header. The word is counted from 0.
struct Entry {
    document: u64,
    word: u32,
    count: u32,
}

impl Entry {
    fn parse(text: &[u8], header: &Header) -> Result<Self, Problem> {
        let mut parts = fields::split(text);
        let (Some(document), Some(word), Some(count), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(Problem::not_a_number(text, "three integers `document word count`"));
        };
        let range = format!("line 1 announces {} documents, counted from 1", header.documents);
        let document = fields::integer(document, "document", 1, header.documents, &range)?;
        let range = format!("the vocabulary has {} words, counted from 1", header.words);
        let word = fields::integer(word, "word", 1, header.words, &range)? as u32 - 1;
        Ok(Self { document, word, count: fields::count(count)? })
    }
}

/// The document whose entries are being read.
struct Open {
    document: Document,
    /// Its number, counted from 1.
    number: u64,
    /// The line of its last entry.
    line: u64,
}

impl Open {
    /// Passes the document on and starts the next one. `line` is the position of the error if it is empty.
    fn close(&mut self, line: u64, reader: &Uci, receive: &mut Receive<'_>) -> Result<()> {
        self.document.normalize();
        if self.document.is_empty() && !reader.allow_empty {
            let problem = Problem::EmptyDocument { document: self.number };
            return Err(Error::at_position(&reader.path, FilePosition::line(line), problem));
        }
        receive(self.line, &self.document)?;
        self.document.clear();
        self.number += 1;
        Ok(())
    }
}

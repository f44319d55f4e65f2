//! Corpora on disk: directories whose files are mapped into memory.
//!
//! ```text
//! corpus.txt          the format, the fingerprint and the number of documents
//! vocabulary.txt      one word per line
//! documents.mapped    `end`: the index after the last entry of each document; `tokens`: its number of tokens
//! entries.mapped      `entry`: pairs of word and count, document after document
//! ```
//!
//! Memory holds the vocabulary only. A document is read by its offsets.

use std::io::Write;
use std::path::{Path, PathBuf};

use sgmcmc_gradient::data::{Buffer, Column, Columns, Values};
use sgmcmc_gradient::fingerprint::{Fingerprint, Fingerprinter};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::mapped::{Mapped, MappedWriter};
use sgmcmc_storage::output::{AtomicDirectory, write_atomically};
use sgmcmc_storage::source::Lines;

use super::document::Document;
use super::memory::add_document;
use crate::topics::vocabulary::Vocabulary;

const FORMAT: &str = "sgmcmc corpus 1";
const FILES: [&str; 4] = ["corpus.txt", "vocabulary.txt", "documents.mapped", "entries.mapped"];
/// The number of entries or documents that are written at once.
const CHUNK: usize = 1 << 16;

/// Documents in mapped files.
#[derive(Debug)]
pub(super) struct OnDisk {
    path: PathBuf,
    words: u32,
    fingerprint: Fingerprint,
    end: Column,
    tokens: Column,
    entry: Column,
}

impl OnDisk {
    /// Maps the files of a corpus.
    pub(super) fn open(path: &Path) -> Result<(Self, Vocabulary)> {
        let fingerprint = read_header(&path.join(FILES[0]))?;
        let vocabulary = Vocabulary::read(path.join(FILES[1]))?;
        let end = leaf(&path.join(FILES[2]), "end")?;
        let tokens = leaf(&path.join(FILES[2]), "tokens")?;
        let entry = leaf(&path.join(FILES[3]), "entry")?;
        let words = u32::try_from(vocabulary.len()).unwrap_or(u32::MAX);
        let disk = Self { path: path.into(), words, fingerprint, end, tokens, entry };
        let corrupt = |file: &str, detail: &str| {
            Err(Error::file(&disk.path.join(file), Problem::Corrupt { detail: detail.into() }))
        };
        let (Some(ends), Some(entries)) = (disk.ends(), disk.entries()) else {
            return corrupt(FILES[2], "its numbers have another type");
        };
        if ends.last().is_some_and(|end| usize::try_from(*end).ok() != Some(entries.len() / 2)) {
            return corrupt(FILES[2], "the offsets of the documents do not match the entries");
        }
        Ok((disk, vocabulary))
    }

    pub(super) fn documents(&self) -> usize {
        self.end.observations()
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the number of tokens of the document with this index, which must be in range.
    pub(super) fn tokens(&self, index: usize) -> sgmcmc_gradient::Result<u64> {
        self.tokens.check_readable()?;
        match self.tokens.values() {
            Values::I64(tokens) => Ok(u64::try_from(tokens[index]).unwrap_or_default()),
            _ => Ok(0),
        }
    }

    fn ends(&self) -> Option<&Buffer<i64>> {
        match self.end.values() {
            Values::I64(ends) => Some(ends),
            _ => None,
        }
    }

    fn entries(&self) -> Option<&Buffer<i32>> {
        match self.entry.values() {
            Values::I32(entries) => Some(entries),
            _ => None,
        }
    }

    /// Copies the document with this index, which must be in range.
    ///
    /// # Errors
    ///
    /// Returns an error if the files were truncated or their content is not that of a corpus.
    pub(super) fn read(&self, index: usize, document: &mut Document) -> sgmcmc_gradient::Result<()> {
        self.end.check_readable()?;
        self.entry.check_readable()?;
        let gone = || sgmcmc_gradient::Error::DataGone {
            leaf: "entry".into(),
            reason: format!("document {index} of the corpus {} is damaged", self.path.display()),
        };
        let (Some(ends), Some(entries)) = (self.ends(), self.entries()) else { return Err(gone()) };
        let offset = |end: i64| usize::try_from(end).ok().and_then(|end| end.checked_mul(2));
        let start = if index == 0 { Some(0) } else { offset(ends[index - 1]) };
        let range = start.zip(offset(ends[index])).and_then(|(start, end)| entries.get(start..end));
        document.clear();
        for entry in range.ok_or_else(gone)?.chunks_exact(2) {
            match (u32::try_from(entry[0]), u32::try_from(entry[1])) {
                (Ok(word), Ok(count)) if word < self.words => document.push(word, count),
                _ => return Err(gone()),
            }
        }
        document.normalize();
        Ok(())
    }
}

/// Reads the format and the fingerprint of a corpus.
fn read_header(path: &Path) -> Result<Fingerprint> {
    let mut lines = Lines::open(path)?;
    let corrupt = |line, detail: &str| {
        Error::at_position(path, FilePosition::line(line), Problem::Corrupt { detail: detail.into() })
    };
    match lines.next_line()? {
        Some((_, text)) if text == FORMAT.as_bytes() => {}
        _ => return Err(corrupt(1, "this is not a corpus that this version has written")),
    }
    let digits = lines.next_line()?.and_then(|(_, text)| {
        let text = std::str::from_utf8(text).ok()?.strip_prefix("fingerprint ")?;
        let half = |part: Option<&str>| u64::from_str_radix(part?, 16).ok();
        Some([half(text.get(..16))?, half(text.get(16..))?])
    });
    digits.map(Fingerprint::from).ok_or_else(|| corrupt(2, "the fingerprint is missing"))
}

/// Maps a file and returns one of its leaves.
fn leaf(path: &Path, name: &str) -> Result<Column> {
    let columns = Mapped::open(path)?.columns();
    columns.get(name).cloned().map_err(Error::content(path))
}

/// A writer of a corpus on disk. Its memory does not grow with the corpus.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Corpus, CorpusWriter, Document};
///
/// let path = std::env::temp_dir().join("sgmcmc-doc-corpus");
/// let mut writer = CorpusWriter::create(&path)?;
/// writer.push(&Document::from_tokens([0, 1, 1]))?;
/// writer.finish(&["sun", "moon"].into_iter().collect())?;
/// assert_eq!(Corpus::open(&path)?.tokens(), 3);
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct CorpusWriter {
    path: PathBuf,
    directory: AtomicDirectory,
    documents: MappedWriter,
    entries: MappedWriter,
    /// The entries and the documents that have not been written yet.
    entry: Vec<i32>,
    end: Vec<i64>,
    tokens: Vec<i64>,
    last: i64,
    largest: u32,
    hasher: Fingerprinter,
}

impl CorpusWriter {
    /// Creates a writer. The directory appears at `path` with [`finish`](Self::finish). It must not exist, or be empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let directory = AtomicDirectory::create(path).map_err(|error| Error::file(path, Problem::Io(error)))?;
        let writer = |file: &str| MappedWriter::create(directory.directory().join(file));
        Ok(Self {
            path: path.into(),
            documents: writer(FILES[2])?,
            entries: writer(FILES[3])?,
            directory,
            entry: Vec::new(),
            end: Vec::new(),
            tokens: Vec::new(),
            last: 0,
            largest: 0,
            hasher: Fingerprinter::new(),
        })
    }

    /// Appends a document.
    ///
    /// # Errors
    ///
    /// Returns an error if a word or a count exceeds 2³¹ − 1, or if writing fails.
    pub fn push(&mut self, document: &Document) -> Result<()> {
        for (word, count) in document.iter() {
            let (Ok(entry), Ok(number)) = (i32::try_from(word), i32::try_from(count)) else {
                let (what, value) = ("word or count", word.max(count).to_string());
                let problem = Problem::OutOfRange { what, value, range: "it is at most 2147483647".into() };
                return Err(Error::at_position(&self.path, FilePosition::row(self.end.len() as u64), problem));
            };
            self.entry.extend([entry, number]);
            self.largest = self.largest.max(word);
        }
        add_document(&mut self.hasher, document);
        self.last += document.words() as i64;
        self.end.push(self.last);
        self.tokens.push(document.tokens() as i64);
        if self.entry.len() >= 2 * CHUNK || self.end.len() >= CHUNK { self.write() } else { Ok(()) }
    }

    /// Writes the documents in memory to the files.
    fn write(&mut self) -> Result<()> {
        let (documents, pairs) = (self.end.len(), self.entry.len() / 2);
        if documents > 0 {
            let columns = Columns::new()
                .leaf("end", std::mem::take(&mut self.end), [documents])
                .and_then(|columns| columns.leaf("tokens", std::mem::take(&mut self.tokens), [documents]));
            self.documents.append(columns?.as_slice())?;
        }
        if pairs > 0 {
            let columns = Columns::new().leaf("entry", std::mem::take(&mut self.entry), [pairs, 2]);
            self.entries.append(columns?.as_slice())?;
        }
        Ok(())
    }

    /// Completes the corpus with its vocabulary and renames the directory to its final name.
    ///
    /// # Errors
    ///
    /// Returns an error if a word is outside the vocabulary, if there are no tokens, if the directory is not empty, or
    /// if writing fails.
    pub fn finish(mut self, vocabulary: &Vocabulary) -> Result<()> {
        if self.largest as usize >= vocabulary.len() {
            let range = format!("the vocabulary has {} words", vocabulary.len());
            let problem = Problem::OutOfRange { what: "word", value: self.largest.to_string(), range };
            return Err(Error::file(&self.path, problem));
        }
        self.write()?;
        self.documents.finish()?;
        self.entries.finish()?;
        let header = format!("{FORMAT}\nfingerprint {}\n", self.hasher.finish());
        let write = |file: &str, content: &mut dyn Iterator<Item = &str>| {
            let path = self.directory.directory().join(file);
            write_atomically(&path, |file| {
                for line in content {
                    file.write_all(line.as_bytes())?;
                }
                Ok(())
            })
            .map_err(|error| Error::file(&path, Problem::Io(error)))
        };
        write(FILES[0], &mut [header.as_str()].into_iter())?;
        write(FILES[1], &mut vocabulary.iter().flat_map(|word| [word, "\n"]))?;
        self.directory.commit().map_err(|error| match error.kind() {
            std::io::ErrorKind::DirectoryNotEmpty => Error::file(&self.path, Problem::NotEmpty),
            _ => Error::file(&self.path, Problem::Io(error)),
        })
    }
}

//! Corpora: documents as counts of words, in memory or in mapped files.

mod disk;
mod document;
mod memory;
mod split;

pub use disk::CorpusWriter;
pub use document::Document;
pub use split::CompletionSplit;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use sgmcmc_gradient::{Error, Fingerprint, Result};
use sgmcmc_storage::limit;

use self::disk::OnDisk;
use self::memory::InMemory;
use super::vocabulary::Vocabulary;

/// A collection of documents over a vocabulary. Clones share the documents.
///
/// The documents are in memory, or in mapped files that [`CorpusWriter`] has written, from which each document is read
/// when it is needed. Readers: [`uci`](super::uci), [`lda_c`](super::lda_c), [`text`](super::text).
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Corpus, Document};
///
/// let words = ["sun", "moon", "bread"].into_iter().collect();
/// let corpus = Corpus::new(words, [Document::from_tokens([0, 1]), Document::from_tokens([2, 2])])?;
/// assert_eq!((corpus.documents(), corpus.tokens()), (2, 4));
/// assert_eq!(corpus.document(1)?.iter().collect::<Vec<_>>(), [(2, 2)]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Corpus {
    vocabulary: Arc<Vocabulary>,
    storage: Arc<Storage>,
    /// The indices of the documents of this corpus; all documents if there are none.
    selection: Option<Arc<[usize]>>,
    tokens: u64,
}

#[derive(Debug)]
struct Storage {
    place: Place,
    fingerprint: OnceLock<Fingerprint>,
}

/// The place where the documents are.
#[derive(Debug)]
enum Place {
    Memory(InMemory),
    Disk(Box<OnDisk>),
}

impl Corpus {
    /// Creates a corpus in memory.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no token, or if a word is outside the vocabulary.
    pub fn new(vocabulary: Vocabulary, documents: impl IntoIterator<Item = Document>) -> Result<Self> {
        let mut builder = CorpusBuilder::new(u64::MAX);
        for document in documents {
            // Without a limit of memory, pushing cannot fail.
            if builder.push(&document).is_err() {
                break;
            }
        }
        builder.finish(vocabulary)
    }

    /// Opens a corpus on disk that [`CorpusWriter`] has written. The documents are not read.
    ///
    /// # Errors
    ///
    /// Returns an error that names the file if one is missing, truncated or damaged.
    pub fn open(path: impl AsRef<Path>) -> sgmcmc_storage::Result<Self> {
        let (disk, vocabulary) = OnDisk::open(path.as_ref())?;
        let storage = Storage { place: Place::Disk(Box::new(disk)), fingerprint: OnceLock::new() };
        let mut corpus = Self { vocabulary: vocabulary.into(), storage: storage.into(), selection: None, tokens: 0 };
        corpus.tokens = corpus.count_tokens()?;
        Ok(corpus)
    }

    /// Writes the corpus to a directory, see [`CorpusWriter`].
    ///
    /// # Errors
    ///
    /// Returns an error if the directory is not empty, or if writing fails.
    pub fn write(&self, path: impl AsRef<Path>) -> sgmcmc_storage::Result<()> {
        let mut writer = CorpusWriter::create(path)?;
        let mut document = Document::default();
        for index in 0..self.documents() {
            self.read(index, &mut document)?;
            writer.push(&document)?;
        }
        writer.finish(&self.vocabulary)
    }

    /// Returns the words.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> usize {
        match &self.selection {
            Some(selection) => selection.len(),
            None => self.storage.documents(),
        }
    }

    /// Returns the number of tokens.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns a document.
    ///
    /// # Errors
    ///
    /// Returns an error if `index` is out of range, or if the corpus is on disk and can no longer be read.
    pub fn document(&self, index: usize) -> Result<Document> {
        let mut document = Document::default();
        self.read(index, &mut document)?;
        Ok(document)
    }

    /// Copies a document into `document`, whose allocation is reused.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`document`](Self::document).
    pub fn read(&self, index: usize, document: &mut Document) -> Result<()> {
        let index = self.stored_index(index)?;
        match &self.storage.place {
            Place::Memory(documents) => documents.read(index, document),
            Place::Disk(documents) => documents.read(index, document)?,
        }
        Ok(())
    }

    /// Returns the corpus of some documents, which are not copied.
    ///
    /// # Errors
    ///
    /// Returns an error if an index is out of range, if the documents have no tokens, or if they cannot be read.
    pub fn select(&self, documents: impl IntoIterator<Item = usize>) -> Result<Self> {
        let selection = documents.into_iter().map(|index| self.stored_index(index)).collect::<Result<Vec<_>>>()?;
        let mut selected = Self { selection: Some(selection.into()), ..self.clone() };
        selected.tokens = selected.count_tokens()?;
        if selected.tokens == 0 {
            return Err(no_tokens());
        }
        Ok(selected)
    }

    /// Returns a hash of the vocabulary and the documents.
    pub fn fingerprint(&self) -> Fingerprint {
        let documents = self.storage.fingerprint.get_or_init(|| match &self.storage.place {
            Place::Memory(documents) => documents.fingerprint(),
            Place::Disk(documents) => documents.fingerprint(),
        });
        let mut hasher = sgmcmc_gradient::fingerprint::Fingerprinter::new();
        hasher.bytes(&documents.to_le_bytes());
        self.vocabulary.iter().for_each(|word| hasher.text(word));
        if let Some(selection) = &self.selection {
            selection.iter().for_each(|index| hasher.word(*index as u64));
        }
        hasher.finish()
    }

    /// Returns the number of tokens of a document.
    ///
    /// # Errors
    ///
    /// Returns an error in the cases of [`document`](Self::document).
    pub fn document_tokens(&self, index: usize) -> Result<u64> {
        let index = self.stored_index(index)?;
        match &self.storage.place {
            Place::Memory(documents) => Ok(documents.tokens(index)),
            Place::Disk(documents) => documents.tokens(index),
        }
    }

    /// Returns the index of a document among all stored ones.
    fn stored_index(&self, index: usize) -> Result<usize> {
        let observations = self.documents();
        match (index < observations, &self.selection) {
            (false, _) => Err(Error::RowOutOfRange { row: index, observations }),
            (true, Some(selection)) => Ok(selection[index]),
            (true, None) => Ok(index),
        }
    }

    fn count_tokens(&self) -> Result<u64> {
        (0..self.documents()).map(|index| self.document_tokens(index)).sum()
    }
}

impl Storage {
    fn documents(&self) -> usize {
        match &self.place {
            Place::Memory(documents) => documents.documents(),
            Place::Disk(documents) => documents.documents(),
        }
    }
}

fn no_tokens() -> Error {
    Error::EmptyDataset { reason: "the documents have no tokens".into() }
}

/// Collects documents in memory, within a memory limit.
#[derive(Debug)]
pub(super) struct CorpusBuilder {
    documents: InMemory,
    limit: u64,
    tokens: u64,
    largest: u32,
}

impl CorpusBuilder {
    /// Creates a builder for documents that take at most `limit` bytes.
    pub(super) fn new(limit: u64) -> Self {
        Self { documents: InMemory::new(), limit, tokens: 0, largest: 0 }
    }

    /// Appends a document.
    ///
    /// # Errors
    ///
    /// Returns an error if the documents exceed the memory limit.
    pub(super) fn push(&mut self, document: &Document) -> std::result::Result<(), sgmcmc_storage::Problem> {
        self.documents.push(document);
        self.tokens += document.tokens();
        self.largest = self.largest.max(document.iter().map(|entry| entry.0).max().unwrap_or_default());
        if self.documents.bytes() > self.limit { Err(limit::exceeded(self.limit)) } else { Ok(()) }
    }

    /// Returns the corpus.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no token, or if a word is outside the vocabulary.
    pub(super) fn finish(self, vocabulary: Vocabulary) -> Result<Corpus> {
        if self.tokens == 0 {
            return Err(no_tokens());
        }
        if self.largest as usize >= vocabulary.len() {
            return Err(Error::Setting {
                name: "the largest word of the documents",
                value: self.largest.to_string(),
                expected: "words are numbers below the size of the vocabulary",
            });
        }
        let storage = Storage { place: Place::Memory(self.documents), fingerprint: OnceLock::new() };
        Ok(Corpus { vocabulary: vocabulary.into(), storage: storage.into(), selection: None, tokens: self.tokens })
    }
}

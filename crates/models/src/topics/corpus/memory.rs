//! Documents in memory.

use sgmcmc_gradient::fingerprint::{Fingerprint, Fingerprinter};

use super::document::Document;

/// The documents of a corpus, one after another.
#[derive(Debug)]
pub(super) struct InMemory {
    /// The index after the last entry of each document.
    ends: Vec<usize>,
    entries: Vec<(u32, u32)>,
}

impl InMemory {
    pub(super) fn new() -> Self {
        Self { ends: Vec::new(), entries: Vec::new() }
    }

    pub(super) fn push(&mut self, document: &Document) {
        self.entries.extend(document.iter());
        self.ends.push(self.entries.len());
    }

    pub(super) fn documents(&self) -> usize {
        self.ends.len()
    }

    /// Returns the memory of the documents in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.entries.len() * size_of::<(u32, u32)>() + self.ends.len() * size_of::<usize>()) as u64
    }

    /// Copies the document with this index, which must be in range.
    pub(super) fn read(&self, index: usize, document: &mut Document) {
        document.clear();
        self.entries[self.start(index)..self.ends[index]].iter().for_each(|entry| document.push(entry.0, entry.1));
    }

    /// Returns the number of tokens of the document with this index, which must be in range.
    pub(super) fn tokens(&self, index: usize) -> u64 {
        self.entries[self.start(index)..self.ends[index]].iter().map(|entry| u64::from(entry.1)).sum()
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut hasher = Fingerprinter::new();
        let mut document = Document::default();
        for index in 0..self.documents() {
            self.read(index, &mut document);
            add_document(&mut hasher, &document);
        }
        hasher.finish()
    }
}

/// Adds a document to the fingerprint of a corpus.
pub(super) fn add_document(hasher: &mut Fingerprinter, document: &Document) {
    hasher.word(document.words() as u64);
    document.iter().for_each(|(word, count)| hasher.word(u64::from(word) << 32 | u64::from(count)));
}

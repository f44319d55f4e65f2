//! Readers of corpora, one per format.

mod fields;
mod lda_c;
mod stop_words;
mod text;
mod tokenizer;
mod uci;

pub use lda_c::{LdaC, lda_c};
pub use text::{Text, text};
pub use tokenizer::Tokenizer;
pub use uci::{Uci, uci};

use std::path::Path;

use sgmcmc_storage::error::{Error, FilePosition, Result};

use super::corpus::{Corpus, CorpusBuilder, CorpusWriter, Document};
use super::vocabulary::Vocabulary;

/// A receiver of the documents of a file: the line of a document for messages, and the document.
type Receive<'a> = dyn FnMut(u64, &Document) -> Result<()> + 'a;

/// Collects the documents that `each` passes on into a corpus in memory.
fn collect(path: &Path, limit: u64, each: impl FnOnce(&mut Receive<'_>) -> Result<Vocabulary>) -> Result<Corpus> {
    let mut builder = CorpusBuilder::new(limit);
    let vocabulary = each(&mut |line, document| {
        builder.push(document).map_err(|problem| Error::at_position(path, FilePosition::line(line), problem))
    })?;
    builder.finish(vocabulary).map_err(Error::content(path))
}

/// Writes the documents that `each` passes on to a corpus on disk.
fn write(target: &Path, each: impl FnOnce(&mut Receive<'_>) -> Result<Vocabulary>) -> Result<()> {
    let mut writer = CorpusWriter::create(target)?;
    let vocabulary = each(&mut |_, document| writer.push(document))?;
    writer.finish(&vocabulary)
}

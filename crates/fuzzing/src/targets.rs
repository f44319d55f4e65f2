//! The readers under test.

use std::path::Path;

use sgmcmc_fit::Fit;
use sgmcmc_models::factorization::Ratings;
use sgmcmc_models::topics;
use sgmcmc_storage::read::{self, Separator};
use sgmcmc_storage::{fits, mapped::Mapped};

use crate::checkpoint;

/// A reader of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reader {
    /// Fits of every format, which are opened, summarized and checked.
    Fit,
    /// Text tables separated by commas.
    Csv,
    /// Text tables separated by white space.
    Spaced,
    /// Sparse text tables.
    Libsvm,
    /// idx files.
    Idx,
    /// NumPy arrays.
    Npy,
    /// NumPy archives.
    Npz,
    /// Parquet tables.
    Parquet,
    /// Mapped files.
    Mapped,
    /// Data in JSON, as Stan reads them.
    Json,
    /// Journals of checkpoints.
    Journal,
    /// Bags of words in the UCI format.
    Uci,
    /// Bags of words in the format of LDA-C.
    LdaC,
    /// Documents of text.
    Text,
    /// Corpora on disk.
    Corpus,
    /// Ratings.
    Ratings,
}

impl Reader {
    /// Reads the file or directory at `path`, and returns whether this succeeded.
    pub fn read(self, path: &Path) -> bool {
        match self {
            Self::Fit => match fits::open(path) {
                Ok(fit) => judged(&fit),
                Err(error) => shown(&error),
            },
            Self::Csv => {
                let table = read::csv(path).missing(read::Missing::Fill(0.0));
                ok(table.float("x", [0, 1]).codes("c", 2).one_hot("h", 2).int("d", 3).read_table())
            }
            Self::Spaced => {
                ok(read::csv(path).no_header().separator(Separator::Whitespace).comment(b'#').float("x", 0..3).read())
            }
            Self::Libsvm => ok(read::libsvm(path).read()) | ok(read::libsvm(path).sparse().read()),
            Self::Idx => ok(read::idx(path, "x")),
            Self::Npy => ok(read::npy(path, "x")),
            Self::Npz => ok(read::npz(path)),
            Self::Parquet => ok(read::parquet(path).float("x", ["weight", "mu"]).int("c", "chain").read()),
            Self::Json => {
                ok(read::json(path).and_then(|data| data.columns(&["y"]).and(data.to_zero_based(&["index"]))))
            }
            Self::Journal => checkpoint::read(path),
            Self::Uci => ok(topics::uci(path).read()),
            Self::LdaC => ok(topics::lda_c(path).read()),
            Self::Text => ok(topics::text(path).read()),
            Self::Corpus => match topics::Corpus::open(path) {
                Ok(corpus) => (0..corpus.documents()).all(|index| corpus.document(index).is_ok()),
                Err(error) => shown(&error),
            },
            Self::Ratings => ok(Ratings::read(path)),
            Self::Mapped => match Mapped::open(path) {
                Ok(mapped) => ok(mapped.verify()),
                Err(error) => shown(&error),
            },
        }
    }
}

/// Summarizes and checks a fit, and returns `true`.
pub(crate) fn judged(fit: &Fit) -> bool {
    let (summary, check) = (fit.summary(), fit.check());
    summary.to_csv().len() + summary.to_string().len() + check.to_string().len() > 0
}

fn ok<T>(read: sgmcmc_storage::Result<T>) -> bool {
    match read {
        Ok(_) => true,
        Err(error) => shown(&error),
    }
}

/// Formats an error, and returns `false` if the message is not empty.
fn shown(error: &sgmcmc_storage::Error) -> bool {
    error.to_string().is_empty()
}

//! Well-known data sets, read from where they are, and synthetic ones of the same shape.
//!
//! `dir` is a directory with one folder per data set, such as `dir/mnist/train-images-idx3-ubyte.gz`; [`directory`] says which by
//! default. Files may be compressed by gzip, with or without `.gz` at the end of their names. Where a file is not there, the
//! error says where it was looked for and who publishes it, and `…_like(n, seed)` makes data with the same columns, types
//! and ranges, drawn from a model that has something to infer.
//!
//! | function | observations |
//! |---|---|
//! | [`covertype`] | 581 012 patches of forest, 54 features, 7 classes |
//! | [`a9a`] | 32 561 + 16 281 people, 123 binary features, income above a threshold or not |
//! | [`mnist`] | 60 000 + 10 000 images of 28 × 28 pixels, 10 digits |
//! | [`ml_100k`] | 100 000 ratings of 1682 films by 943 users |
//! | [`ml_1m`] | 900 000 + 100 209 ratings of 3952 films by 6040 users |
//! | [`msweb`] | 32 711 + 5000 users of a web site of 294 areas |
//! | [`kos`] | 3430 documents over 6906 words |

mod a9a;
mod covertype;
mod kos;
mod ml_100k;
mod ml_1m;
mod mnist;
mod msweb;
mod synthetic;
mod trees;

use std::path::{Path, PathBuf};

use sgmcmc_core::data::Column;
use sgmcmc_core::{Dataset, TensorTree};

pub use a9a::{A9a, a9a, a9a_like};
pub use covertype::{Covertype, covertype, covertype_like};
pub use kos::{Kos, kos, kos_like};
pub use ml_1m::{MovieLens1m, ml_1m, ml_1m_like};
pub use ml_100k::{Fold, MovieLens100k, ml_100k, ml_100k_fold, ml_100k_like};
pub use mnist::{Mnist, mnist, mnist_like};
pub use msweb::{Msweb, msweb, msweb_like};
pub use trees::{Classified, Documents, Labelled, Ratings, Visits};

use crate::error::{Error, Result};

/// Returns the directory of the data sets: the environment variable `SGMCMC_DATA`, or else `data` in the working directory.
pub fn directory() -> PathBuf {
    std::env::var_os("SGMCMC_DATA").map_or_else(|| "data".into(), PathBuf::from)
}

/// What is said of a data set that is not there.
struct Origin {
    name: &'static str,
    folder: &'static str,
    from: &'static str,
    synthetic: &'static str,
}

impl Origin {
    /// The file `name` of the data set, compressed or not.
    fn file(&self, dir: &Path, name: &str) -> Result<PathBuf> {
        let folder = dir.join(self.folder);
        let candidates = [folder.join(format!("{name}.gz")), folder.join(name)];
        candidates.iter().find(|file| file.is_file()).cloned().ok_or_else(|| {
            let [file, _] = candidates;
            Error::Absent { name: self.name, file, from: self.from, synthetic: self.synthetic }
        })
    }
}

/// The columns as a data set of type `D`.
fn assemble<D: TensorTree>(columns: Vec<Column>, template: &D, file: &Path) -> Result<Dataset<D>> {
    Dataset::from_columns(columns).and_then(|data| data.typed(template)).map_err(Error::content(file))
}

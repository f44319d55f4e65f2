//! Well-known data sets, and synthetic data of the same shape.
//!
//! Each data set has two functions:
//!
//! - `name(dir)` reads the published files. `dir` is a directory with one subdirectory per data set, for instance
//!   `dir/mnist/train-images-idx3-ubyte.gz`. Files may be compressed by gzip, with or without the extension `.gz`. If
//!   a file does not exist, the error has its path and the publisher of the data set.
//! - `name_like(n, seed)` simulates data with the same columns, types and ranges from a model with parameters to infer.
//!
//! There is no default directory. [`directory`] returns the one in the environment variable `SGMCMC_DATA`.
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
//!
//! # Examples
//!
//! ```
//! use sgmcmc::datasets;
//!
//! let a9a = datasets::a9a_like(100, 1)?;
//! assert_eq!((a9a.train.observations(), a9a.test.observations()), (100, 50));
//! # Ok::<(), sgmcmc::Error>(())
//! ```

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

use sgmcmc_core::{Dataset, TensorTree};
use sgmcmc_gradient::data::Column;

pub use a9a::{A9a, a9a, a9a_like};
pub use covertype::{Covertype, covertype, covertype_like};
pub use kos::{Kos, kos, kos_like};
pub use ml_1m::{MovieLens1m, ml_1m, ml_1m_like};
pub use ml_100k::{Fold, MovieLens100k, ml_100k, ml_100k_fold, ml_100k_like};
pub use mnist::{Mnist, mnist, mnist_like};
pub use msweb::{Msweb, msweb, msweb_like};
pub use trees::{Classified, Documents, Labeled, Ratings, Visits};

use sgmcmc_storage::error::{Error, Result};

/// Returns the directory in the environment variable `SGMCMC_DATA`, if it is set.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets;
///
/// assert_eq!(datasets::directory().is_some(), std::env::var_os("SGMCMC_DATA").is_some());
/// ```
pub fn directory() -> Option<PathBuf> {
    std::env::var_os("SGMCMC_DATA").map(PathBuf::from)
}

/// The source of a data set, for its path and for error messages.
struct Origin {
    /// The name of the data set.
    name: &'static str,
    /// The subdirectory with its files.
    folder: &'static str,
    /// The publisher, in words that follow "get it from".
    from: &'static str,
    /// The function that simulates similar data.
    synthetic: &'static str,
}

impl Origin {
    /// Returns the path of the file `name` of the data set, compressed or not.
    fn file(&self, dir: &Path, name: &str) -> Result<PathBuf> {
        let folder = dir.join(self.folder);
        let candidates = [folder.join(format!("{name}.gz")), folder.join(name)];
        candidates.iter().find(|file| file.is_file()).cloned().ok_or_else(|| {
            let [file, _] = candidates;
            Error::Absent { name: self.name, file, from: self.from, synthetic: self.synthetic }
        })
    }
}

/// Creates a data set of type `D` from columns.
fn assemble<D: TensorTree>(columns: Vec<Column>, template: &D, file: &Path) -> Result<Dataset<D>> {
    Dataset::from_columns(columns).and_then(|data| data.typed(template)).map_err(Error::content(file))
}

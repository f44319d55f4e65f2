//! The ratings of MovieLens, or synthetic ratings of the same shape.

use std::path::{Path, PathBuf};

use sgmcmc::models::factorization::{Entries, Ratings};

use crate::Result;

/// Ratings of films.
pub(super) struct RatingSet {
    pub(super) entries: Entries,
    /// The missing file, if the ratings are synthetic.
    missing: Option<PathBuf>,
}

impl RatingSet {
    /// Prints that the ratings are synthetic, if they are.
    pub(super) fn print_note(&self) {
        if let Some(file) = &self.missing {
            println!("SYNTHETIC data, because {} does not exist", file.display());
        }
    }
}

/// Reads the ratings of the set `ml-100k` or `ml-1m` below `directory`, or simulates ratings of the same shape.
pub(super) fn read(set: &str, directory: &str) -> Result<RatingSet> {
    let (name, shape) = match set {
        "ml-100k" => ("u.data", [943, 1682, 100_000]),
        "ml-1m" => ("ratings_notime.csv", [6040, 3952, 1_000_209]),
        other => return Err(format!("`{other}` is not a data set: use ml-100k or ml-1m").into()),
    };
    let files = [name.to_owned(), format!("{name}.gz")].map(|name| Path::new(directory).join(set).join(name));
    match files.iter().find(|file| file.exists()) {
        Some(file) => Ok(RatingSet { entries: Ratings::read(file)?.entries().clone(), missing: None }),
        None => {
            let entries = Entries::simulate_ratings(shape[0], shape[1], shape[2], 5, 1)?;
            Ok(RatingSet { entries, missing: Some(files[0].clone()) })
        }
    }
}

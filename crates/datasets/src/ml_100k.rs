//! The data set MovieLens 100K: 100 000 ratings of films.

use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

use sgmcmc_core::Dataset;
use sgmcmc_gradient::data::Column;

use super::synthetic::{check_size, generator, ratings};
use super::trees::Ratings;
use super::{Origin, assemble};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result, shortened};
use sgmcmc_storage::limit::{exceeded, memory_limit};
use sgmcmc_storage::source::{Lines, open};

const ORIGIN: Origin = Origin {
    name: "MovieLens 100K",
    folder: "ml-100k",
    from: "GroupLens Research, “MovieLens 100K Dataset”, whose license does not permit redistribution",
    synthetic: "datasets::ml_100k_like",
};

/// The name of the archive with the folds.
const ARCHIVE: &str = "ml-100k-splits-items-users.tar";
/// The number of users.
const USERS: usize = 943;
/// The number of films.
const ITEMS: usize = 1682;

/// The data set MovieLens 100K: ratings from 1 to 5 of films by users.
///
/// The indices of users and films count from 0. They are one less than the published numbers.
///
/// # Examples
///
/// ```
/// let movies = sgmcmc::datasets::ml_100k_like(50, 1)?;
/// assert_eq!((movies.ratings.observations(), movies.users, movies.items), (50, 943, 1682));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MovieLens100k {
    /// 100 000 observations.
    pub ratings: Dataset<Ratings>,
    /// The number of users, 943.
    pub users: usize,
    /// The number of films, 1682.
    pub items: usize,
}

/// A published split into training and test ratings.
///
/// `U1` to `U5` are the folds of a five-fold cross-validation. `Ua` and `Ub` have ten test ratings per user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the published names, which the documentation of the type explains")]
pub enum Fold {
    U1,
    U2,
    U3,
    U4,
    U5,
    Ua,
    Ub,
}

impl Fold {
    /// Returns the published name.
    fn name(self) -> &'static str {
        match self {
            Self::U1 => "u1",
            Self::U2 => "u2",
            Self::U3 => "u3",
            Self::U4 => "u4",
            Self::U5 => "u5",
            Self::Ua => "ua",
            Self::Ub => "ub",
        }
    }
}

/// Reads the data set MovieLens 100K from `dir/ml-100k/u.data`.
///
/// # Errors
///
/// Returns an error if the file does not exist or is damaged.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets;
///
/// let error = datasets::ml_100k("missing").unwrap_err();
/// assert!(error.to_string().contains("datasets::ml_100k_like"));
/// ```
pub fn ml_100k(dir: impl AsRef<Path>) -> Result<MovieLens100k> {
    let file = ORIGIN.file(dir.as_ref(), "u.data")?;
    Ok(MovieLens100k { ratings: parse(&file, open(&file)?)?, users: USERS, items: ITEMS })
}

/// Reads the training and the test ratings of a published fold.
///
/// They are read from `dir/ml-100k/u1.base` and `u1.test` (for the first fold), or from the archive
/// `dir/ml-100k/ml-100k-splits-items-users.tar.gz`. There are 80 000 and 20 000 ratings for `U1` to `U5`, and 90 570
/// and 9430 for `Ua` and `Ub`.
///
/// # Errors
///
/// Returns an error if neither the files nor the archive exist, or if a file is damaged.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets::{self, Fold};
///
/// assert!(datasets::ml_100k_fold("missing", Fold::U1).is_err());
/// ```
pub fn ml_100k_fold(dir: impl AsRef<Path>, fold: Fold) -> Result<(Dataset<Ratings>, Dataset<Ratings>)> {
    let part = |ending: &str| {
        let name = format!("{}.{ending}", fold.name());
        if let Ok(file) = ORIGIN.file(dir.as_ref(), &name) {
            return parse(&file, open(&file)?);
        }
        let archive = ORIGIN.file(dir.as_ref(), ARCHIVE)?;
        let content = member(&archive, &name)?;
        parse(&archive.join(&name), Box::new(Cursor::new(content)))
    };
    Ok((part("base")?, part("test")?))
}

/// Simulates `n` ratings with the columns of [`ml_100k`], from a matrix factorization of rank five with biases.
///
/// The ratings are rounded. No user rates a film twice.
///
/// # Errors
///
/// Returns an error if `n` is 0, or more than a quarter of all pairs of users and films.
///
/// # Examples
///
/// ```
/// let movies = sgmcmc::datasets::ml_100k_like(50, 1)?;
/// assert_eq!(movies.ratings.observations(), 50);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn ml_100k_like(n: usize, seed: u64) -> Result<MovieLens100k> {
    check_size(n, 1..=USERS * ITEMS / 4, "use 1 to 396531, a quarter of all pairs of users and films")?;
    let (user, item, rating) = ratings(n, USERS, ITEMS, &mut generator(seed));
    let columns =
        vec![Column::new("user", user, [])?, Column::new("item", item, [])?, Column::new("rating", rating, [])?];
    let ratings = Dataset::from_columns(columns)?.typed(&Ratings::template()?)?;
    Ok(MovieLens100k { ratings, users: USERS, items: ITEMS })
}

/// Reads one file of an archive.
fn member(archive: &Path, name: &str) -> Result<Vec<u8>> {
    let fail = |error| Error::file(archive, Problem::reading(error));
    let mut files = tar::Archive::new(BufReader::new(open(archive)?));
    for entry in files.entries().map_err(fail)? {
        let mut entry = entry.map_err(fail)?;
        if entry.path().map_err(fail)?.file_name().is_some_and(|found| found == name) {
            let mut content = Vec::new();
            if entry.size() > memory_limit() {
                return Err(Error::file(archive, exceeded(memory_limit())));
            }
            entry.read_to_end(&mut content).map_err(fail)?;
            return Ok(content);
        }
    }
    Err(Error::file(archive, Problem::Corrupt { detail: format!("there is no `{name}` in it") }))
}

/// Reads lines `user item rating time`.
fn parse(file: &Path, reader: Box<dyn BufRead>) -> Result<Dataset<Ratings>> {
    let limits = [("user", USERS as i64), ("item", ITEMS as i64), ("rating", 5)];
    let mut lines = Lines::new(file, reader, 0);
    let (mut user, mut item, mut rating) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((line, text)) = lines.next_line()? {
        let fields: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).collect();
        if fields.len() != 4 {
            let problem = Problem::Ragged { found: fields.len(), expected: 4 };
            return Err(Error::at_position(file, FilePosition::line(line), problem));
        }
        let mut numbers = [0; 3];
        for ((number, field), (column, limit)) in numbers.iter_mut().zip(&fields).zip(limits) {
            let position = || FilePosition::line(line).column(column);
            *number = std::str::from_utf8(field)
                .ok()
                .and_then(|field| field.parse::<i64>().ok())
                .ok_or_else(|| Error::at_position(file, position(), Problem::not_a_number(field, "an integer")))?;
            if !(1..=limit).contains(number) {
                let range = format!("1 to {limit}");
                let problem = Problem::OutOfRange { what: column, value: shortened(field), range };
                return Err(Error::at_position(file, position(), problem));
            }
        }
        user.push(numbers[0] - 1);
        item.push(numbers[1] - 1);
        rating.push(numbers[2] as f32);
    }
    if user.is_empty() {
        return Err(Error::file(file, Problem::Empty));
    }
    let columns = [Column::new("user", user, []), Column::new("item", item, []), Column::new("rating", rating, [])];
    let columns = columns.into_iter().collect::<sgmcmc_gradient::Result<_>>().map_err(Error::content(file))?;
    assemble(columns, &Ratings::template()?, file)
}

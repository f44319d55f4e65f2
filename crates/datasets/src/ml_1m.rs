//! The data set MovieLens 1M: a million ratings of films.

use std::path::Path;

use sgmcmc_core::Dataset;
use sgmcmc_gradient::data::{Column, Values};

use super::synthetic::{check_size, generator, ratings};
use super::trees::Ratings;
use super::{Origin, assemble};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::read;

const ORIGIN: Origin = Origin {
    name: "MovieLens 1M",
    folder: "ml-1m",
    from: "GroupLens Research, “MovieLens 1M Dataset”, whose license does not permit redistribution \
           (as a table with the columns user,movie,rating,probe; the column probe is published with the code of \
           Bayesian probabilistic matrix factorization)",
    synthetic: "datasets::ml_1m_like",
};

/// The number of users.
const USERS: usize = 6040;
/// One more than the largest index of a film.
const ITEMS: usize = 3952;

/// The data set MovieLens 1M: ratings from 1 to 5 of films by users.
///
/// The indices of users and films count from 0. They are one less than the published numbers.
///
/// # Examples
///
/// ```
/// let movies = sgmcmc::datasets::ml_1m_like(50, 1)?;
/// assert_eq!((movies.users, movies.items), (6040, 3952));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MovieLens1m {
    /// 900 000 observations.
    pub train: Dataset<Ratings>,
    /// The 100 209 observations of the probe set of Salakhutdinov and Mnih.
    pub test: Dataset<Ratings>,
    /// The number of users, 6040.
    pub users: usize,
    /// One more than the largest index of a film, 3952. 3706 films have ratings.
    pub items: usize,
}

/// Reads the data set MovieLens 1M from `dir/ml-1m/ratings_notime.csv`.
///
/// The file is a table with the columns user, movie, rating and probe. The column probe is 1 for the test set.
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
/// let error = datasets::ml_1m("missing").unwrap_err();
/// assert!(error.to_string().contains("datasets::ml_1m_like"));
/// ```
pub fn ml_1m(dir: impl AsRef<Path>) -> Result<MovieLens1m> {
    let file = ORIGIN.file(dir.as_ref(), "ratings_notime.csv")?;
    let table =
        read::csv(&file).int("user", "user").int("movie", "movie").int("rating", "rating").int("probe", "probe");
    let table = table.read()?;
    let limits = [("user", 1, USERS as i64), ("movie", 1, ITEMS as i64), ("rating", 1, 5), ("probe", 0, 1)];
    let mut columns = Vec::new();
    for (column, (name, low, high)) in table.as_slice().iter().zip(limits) {
        let values = match column.values() {
            Values::I64(values) => values.to_vec(),
            _ => Vec::new(),
        };
        if let Some(row) = values.iter().position(|value| !(low..=high).contains(value)) {
            let problem =
                Problem::OutOfRange { what: name, value: values[row].to_string(), range: format!("{low} to {high}") };
            return Err(Error::at_position(&file, FilePosition::row(row as u64).column(name), problem));
        }
        columns.push(values);
    }
    let part = |probe: i64| {
        let rows: Vec<usize> = (0..columns[3].len()).filter(|row| columns[3][*row] == probe).collect();
        let ids = |column: usize| rows.iter().map(|row| columns[column][*row] - 1).collect::<Vec<_>>();
        let rating: Vec<f32> = rows.iter().map(|row| columns[2][*row] as f32).collect();
        if rows.is_empty() {
            return Err(Error::file(&file, Problem::Empty));
        }
        let leaves =
            [Column::new("user", ids(0), []), Column::new("item", ids(1), []), Column::new("rating", rating, [])];
        let leaves = leaves.into_iter().collect::<sgmcmc_gradient::Result<_>>().map_err(Error::content(&file))?;
        assemble(leaves, &Ratings::template()?, &file)
    };
    Ok(MovieLens1m { train: part(0)?, test: part(1)?, users: USERS, items: ITEMS })
}

/// Simulates `n` ratings with the columns of [`ml_1m`], from a matrix factorization of rank five with biases.
///
/// The ratings are rounded. No user rates a film twice. A tenth of the ratings are test ratings.
///
/// # Errors
///
/// Returns an error if `n` is less than 2, or more than a quarter of all pairs of users and films.
///
/// # Examples
///
/// ```
/// let movies = sgmcmc::datasets::ml_1m_like(50, 1)?;
/// assert_eq!((movies.train.observations(), movies.test.observations()), (45, 5));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn ml_1m_like(n: usize, seed: u64) -> Result<MovieLens1m> {
    check_size(n, 2..=USERS * ITEMS / 4, "use 2 to 5967520, a quarter of all pairs of users and films")?;
    let (user, item, rating) = ratings(n, USERS, ITEMS, &mut generator(seed));
    let columns =
        vec![Column::new("user", user, [])?, Column::new("item", item, [])?, Column::new("rating", rating, [])?];
    let (test, train) = Dataset::from_columns(columns)?.typed(&Ratings::template()?)?.split(n.div_ceil(10), seed)?;
    Ok(MovieLens1m { train, test, users: USERS, items: ITEMS })
}

//! A million ratings of films.

use std::path::Path;

use sgmcmc_core::Dataset;
use sgmcmc_core::data::{Column, Values};

use super::synthetic::{check_size, generator, ratings};
use super::trees::Ratings;
use super::{Origin, assemble};
use crate::error::{Error, Place, Problem, Result};
use crate::read;

const ORIGIN: Origin = Origin {
    name: "MovieLens 1M",
    folder: "ml-1m",
    from: "GroupLens Research, “MovieLens 1M Dataset”, whose terms forbid passing it on \
           (as a table user,movie,rating,probe, the last from the data published with Bayesian probabilistic matrix factorisation)",
    synthetic: "datasets::ml_1m_like",
};

const USERS: usize = 6040;
const ITEMS: usize = 3952;

/// Ratings from 1 to 5 of films by users. Users and films count from 0: one less than their published numbers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MovieLens1m {
    /// 900 000 observations.
    pub train: Dataset<Ratings>,
    /// The 100 209 observations of the probe set of Salakhutdinov and Mnih.
    pub test: Dataset<Ratings>,
    /// The number of users, 6040.
    pub users: usize,
    /// One more than the largest film, 3952; 3706 of them have ratings.
    pub items: usize,
}

/// Reads `dir/ml-1m/ratings_notime.csv`, a table with the columns user, movie, rating and probe (1 for the test set).
///
/// # Errors
///
/// If the file is not there or is damaged.
pub fn ml_1m(dir: impl AsRef<Path>) -> Result<MovieLens1m> {
    let file = ORIGIN.file(dir.as_ref(), "ratings_notime.csv")?;
    let table =
        read::csv(&file).int("user", "user").int("movie", "movie").int("rating", "rating").int("probe", "probe");
    let table = table.read()?;
    let limits = [("user", 1, USERS as i64), ("movie", 1, ITEMS as i64), ("rating", 1, 5), ("probe", 0, 1)];
    let mut columns = Vec::new();
    for (column, (name, low, high)) in table.columns().iter().zip(limits) {
        let values = match column.values() {
            Values::I64(values) => values.to_vec(),
            _ => Vec::new(),
        };
        if let Some(row) = values.iter().position(|value| !(low..=high).contains(value)) {
            let problem =
                Problem::OutOfRange { what: name, value: values[row].to_string(), range: format!("{low} to {high}") };
            return Err(Error::at(&file, Place::row(row as u64).column(name), problem));
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
        let leaves = leaves.into_iter().collect::<sgmcmc_core::Result<_>>().map_err(Error::content(&file))?;
        assemble(leaves, &Ratings::template()?, &file)
    };
    Ok(MovieLens1m { train: part(0)?, test: part(1)?, users: USERS, items: ITEMS })
}

/// `n` ratings with the columns of [`ml_1m`], a tenth of them for testing, no film rated twice by a user. They follow a
/// factorisation of rank five with biases, rounded.
///
/// # Errors
///
/// If `n` is less than 2, or more than a quarter of all pairs.
pub fn ml_1m_like(n: usize, seed: u64) -> Result<MovieLens1m> {
    check_size(n, 2..=USERS * ITEMS / 4, "use 2 to 5967520, a quarter of all pairs of users and films")?;
    let (user, item, rating) = ratings(n, USERS, ITEMS, &mut generator(seed));
    let columns =
        vec![Column::new("user", user, [])?, Column::new("item", item, [])?, Column::new("rating", rating, [])?];
    let (test, train) = Dataset::from_columns(columns)?.typed(&Ratings::template()?)?.split(n.div_ceil(10), seed)?;
    Ok(MovieLens1m { train, test, users: USERS, items: ITEMS })
}

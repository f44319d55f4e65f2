//! Data of which each rank reads its own part.
//!
//! | data | part of a rank |
//! |---|---|
//! | one mapped file per rank | [`mapped_shard`], which compares the checksums |
//! | one mapped file | [`mapped_rows`], a range of observations |
//! | one text table | [`Csv::part`](sgmcmc_storage::read::Csv::part), a range of bytes |
//! | one Parquet file | `Parquet::part`, some row groups |
//!
//! [`check_shards`] compares the parts of all ranks before a run starts.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use sgmcmc_gradient::Columns;
use sgmcmc_gradient::data::Column;
use sgmcmc_gradient::fingerprint::Fingerprinter;
use sgmcmc_storage::mapped::Mapped;

use crate::chains::part;
use crate::collective::{Collective, Error, Result, agree};

/// Maps the file `path(rank)` of this rank, and compares the checksums and the shapes of all ranks.
///
/// # Errors
///
/// Returns an error that names the rank and its file if a file is missing or damaged, or if the files differ in names, types or shapes of
/// their leaves.
///
/// # Examples
///
/// ```
/// use sgmcmc::Columns;
/// use sgmcmc::distributed::collective::on_threads;
/// use sgmcmc::distributed::input::mapped_shard;
/// use sgmcmc::storage::mapped;
///
/// let directory = std::env::temp_dir().join("sgmcmc-doc-shards");
/// std::fs::create_dir_all(&directory)?;
/// for rank in 0..2 {
///     let data = Columns::new().leaf("x", vec![rank as f32; 3], [3])?;
///     mapped::create(directory.join(format!("{rank}.mapped")), data.as_slice())?;
/// }
/// let path = |rank: usize| directory.join(format!("{rank}.mapped"));
/// let counts = on_threads(2, |ranks| Ok(mapped_shard(&*ranks, path)?.observations()))?;
/// assert_eq!(counts, [3, 3]);
///
/// std::fs::remove_file(path(1))?;
/// let error = on_threads(2, |ranks| mapped_shard(&*ranks, path).map(|_| ()));
/// assert!(error.unwrap_err().to_string().contains("rank 1 of 2"));
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn mapped_shard(ranks: &dyn Collective, path: impl Fn(usize) -> PathBuf) -> Result<Columns> {
    let file = path(ranks.rank());
    let read = || -> sgmcmc_storage::Result<Columns> {
        let mapped = Mapped::open(&file)?;
        mapped.verify()?;
        Ok(mapped.columns())
    };
    check_shards(ranks, &file.display().to_string(), read().map_err(Error::from))
}

/// Maps the observations of this rank of the file at `path`, which all ranks can read. Each rank reads the pages of its own
/// observations only.
///
/// # Errors
///
/// Returns an error that names the rank if the file is missing or has a damaged header, or if there are fewer observations than
/// ranks.
///
/// # Examples
///
/// ```
/// use sgmcmc::Columns;
/// use sgmcmc::distributed::collective::on_threads;
/// use sgmcmc::distributed::input::mapped_rows;
/// use sgmcmc::storage::mapped;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-mapped-part.mapped");
/// mapped::create(&file, Columns::new().leaf("x", vec![0.0_f32; 5], [5])?.as_slice())?;
/// let counts = on_threads(2, |ranks| Ok(mapped_rows(&*ranks, &file)?.observations()))?;
/// assert_eq!(counts, [2, 3]);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn mapped_rows(ranks: &dyn Collective, path: impl AsRef<Path>) -> Result<Columns> {
    let path = path.as_ref();
    let read = || -> sgmcmc_storage::Result<Columns> {
        let mapped = Mapped::open(path)?;
        mapped.rows(part(mapped.columns().observations(), ranks.rank(), ranks.size()))
    };
    check_shards(ranks, &path.display().to_string(), read().map_err(Error::from))
}

/// Returns the observations of this rank if all ranks have read theirs and they have the same leaves. `name` names the source in messages.
///
/// Two ranks with the same observations are logged as a warning, because they count twice.
///
/// # Errors
///
/// Returns an error that names the rank if a rank could not read its part, or has leaves with other names, types or
/// shapes.
///
/// # Examples
///
/// Each rank reads its range of bytes of one table:
///
/// ```
/// use sgmcmc::distributed::collective::{Error, on_threads};
/// use sgmcmc::distributed::input::check_shards;
/// use sgmcmc::storage::read;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-table.csv");
/// std::fs::write(&file, "x\n1\n2\n3\n4\n")?;
/// let counts = on_threads(2, |ranks| {
///     let table = read::csv(&file).float("x", "x").part(ranks.rank(), ranks.size());
///     Ok(check_shards(&*ranks, "the table", table.read().map_err(Error::from))?.observations())
/// })?;
/// assert_eq!(counts.iter().sum::<usize>(), 4);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn check_shards(ranks: &dyn Collective, name: &str, columns: Result<Columns>) -> Result<Columns> {
    let columns = agree(ranks, columns)?;
    let own = describe(columns.as_slice());
    let all = ranks.all_gather(format!("{name}\n{own}").as_bytes())?;
    let all: Vec<String> = all.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    let split = |text: &str| text.split_once('\n').map(|(name, leaves)| (name.to_owned(), leaves.to_owned()));
    let all: Vec<(String, String)> = all.iter().filter_map(|text| split(text)).collect();
    if let Some(rank) = all.iter().position(|(_, leaves)| *leaves != all[0].1) {
        let [(first, expected), (other, found)] = [&all[0], &all[rank]];
        let what =
            format!("the leaves of the data: {first} of rank 0 has {expected}, {other} of rank {rank} has {found}");
        return Err(Error::Disagreement { what, remedy: "give all ranks parts of the same data set" });
    }
    warn_of_repeated(ranks, &columns)?;
    Ok(columns)
}

/// Returns the names, types and shapes of leaves in words.
fn describe(columns: &[Column]) -> String {
    let leaf =
        |column: &Column| format!("`{}` {:?} of shape {:?}", column.name(), column.element_type(), column.row_shape());
    columns.iter().map(leaf).collect::<Vec<_>>().join(", ")
}

/// Logs a warning if two ranks have the same first observations.
fn warn_of_repeated(ranks: &dyn Collective, columns: &Columns) -> Result<()> {
    let mut hasher = Fingerprinter::new();
    for column in columns.as_slice() {
        let numbers: Vec<f64> = column.numbers().take(1000 * column.width()).collect();
        hasher.numbers(&numbers);
    }
    let own = hasher.finish();
    let all = ranks.all_gather(&own.to_le_bytes())?;
    let (rank, own) = (ranks.rank(), &all[ranks.rank()]);
    if let Some(other) = all[..rank].iter().position(|bytes| bytes == own) {
        log::warn!("ranks {other} and {rank} begin with the same observations, which then count twice");
    }
    Ok(())
}

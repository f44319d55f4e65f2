//! Results that all ranks share.

use std::fmt;

use super::{Collective, Error, Result};

/// Returns the value of this rank if all ranks have one. If a rank has an error, all ranks return an error that names it.
///
/// All ranks must call it.
///
/// # Errors
///
/// Returns the own error of a rank that has one, and [`Error::RankFailed`] on the other ranks.
///
/// # Examples
///
/// ```
/// use sgmcmc::distributed::collective::{Error, agree, on_threads};
///
/// let sum = on_threads(2, |ranks| {
///     let found: Result<usize, Error> = Ok(ranks.rank());
///     agree(ranks.as_ref(), found)
/// })?;
/// assert_eq!(sum, [0, 1]);
/// # Ok::<(), Error>(())
/// ```
pub fn agree<T, E: fmt::Display + From<Error>>(
    ranks: &dyn Collective,
    result: std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    let message = result.as_ref().err().map_or_else(String::new, ToString::to_string);
    let all = ranks.all_gather(message.as_bytes())?;
    let value = result?;
    match all.iter().position(|message| !message.is_empty()) {
        None => Ok(value),
        Some(rank) => {
            let message = String::from_utf8_lossy(&all[rank]).into_owned();
            Err(Error::RankFailed { rank, size: ranks.size(), message }.into())
        }
    }
}

/// Checks that all ranks have the same `value` of the setting `what`.
///
/// # Errors
///
/// Returns an error that names a rank with another value.
pub(crate) fn check_same(ranks: &dyn Collective, what: &str, value: &str) -> Result<()> {
    let all = ranks.all_gather(value.as_bytes())?;
    match all.iter().position(|other| *other != all[0]) {
        None => Ok(()),
        Some(rank) => {
            let [first, other] = [0, rank].map(|rank| String::from_utf8_lossy(&all[rank]).into_owned());
            let what = format!("{what}: rank 0 has {first}, rank {rank} has {other}");
            Err(Error::Disagreement { what, remedy: "use the same settings on all ranks" })
        }
    }
}

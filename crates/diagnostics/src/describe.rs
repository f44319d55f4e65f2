//! All columns of a summary row, from one sort of the draws.

use std::ops::Range;

use rayon::prelude::*;

use crate::sample::Sample;

/// The row of one value in a summary, with the columns of `summary` in ArviZ 1.x.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::describe;
///
/// let row = describe(&[[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]]);
/// assert_eq!((row.mean, row.eti89_lb, row.eti89_ub), (2.5, 1.0, 4.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The lower bound of the equal-tailed interval of probability 89 % (the quantile at 0.055).
    pub eti89_lb: f64,
    /// The upper bound of that interval (the quantile at 0.945).
    pub eti89_ub: f64,
    /// The effective sample size of the bulk.
    pub ess_bulk: f64,
    /// The effective sample size of the tails.
    pub ess_tail: f64,
    /// Rank-normalized split R-hat.
    pub r_hat: f64,
    /// The Monte Carlo standard error of the mean.
    pub mcse_mean: f64,
    /// The Monte Carlo standard error of the standard deviation.
    pub mcse_sd: f64,
}

/// Computes the summary row of one value from its draws in all chains.
///
/// Mean, standard deviation and interval use all draws. If chains differ in length, the other columns use the chains
/// truncated to the shortest.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::describe;
///
/// let row = describe(&[[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0]]);
/// assert_eq!(row.mean, 2.5);
/// assert!((row.sd - (10.0_f64 / 7.0).sqrt()).abs() < 1e-14);
/// ```
pub fn describe<C: AsRef<[f64]>>(chains: &[C]) -> Description {
    let truncated = Sample::new(chains);
    let draws = chains.iter().map(|chain| chain.as_ref().len()).sum();
    with_all_draws(&truncated, draws, || Sample::new(&[chains.iter().map(AsRef::as_ref).collect::<Vec<_>>().concat()]))
}

/// Computes the summary row of one value from its draws in all chains and a weight for each draw.
///
/// Equal weights give exactly the result of [`describe`].
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::describe_weighted;
///
/// let row = describe_weighted(&[[1.0, 2.0, 3.0, 4.0]], &[[1.0, 1.0, 1.0, 3.0]]);
/// assert_eq!(row.mean, 3.0);
/// ```
pub fn describe_weighted<C: AsRef<[f64]>, W: AsRef<[f64]>>(chains: &[C], weights: &[W]) -> Description {
    let truncated = Sample::weighted(chains, weights);
    let draws: usize = chains.iter().map(|chain| chain.as_ref().len()).sum();
    let joined = || {
        let pairs = chains.iter().zip(weights).flat_map(|(chain, weights)| chain.as_ref().iter().zip(weights.as_ref()));
        let (draws, weights): (Vec<f64>, Vec<f64>) = pairs.unzip();
        Sample::weighted(&[draws], &[weights])
    };
    with_all_draws(&truncated, draws, joined)
}

/// Computes the summary rows of all values of a fit, on all threads of the current `rayon` pool.
///
/// A chain is a row-major table with one row of `width` values per draw. `weights` has a weight for each draw of each
/// chain; `None` means equal weights. Incomplete rows are ignored.
///
/// # Examples
///
/// ```
/// use sgmcmc::diagnostics::describe_all;
///
/// // One chain of four draws of two values.
/// let rows = describe_all(&[[1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0]], 2, None);
/// assert_eq!((rows[0].mean, rows[1].mean), (2.5, 25.0));
/// ```
pub fn describe_all<C: AsRef<[f64]> + Sync>(
    chains: &[C],
    width: usize,
    weights: Option<&[&[f64]]>,
) -> Vec<Description> {
    /// The number of columns per task. Neighboring columns share cache lines, and consecutive rows are far apart in
    /// memory.
    const COLUMNS_PER_TASK: usize = 32;
    let tables: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
    let firsts: Vec<usize> = (0..width).step_by(COLUMNS_PER_TASK).collect();
    let lengths: Vec<usize> = tables.iter().map(|table| table.len().checked_div(width).unwrap_or(0)).collect();
    // The common length of the chains, if they have one and there are no weights.
    let length =
        lengths.first().filter(|first| weights.is_none() && **first > 0 && lengths.iter().all(|n| n == *first));
    let block = |first: usize| {
        let columns = columns(&tables, width, first..width.min(first + COLUMNS_PER_TASK));
        columns.into_iter().map(|column| match (length, weights) {
            (Some(length), _) => Sample::from_parts(column, None, lengths.len(), *length).describe(),
            (None, None) => describe(&split(&column, &lengths)),
            (None, Some(weights)) => describe_weighted(&split(&column, &lengths), weights),
        })
    };
    firsts.into_par_iter().flat_map_iter(block).collect()
}

/// Returns the columns `range` of row-major tables with `width` columns. Each column is concatenated over all tables.
fn columns(tables: &[&[f64]], width: usize, range: Range<usize>) -> Vec<Vec<f64>> {
    /// The number of rows per block, chosen so that a block of a column fills one cache line.
    const ROWS: usize = 8;
    let length = tables.iter().map(|table| table.len() / width).sum();
    let mut columns: Vec<Vec<f64>> = range.clone().map(|_| Vec::with_capacity(length)).collect();
    for table in tables {
        let mut groups = table.chunks_exact(ROWS * width);
        for group in &mut groups {
            for (column, index) in columns.iter_mut().zip(range.clone()) {
                let values: [f64; ROWS] = std::array::from_fn(|row| group[row * width + index]);
                column.extend_from_slice(&values);
            }
        }
        for row in groups.remainder().chunks_exact(width) {
            columns.iter_mut().zip(&row[range.clone()]).for_each(|(column, value)| column.push(*value));
        }
    }
    columns
}

/// Splits a column into chains of the given lengths.
fn split<'c>(column: &'c [f64], lengths: &[usize]) -> Vec<&'c [f64]> {
    let mut rest = column;
    let mut next = |length: &usize| rest.split_off(..*length).unwrap_or_default();
    lengths.iter().map(&mut next).collect()
}

/// Describes the truncated sample. If draws were truncated, mean, standard deviation and interval are of all draws.
fn with_all_draws(truncated: &Sample, draws: usize, joined: impl FnOnce() -> Sample) -> Description {
    let description = truncated.describe();
    if truncated.chains() * truncated.length() == draws {
        return description;
    }
    let joined = joined();
    Description {
        mean: joined.mean(),
        sd: joined.sd(),
        eti89_lb: joined.quantile(LOWER),
        eti89_ub: joined.quantile(UPPER),
        ..description
    }
}

/// The probabilities of the bounds of the interval, computed as in ArviZ.
const LOWER: f64 = (1.0 - 0.89) / 2.0;
const UPPER: f64 = 1.0 - LOWER;

impl Sample {
    /// Computes all columns of the summary row.
    pub fn describe(&self) -> Description {
        let (eti89_lb, eti89_ub) = (self.quantile(LOWER), self.quantile(UPPER));
        let squares = self.squared_deviations();
        let (mean, sd) = (self.mean(), self.sd_from_squares(&squares));
        if !self.is_valid(1) {
            let (ess_bulk, ess_tail, r_hat, mcse_mean, mcse_sd) = (f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN);
            return Description { mean, sd, eti89_lb, eti89_ub, ess_bulk, ess_tail, r_hat, mcse_mean, mcse_sd };
        }
        let scores = self.bulk_scores();
        Description {
            mean,
            sd,
            eti89_lb,
            eti89_ub,
            ess_bulk: self.effective_size(&scores),
            ess_tail: self.ess_tail(),
            r_hat: self.r_hat_from_scores(&scores),
            mcse_mean: sd / self.ess_mean().sqrt(),
            mcse_sd: self.mcse_sd_from_squares(&squares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::autoregression;
    use crate::{ess_bulk, ess_tail, mcse_mean, mcse_sd, r_hat};

    fn chains() -> Vec<Vec<f64>> {
        (0..3).map(|seed| autoregression(0.6, 301, seed)).collect()
    }

    #[test]
    fn a_description_has_the_values_of_the_single_diagnostics() {
        let chains = chains();
        let found = describe(&chains);
        assert_eq!(found.ess_bulk.to_bits(), ess_bulk(&chains).to_bits());
        assert_eq!(found.ess_tail.to_bits(), ess_tail(&chains).to_bits());
        assert_eq!(found.r_hat.to_bits(), r_hat(&chains).to_bits());
        assert_eq!(found.mcse_mean.to_bits(), mcse_mean(&chains).to_bits());
        assert_eq!(found.mcse_sd.to_bits(), mcse_sd(&chains).to_bits());
    }

    #[test]
    fn equal_weights_change_nothing_and_nearly_equal_ones_little() {
        let chains = chains();
        assert_eq!(describe(&chains), describe_weighted(&chains, &vec![vec![0.3; 301]; 3]));
        let mut weights = vec![vec![0.3; 301]; 3];
        weights[1][7] *= 1.0 + 1e-9;
        let (plain, weighted) = (describe(&chains), describe_weighted(&chains, &weights));
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-6, "{plain:?} {weighted:?}");
        near(plain.mean, weighted.mean);
        near(plain.sd, weighted.sd);
        near(plain.eti89_lb, weighted.eti89_lb);
        near(plain.eti89_ub, weighted.eti89_ub);
        near(plain.ess_bulk, weighted.ess_bulk);
        near(plain.r_hat, weighted.r_hat);
        near(plain.mcse_mean, weighted.mcse_mean);
        near(plain.mcse_sd, weighted.mcse_sd);
        near(plain.ess_tail, weighted.ess_tail);
    }

    #[test]
    fn the_mean_uses_all_draws_of_chains_of_different_lengths() {
        let mut chains = chains();
        chains[2].truncate(200);
        let found = describe(&chains);
        let all = chains.concat();
        assert!((found.mean - all.iter().sum::<f64>() / all.len() as f64).abs() < 1e-14);
        let cut: Vec<&[f64]> = chains.iter().map(|chain| &chain[..200]).collect();
        assert_eq!(found.r_hat.to_bits(), r_hat(&cut).to_bits());
    }

    #[test]
    fn every_column_of_a_table_is_described() {
        let columns: Vec<Vec<Vec<f64>>> =
            (0..11).map(|c| (0..2).map(|m| autoregression(0.3, 50, c + 20 * m)).collect()).collect();
        let table = |chain: usize| -> Vec<f64> { (0..550).map(|i| columns[i % 11][chain][i / 11]).collect() };
        let tables = [table(0), table(1)];
        let expected: Vec<Description> = columns.iter().map(|chains| describe(chains)).collect();
        assert_eq!(describe_all(&tables, 11, None), expected);
        let weights = [&[2.0; 50][..], &[2.0; 50]];
        assert_eq!(describe_all(&tables, 11, Some(&weights)), expected);
        assert!(describe_all(&tables, 0, None).is_empty());
        // Chains of different lengths, without draws, and no chains at all.
        let cut = [&tables[0][..], &tables[1][..110], &[]];
        let expected: Vec<Description> =
            columns.iter().map(|chains| describe(&[&chains[0][..], &chains[1][..10], &[]])).collect();
        assert_eq!(describe_all(&cut, 11, None), expected);
        for none in [vec![], vec![vec![]]] {
            let found = describe_all::<Vec<f64>>(&none, 2, None);
            assert!(found.len() == 2 && found.iter().all(|row| row.mean.is_nan() && row.r_hat.is_nan()));
        }
    }
}

//! All that a line of a summary says of a value, from one sort of its draws.

use std::ops::Range;

use rayon::prelude::*;

use crate::sample::Sample;

/// The columns of ArviZ 1.x's `summary`, of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The lower end of the equal-tailed interval that holds 89 % (the quantile at 0.055).
    pub eti89_lb: f64,
    /// Its upper end (the quantile at 0.945).
    pub eti89_ub: f64,
    /// The effective sample size of the bulk.
    pub ess_bulk: f64,
    /// The effective sample size of the tails.
    pub ess_tail: f64,
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
    /// The Monte Carlo standard error of the mean.
    pub mcse_mean: f64,
    /// The Monte Carlo standard error of the standard deviation.
    pub mcse_sd: f64,
}

/// Describes the draws of one value in all chains.
///
/// Mean, sd and interval are of all draws; if chains differ in length, the rest is of all chains cut to the shortest.
pub fn describe<C: AsRef<[f64]>>(chains: &[C]) -> Description {
    let cut = Sample::new(chains);
    let all = chains.iter().map(|chain| chain.as_ref().len()).sum();
    finish(&cut, all, || Sample::new(&[chains.iter().map(AsRef::as_ref).collect::<Vec<_>>().concat()]))
}

/// Describes the draws of one value in all chains, with a weight for each draw; equal weights give what [`describe`] gives.
pub fn describe_weighted<C: AsRef<[f64]>, W: AsRef<[f64]>>(chains: &[C], weights: &[W]) -> Description {
    let cut = Sample::weighted(chains, weights);
    let all: usize = chains.iter().map(|chain| chain.as_ref().len()).sum();
    let joined = || {
        let pairs = chains.iter().zip(weights).flat_map(|(chain, weights)| chain.as_ref().iter().zip(weights.as_ref()));
        let (draws, weights): (Vec<f64>, Vec<f64>) = pairs.unzip();
        Sample::weighted(&[draws], &[weights])
    };
    finish(&cut, all, joined)
}

/// Describes every value of a fit, on all threads of the current `rayon` pool.
///
/// A chain is a table row by row, `width` values a draw; `weights` has a weight for each draw of each chain, or nothing for equal weights. Rows that
/// are not complete are left out.
pub fn describe_all<C: AsRef<[f64]> + Sync>(
    chains: &[C],
    width: usize,
    weights: Option<&[&[f64]]>,
) -> Vec<Description> {
    /// Values taken at a time: a row's values stand side by side in memory, and the next row's on another page.
    const TOGETHER: usize = 32;
    let tables: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
    let firsts: Vec<usize> = (0..width).step_by(TOGETHER).collect();
    let lengths: Vec<usize> = tables.iter().map(|table| table.len().checked_div(width).unwrap_or(0)).collect();
    // The length of all chains, if they have one and no weights.
    let length =
        lengths.first().filter(|first| weights.is_none() && **first > 0 && lengths.iter().all(|n| n == *first));
    let block = |first: usize| {
        let columns = columns(&tables, width, first..width.min(first + TOGETHER));
        columns.into_iter().map(|column| match (length, weights) {
            (Some(length), _) => Sample::of(column, None, lengths.len(), *length).describe(),
            (None, None) => describe(&pieces(&column, &lengths)),
            (None, Some(weights)) => describe_weighted(&pieces(&column, &lengths), weights),
        })
    };
    firsts.into_par_iter().flat_map_iter(block).collect()
}

/// The columns `range` of `tables` of `width` values a row, each over all tables one after another.
fn columns(tables: &[&[f64]], width: usize, range: Range<usize>) -> Vec<Vec<f64>> {
    /// Rows taken at a time: as many numbers of a column as come into the cache together.
    const ROWS: usize = 8;
    let length = tables.iter().map(|table| table.len() / width).sum();
    let mut columns: Vec<Vec<f64>> = range.clone().map(|_| Vec::with_capacity(length)).collect();
    for table in tables {
        let mut groups = table.chunks_exact(ROWS * width);
        for group in &mut groups {
            for (column, place) in columns.iter_mut().zip(range.clone()) {
                let values: [f64; ROWS] = std::array::from_fn(|row| group[row * width + place]);
                column.extend_from_slice(&values);
            }
        }
        for row in groups.remainder().chunks_exact(width) {
            columns.iter_mut().zip(&row[range.clone()]).for_each(|(column, value)| column.push(*value));
        }
    }
    columns
}

/// A column cut into chains of these lengths.
fn pieces<'c>(column: &'c [f64], lengths: &[usize]) -> Vec<&'c [f64]> {
    let mut rest = column;
    let mut piece = |length: &usize| rest.split_off(..*length).unwrap_or_default();
    lengths.iter().map(&mut piece).collect()
}

/// The description, with mean, sd and interval of all draws if some were cut.
fn finish(cut: &Sample, all: usize, joined: impl FnOnce() -> Sample) -> Description {
    let description = cut.describe();
    if cut.chains() * cut.length() == all {
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

/// The ends of the interval, as ArviZ computes them.
const LOWER: f64 = (1.0 - 0.89) / 2.0;
const UPPER: f64 = 1.0 - LOWER;

impl Sample {
    /// All that a line of a summary says.
    pub fn describe(&self) -> Description {
        let (eti89_lb, eti89_ub) = (self.quantile(LOWER), self.quantile(UPPER));
        let squares = self.squared_deviations();
        let (mean, sd) = (self.mean(), self.sd_of(&squares));
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
            r_hat: self.r_hat_of(&scores),
            mcse_mean: sd / self.ess_mean().sqrt(),
            mcse_sd: self.mcse_sd_of(&squares),
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
    fn a_description_is_its_parts() {
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
    fn shorter_chains_cost_no_draws_of_the_mean() {
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
            assert!(found.len() == 2 && found.iter().all(|line| line.mean.is_nan() && line.r_hat.is_nan()));
        }
    }
}

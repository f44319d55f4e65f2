//! The draws of one chain and their statistics.

use serde::{Deserialize, Serialize};
use sgmcmc_gradient::{Error, Result, memory};

use crate::draw::Draw;

/// The draws of one chain, with the statistics that the algorithm recorded for each draw.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::ChainDraws;
/// use sgmcmc::sink::Draw;
///
/// let mut chain = ChainDraws::new(2, vec!["acceptance_rate".into()]);
/// chain.push(&Draw { iteration: 1, values: &[0.5, 1.5], weight: 1.0, log_posterior: -3.0, stats: &[0.8] })?;
/// assert_eq!(chain.element(1), [1.5]);
/// assert_eq!(chain.stat("acceptance_rate"), Some(&[0.8][..]));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct ChainDraws {
    width: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
    log_posterior: Vec<f64>,
    iterations: Vec<u64>,
    stat_names: Vec<String>,
    /// The statistics, one column per name.
    stats: Vec<Vec<f64>>,
}

impl ChainDraws {
    /// Creates a chain without draws. Each draw will have `width` values and the statistics with the names `stats`.
    pub fn new(width: usize, stats: Vec<String>) -> Self {
        Self::with_capacity(0, width, stats)
    }

    /// Creates a chain without draws and allocates memory for `draws` draws.
    pub fn with_capacity(draws: usize, width: usize, stats: Vec<String>) -> Self {
        Self {
            width,
            values: memory::with_capacity(draws * width),
            weights: Vec::with_capacity(draws),
            log_posterior: Vec::with_capacity(draws),
            iterations: Vec::with_capacity(draws),
            stats: stats.iter().map(|_| Vec::with_capacity(draws)).collect(),
            stat_names: stats,
        }
    }

    /// Appends a draw.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of values or of statistics differs from that of the chain.
    pub fn push(&mut self, draw: &Draw<'_>) -> Result<()> {
        check("the values of a draw", self.width, draw.values.len())?;
        check("the stats of a draw", self.stats.len(), draw.stats.len())?;
        self.values.extend_from_slice(draw.values);
        self.weights.push(draw.weight);
        self.log_posterior.push(draw.log_posterior);
        self.iterations.push(draw.iteration);
        self.stats.iter_mut().zip(draw.stats).for_each(|(column, value)| column.push(*value));
        Ok(())
    }

    /// Returns the number of draws.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Returns whether the chain has no draws.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Returns the number of values per draw.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns an iterator over the draws. Each item is the flat vector of parameter values.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.values.chunks_exact(self.width.max(1))
    }

    /// Returns the draws of the value with this index. Returns an empty vector if the index is out of range.
    pub fn element(&self, index: usize) -> Vec<f64> {
        if index < self.width { self.rows().map(|row| row[index]).collect() } else { Vec::new() }
    }

    /// Returns the weight of each draw.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns the estimate of the log density that was computed with the gradient of each draw.
    pub fn log_posterior(&self) -> &[f64] {
        &self.log_posterior
    }

    /// Returns the iteration of each draw. The first iteration is 1.
    pub fn iterations(&self) -> &[u64] {
        &self.iterations
    }

    /// Returns the names and values of the statistics, for instance thermostats or the `alpha` of the sampling threshold.
    pub fn stats(&self) -> impl ExactSizeIterator<Item = (&str, &[f64])> {
        self.stat_names.iter().map(String::as_str).zip(self.stats.iter().map(Vec::as_slice))
    }

    /// Returns the values of the statistic `name`, or `None` if it was not recorded.
    pub fn stat(&self, name: &str) -> Option<&[f64]> {
        self.stats().find(|(known, _)| *known == name).map(|(_, column)| column)
    }

    /// Returns the values of all draws in row-major order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the names of the statistics.
    pub fn stat_names(&self) -> &[String] {
        &self.stat_names
    }
}

impl ChainDraws {
    /// Returns the draws with these indices, in this order.
    pub(super) fn only(&self, indices: &[usize]) -> Self {
        let pick = |values: &[f64]| indices.iter().map(|index| values[*index]).collect();
        let row = |index: &usize| self.values[index * self.width..(index + 1) * self.width].iter().copied();
        Self {
            width: self.width,
            values: indices.iter().flat_map(row).collect(),
            weights: pick(&self.weights),
            log_posterior: pick(&self.log_posterior),
            iterations: indices.iter().map(|index| self.iterations[*index]).collect(),
            stat_names: self.stat_names.clone(),
            stats: self.stats.iter().map(|column| pick(column)).collect(),
        }
    }

    /// Gives all draws the mean weight.
    pub(crate) fn equalize_weights(&mut self) {
        let mean = self.weights.iter().sum::<f64>() / self.weights.len().max(1) as f64;
        self.weights.fill(mean);
    }

    /// Returns the draws from index `first` to the end.
    pub(crate) fn since(&self, first: usize) -> Self {
        self.only(&(first..self.len()).collect::<Vec<_>>())
    }

    /// Appends the draws of `more`.
    ///
    /// # Errors
    ///
    /// Returns an error if the number of values or the names of the statistics differ.
    pub(crate) fn extend(&mut self, more: &Self) -> Result<()> {
        check("the values of stored draws", self.width, more.width)?;
        if self.stat_names != more.stat_names {
            let reason =
                format!("its draws come with {:?}, but those of this run with {:?}", more.stat_names, self.stat_names);
            return Err(Error::Checkpoint { reason });
        }
        self.values.extend_from_slice(&more.values);
        self.weights.extend_from_slice(&more.weights);
        self.log_posterior.extend_from_slice(&more.log_posterior);
        self.iterations.extend_from_slice(&more.iterations);
        self.stats.iter_mut().zip(&more.stats).for_each(|(column, more)| column.extend_from_slice(more));
        Ok(())
    }

    /// Returns the draw with this index. Its statistics are written to `stats`.
    pub(super) fn draw<'a>(&'a self, index: usize, stats: &'a mut Vec<f64>) -> Draw<'a> {
        stats.clear();
        stats.extend(self.stats.iter().map(|column| column[index]));
        Draw {
            iteration: self.iterations[index],
            values: &self.values[index * self.width..(index + 1) * self.width],
            weight: self.weights[index],
            log_posterior: self.log_posterior[index],
            stats,
        }
    }
}

/// Checks a length.
fn check(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// Deserialized draws whose columns may differ in length.
#[derive(Deserialize)]
struct Unchecked {
    width: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
    log_posterior: Vec<f64>,
    iterations: Vec<u64>,
    stat_names: Vec<String>,
    stats: Vec<Vec<f64>>,
}

impl TryFrom<Unchecked> for ChainDraws {
    type Error = Error;

    fn try_from(read: Unchecked) -> Result<Self> {
        let Unchecked { width, values, weights, log_posterior, iterations, stat_names, stats } = read;
        let draws = weights.len();
        check("the stored values of a chain", draws.saturating_mul(width), values.len())?;
        check("the stored log posteriors of a chain", draws, log_posterior.len())?;
        check("the stored iterations of a chain", draws, iterations.len())?;
        check("the stored stats of a chain", stat_names.len(), stats.len())?;
        stats.iter().try_for_each(|column| check("a stored stat of a chain", draws, column.len()))?;
        Ok(Self { width, values, weights, log_posterior, iterations, stat_names, stats })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain() -> ChainDraws {
        let mut chain = ChainDraws::new(2, vec!["alpha".into()]);
        for k in 0..3 {
            let x = f64::from(k);
            let draw = Draw { iteration: 1, values: &[x, -x], weight: 0.5, log_posterior: -x, stats: &[0.1 * x] };
            chain.push(&draw).unwrap();
        }
        chain
    }

    #[test]
    fn columns_are_what_was_pushed() {
        let chain = chain();
        assert_eq!(chain.element(1), [-0.0, -1.0, -2.0]);
        assert_eq!(chain.element(2), [0.0; 0]);
        assert_eq!(chain.stat("alpha"), Some(&[0.0, 0.1, 0.2][..]));
        assert_eq!(chain.stat("beta"), None);
    }

    #[test]
    fn draws_of_another_length_are_refused() {
        let draw = Draw { iteration: 1, values: &[0.0], weight: 1.0, log_posterior: 0.0, stats: &[0.0] };
        assert!(chain().push(&draw).unwrap_err().to_string().contains("length 1, expected 2"));
        let draw = Draw { values: &[0.0; 2], stats: &[], ..draw };
        assert!(chain().push(&draw).unwrap_err().to_string().contains("length 0, expected 1"));
    }

    #[test]
    fn chains_that_do_not_fit_together_are_not_read() {
        let bytes = crate::codec::encode(&chain()).unwrap();
        assert_eq!(crate::codec::decode::<ChainDraws>(&bytes).unwrap(), chain());
        let short = ChainDraws { iterations: vec![1], ..chain() };
        let error = crate::codec::decode::<ChainDraws>(&crate::codec::encode(&short).unwrap()).unwrap_err();
        assert!(error.to_string().contains("length 1, expected 3"), "{error}");
    }
}

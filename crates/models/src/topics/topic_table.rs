//! Topics: distributions over the words of a vocabulary.

use sgmcmc_gradient::{Error, Result};

use super::corpus::Document;
use super::table::{Block, LANES, Table, in_blocks};

/// The number of fixed-point iterations for the topics of a document.
const ITERATIONS: usize = 200;

/// K distributions over V words, such as one draw of a topic model.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::topics::{Document, Topics};
///
/// let topics = Topics::from_values(&[0.9, 0.1, 0.2, 0.8], 2, 2)?;
/// assert_eq!((topics.len(), topics.words()), (2, 2));
/// assert_eq!(topics.top_words(1, 1), [1]);
/// let proportions = topics.proportions(&Document::from_tokens([0, 0, 0]), &[0.1, 0.1])?;
/// assert!(proportions[0] > 0.8);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Topics {
    table: Table,
}

impl Topics {
    /// Creates topics from probabilities in the order of topics: the element `topic` V + `word`.
    ///
    /// # Errors
    ///
    /// Returns an error if there are not K V values.
    pub fn from_values(values: &[f64], topics: usize, words: usize) -> Result<Self> {
        if values.len() != topics.saturating_mul(words) || values.is_empty() {
            let expected = topics.saturating_mul(words);
            return Err(Error::Length { what: "the list of topics", expected, found: values.len() });
        }
        let mut table = Table::zeros(words, topics);
        table.fill(|word, topic| values[topic * words + word] as f32);
        Ok(Self { table })
    }

    pub(super) fn from_table(table: Table) -> Self {
        Self { table }
    }

    /// Returns the number of topics.
    pub fn len(&self) -> usize {
        self.table.topics()
    }

    /// Returns whether there are no topics.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of words.
    pub fn words(&self) -> usize {
        self.table.words()
    }

    /// Returns the probability of a word in a topic, or 0 if there is no such word or topic.
    pub fn probability(&self, topic: usize, word: u32) -> f64 {
        match topic < self.len() && (word as usize) < self.words() {
            true => f64::from(self.table.get(word as usize, topic)),
            false => 0.0,
        }
    }

    /// Returns the probabilities of all words in a topic.
    pub fn topic(&self, topic: usize) -> impl Iterator<Item = f64> + '_ {
        (0..self.words()).map(move |word| self.probability(topic, word as u32))
    }

    /// Returns the numbers of the `count` most probable words of a topic, the most probable first.
    pub fn top_words(&self, topic: usize, count: usize) -> Vec<u32> {
        let mut words: Vec<u32> = (0..self.words() as u32).collect();
        words.sort_by(|a, b| self.probability(topic, *b).total_cmp(&self.probability(topic, *a)));
        words.truncate(count);
        words
    }

    /// Returns all probabilities in the order of topics.
    pub fn values(&self) -> Vec<f64> {
        (0..self.len()).flat_map(|topic| self.topic(topic)).collect()
    }

    /// Returns the proportions of the topics in a document: the fixed point of θ_k ∝ α_k + Σ_w n_w E[z = k | θ, w],
    /// after 200 iterations from equal proportions.
    ///
    /// # Errors
    ///
    /// Returns an error if there is not one α per topic, or if a word is outside the vocabulary.
    pub fn proportions(&self, document: &Document, alpha: &[f64]) -> Result<Vec<f64>> {
        if alpha.len() != self.len() {
            return Err(Error::Length { what: "the list of α", expected: self.len(), found: alpha.len() });
        }
        self.check(document)?;
        let theta = self.fixed_point(document, &in_blocks(alpha));
        Ok((0..self.len()).map(|topic| f64::from(theta[topic / LANES][topic % LANES])).collect())
    }

    /// Checks that the words of a document are in the vocabulary.
    pub(super) fn check(&self, document: &Document) -> Result<()> {
        match document.iter().map(|(word, _)| word as usize).max() {
            Some(row) if row >= self.words() => Err(Error::RowOutOfRange { row, observations: self.words() }),
            _ => Ok(()),
        }
    }

    /// Returns the proportions of the topics in a document whose words are in the vocabulary.
    pub(super) fn fixed_point(&self, document: &Document, alpha: &[Block]) -> Vec<Block> {
        let equal = 1.0 / self.len() as f64;
        let mut theta = in_blocks(&vec![equal; self.len()]);
        let mut next = alpha.to_vec();
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for _ in 0..ITERATIONS {
                    next.copy_from_slice(alpha);
                    for (word, count) in document.iter() {
                        let row = self.table.row(word as usize);
                        let total = dot(&theta, row);
                        let factor = if total > 0.0 { count as f32 / total } else { 0.0 };
                        for ((next, theta), row) in next.iter_mut().zip(&theta).zip(row) {
                            for ((next, theta), phi) in next.iter_mut().zip(theta).zip(row) {
                                *next += factor * theta * phi;
                            }
                        }
                    }
                    let sum: f32 = next.iter().flatten().sum();
                    for (theta, next) in theta.iter_mut().zip(&next) {
                        for (theta, next) in theta.iter_mut().zip(next) {
                            *theta = next / sum;
                        }
                    }
                }
            },
        );
        theta
    }

    /// Returns the probability of a word of the vocabulary in a document with the proportions `theta`.
    pub(super) fn mixture(&self, theta: &[Block], word: u32) -> f64 {
        let products = theta.iter().flatten().zip(self.table.row(word as usize).iter().flatten());
        products.map(|(theta, phi)| f64::from(*theta) * f64::from(*phi)).sum()
    }
}

#[inline(always)]
fn dot(left: &[Block], right: &[Block]) -> f32 {
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    sums.iter().sum()
}

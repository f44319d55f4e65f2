//! The draw of the topic of one token.
//!
//! The weights of all topics are computed, eight at a time and without branches. For K topics this takes K/8 steps of
//! vector instructions, which for a few hundred topics is faster than samplers that use the sparsity of the counts.

use rand::Rng;
use sgmcmc_gradient::rng::StreamRng;

use super::table::{Block, LANES};

/// A drawn topic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picked {
    pub(super) topic: usize,
    /// The sum of the weights of all topics.
    pub(super) total: f32,
}

/// Draws a uniform number from [0, 1) with 23 bits, so that its product with a number is below that number.
#[inline(always)]
pub(super) fn uniform(rng: &mut StreamRng) -> f32 {
    (rng.next_u64() >> 41) as f32 * (1.0 / (1 << 23) as f32)
}

/// Draws a topic with weights `left` · (`right` + `beta`), of `topics` topics. `sums` is working memory. All slices have
/// the same length.
///
/// Each of the eight lanes has the running sum of its topics. The lane is chosen by the sums of the lanes, and the
/// topic by the running sums of the lane.
#[inline(always)]
pub(super) fn pick(left: &[Block], right: &[Block], beta: f32, sums: &mut [Block], u: f32, topics: usize) -> Picked {
    let blocks = left.len();
    let (right, sums) = (&right[..blocks], &mut sums[..blocks]);
    let mut lanes = [0.0; LANES];
    for ((left, right), sum) in left.iter().zip(right).zip(sums.iter_mut()) {
        for ((lane, left), right) in lanes.iter_mut().zip(left).zip(right) {
            *lane += left * (right + beta);
        }
        *sum = lanes;
    }
    // The running sums of the lanes, as a tree of depth three.
    let [a, b, c, d, e, f, g, h] = lanes;
    let (ab, cd, ef, gh) = (a + b, c + d, e + f, g + h);
    let (abcd, efgh) = (ab + cd, ef + gh);
    let abcdef = abcd + ef;
    let total = abcd + efgh;
    let ends = [a, ab, ab + c, abcd, abcd + e, abcdef, abcdef + g];
    let target = u * total;
    let lane: usize = ends.iter().map(|end| usize::from(target >= *end)).sum();
    let below = [0.0, ends[0], ends[1], ends[2], ends[3], ends[4], ends[5], ends[6]][lane];
    let rest = target - below;
    let block: usize = sums[..blocks - 1].iter().map(|sum| usize::from(rest >= sum[lane])).sum();
    // Padding has no weight, but rounding can lead to it, with a probability of the order of the rounding of the sums.
    Picked { topic: (block * LANES + lane).min(topics - 1), total }
}

/// The sum of the logarithms of many small numbers, with few calls of the logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogProduct {
    product: f64,
    log: f64,
}

impl LogProduct {
    pub(super) fn new() -> Self {
        Self { product: 1.0, log: 0.0 }
    }

    #[inline(always)]
    pub(super) fn multiply(&mut self, factor: f32) {
        self.product *= f64::from(factor);
        if self.product < 1e-200 {
            self.log += self.product.max(f64::MIN_POSITIVE).ln();
            self.product = 1.0;
        }
    }

    pub(super) fn log(&self) -> f64 {
        self.log + self.product.max(f64::MIN_POSITIVE).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::table::in_blocks;
    use rand::SeedableRng;

    /// Returns the frequencies of the topics in `draws` draws.
    fn frequencies(left: &[f64], right: &[f64], beta: f32, draws: usize) -> Vec<f64> {
        let mut rng = StreamRng::seed_from_u64(7);
        let (blocks, mut counts) = (in_blocks(left), vec![0.0; left.len()]);
        let mut sums = blocks.clone();
        for _ in 0..draws {
            let picked = pick(&blocks, &in_blocks(right), beta, &mut sums, uniform(&mut rng), left.len());
            counts[picked.topic] += 1.0 / draws as f64;
        }
        counts
    }

    #[test]
    fn topics_have_their_probabilities() {
        for topics in [1, 2, 3, 8, 9, 20, 100] {
            let left: Vec<f64> = (0..topics).map(|k| 0.1 + ((k * 7) % 5) as f64).collect();
            let right: Vec<f64> = (0..topics).map(|k| ((k * 3) % 4) as f64).collect();
            let weights: Vec<f64> = left.iter().zip(&right).map(|(l, r)| l * (r + 0.25)).collect();
            let total: f64 = weights.iter().sum();
            let draws = 200_000;
            for (topic, found) in frequencies(&left, &right, 0.25, draws).into_iter().enumerate() {
                let p = weights[topic] / total;
                let error = (p * (1.0 - p) / draws as f64).sqrt();
                assert!((found - p).abs() <= 4.5 * error + 1e-9, "{topics} topics, topic {topic}: {found} against {p}");
            }
        }
    }

    #[test]
    fn the_largest_uniform_number_has_a_topic_with_weight() {
        let mut sums = vec![[0.0; LANES]; 3];
        for topics in 1..24 {
            let left = in_blocks(&vec![0.3; topics]);
            let right = in_blocks(&vec![0.7; topics]);
            let picked = pick(&left, &right, 0.0, &mut sums, 1.0 - 1.0 / (1 << 23) as f32, topics);
            assert!(picked.topic < topics);
            assert!((f64::from(picked.total) - 0.21 * topics as f64).abs() < 1e-5);
        }
    }

    #[test]
    fn logarithms_of_products_are_sums() {
        let mut product = LogProduct::new();
        (1..1000).for_each(|i| product.multiply(1e-6 * i as f32));
        let exact: f64 = (1..1000).map(|i| f64::from(1e-6 * i as f32).ln()).sum();
        assert!((product.log() - exact).abs() < 1e-8 * exact.abs());
    }
}

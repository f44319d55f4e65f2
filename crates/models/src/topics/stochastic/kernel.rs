//! Transitions of the topics given estimated counts.
//!
//! Parameters and counts are in the order of words: element w K + k belongs to word w and topic k.

use rand::RngExt;
use rand_distr::StandardNormal;
use sgmcmc_gradient::Result;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_samplers::simplex::CirTransition;

use super::settings::TopicKernel;
use crate::topics::blocked::{FLOOR, normalize};
use crate::topics::log_gamma::LogGamma;
use crate::topics::table::Table;

/// The state at which a transition starts: estimated counts, the parameters β of the prior, and the step size.
#[derive(Debug)]
pub(super) struct Transition<'a> {
    pub(super) counts: &'a [f64],
    pub(super) beta: &'a [f64],
    pub(super) topics: usize,
    pub(super) h: f64,
    /// True if the counts are a draw given all documents, so that the scale of SCIR can be drawn exactly.
    pub(super) exact: bool,
}

impl TopicKernel {
    /// Returns the expanded parameters of topics drawn from the Dirichlet distribution with parameter 1.
    pub(super) fn start(self, beta: &[f64], topics: usize, tokens: f64, rng: &mut StreamRng) -> Vec<f64> {
        let prior: f64 = beta.iter().sum();
        // The sum of the parameters of a topic in the stationary distribution.
        let scale = match self {
            Self::Scir => prior + tokens / topics as f64,
            Self::Sgrld | Self::Sgld => prior,
        };
        let mut theta = vec![0.0; beta.len() * topics];
        LogGamma::new().draw_all(&mut theta, |_| 1.0, rng);
        let log_scale = (scale / beta.len() as f64).ln();
        theta.iter_mut().for_each(|x| *x += log_scale);
        if self == Self::Sgrld {
            theta.iter_mut().for_each(|x| *x = x.exp());
        }
        theta
    }

    /// Writes the topics of the parameters `theta` into `phi`.
    pub(super) fn topics(self, theta: &[f64], phi: &mut Table) {
        match self {
            Self::Scir | Self::Sgld => normalize(theta, phi),
            Self::Sgrld => {
                let topics = phi.topics();
                let sums = sums(theta, topics);
                phi.fill(|word, topic| (theta[word * topics + topic] / sums[topic]).max(FLOOR) as f32);
            }
        }
    }

    /// Moves the parameters.
    ///
    /// # Errors
    ///
    /// Returns an error if the step size is not positive and finite.
    pub(super) fn step(self, theta: &mut [f64], from: &Transition<'_>, rng: &mut StreamRng) -> Result<()> {
        match self {
            Self::Scir => from.scir(theta, rng),
            Self::Sgrld => {
                from.sgrld(theta, rng);
                Ok(())
            }
            Self::Sgld => {
                from.sgld(theta, rng);
                Ok(())
            }
        }
    }
}

impl Transition<'_> {
    /// Moves log θ by the exact transition of the CIR process.
    fn scir(&self, theta: &mut [f64], rng: &mut StreamRng) -> Result<()> {
        if self.exact {
            self.draw_scales(theta, rng);
        }
        let transition = CirTransition::new(self.h)?;
        for ((theta, counts), beta) in
            theta.chunks_exact_mut(self.topics).zip(self.counts.chunks_exact(self.topics)).zip(self.beta)
        {
            for (log_theta, count) in theta.iter_mut().zip(counts) {
                // Control variates can make the estimate of a small count negative.
                *log_theta = transition.step(*log_theta, beta + count.max(0.0), rng);
            }
        }
        Ok(())
    }

    /// Draws the sum of θ over the words of each topic from Gamma(Σβ + N_k, 1), its distribution given the tokens, and
    /// keeps the topics. After the tokens have changed, the old sum is not a draw from this distribution.
    fn draw_scales(&self, theta: &mut [f64], rng: &mut StreamRng) {
        let prior: f64 = self.beta.iter().sum();
        let totals = sums(self.counts, self.topics);
        let mut largest = vec![f64::NEG_INFINITY; self.topics];
        for row in theta.chunks_exact(self.topics) {
            largest.iter_mut().zip(row).for_each(|(largest, x)| *largest = largest.max(*x));
        }
        let mut scaled = vec![0.0; self.topics];
        for row in theta.chunks_exact(self.topics) {
            scaled.iter_mut().zip(row).zip(&largest).for_each(|((sum, x), largest)| *sum += (x - largest).exp());
        }
        let gamma = LogGamma::new();
        let shifts: Vec<f64> = (0..self.topics)
            .map(|topic| gamma.draw(prior + totals[topic], rng) - largest[topic] - scaled[topic].ln())
            .collect();
        for row in theta.chunks_exact_mut(self.topics) {
            row.iter_mut().zip(&shifts).for_each(|(x, shift)| *x += shift);
        }
    }

    /// Moves θ by a step of SGRLD in the expanded-mean parameterization, with mirroring.
    fn sgrld(&self, theta: &mut [f64], rng: &mut StreamRng) {
        let scales = sums(theta, self.topics);
        let totals = sums(self.counts, self.topics);
        for ((theta, counts), beta) in
            theta.chunks_exact_mut(self.topics).zip(self.counts.chunks_exact(self.topics)).zip(self.beta)
        {
            for (topic, (theta, count)) in theta.iter_mut().zip(counts).enumerate() {
                let x = *theta;
                let drift = beta - x + count - x / scales[topic] * totals[topic];
                let noise: f64 = rng.sample(StandardNormal);
                *theta = (x + 0.5 * self.h * drift + (self.h * x).sqrt() * noise).abs();
            }
        }
    }

    /// Moves θ by a step of SGLD in the expanded-natural parameterization.
    fn sgld(&self, theta: &mut [f64], rng: &mut StreamRng) {
        let mut scales = vec![0.0; self.topics];
        for row in theta.chunks_exact(self.topics) {
            scales.iter_mut().zip(row).for_each(|(scale, x)| *scale += x.exp());
        }
        let totals = sums(self.counts, self.topics);
        for ((theta, counts), beta) in
            theta.chunks_exact_mut(self.topics).zip(self.counts.chunks_exact(self.topics)).zip(self.beta)
        {
            for (topic, (theta, count)) in theta.iter_mut().zip(counts).enumerate() {
                let power = theta.exp();
                let drift = beta - power + count - power / scales[topic] * totals[topic];
                let noise: f64 = rng.sample(StandardNormal);
                *theta += 0.5 * self.h * drift + self.h.sqrt() * noise;
            }
        }
    }
}

/// Returns the sums over the words of each topic.
fn sums(values: &[f64], topics: usize) -> Vec<f64> {
    let mut sums = vec![0.0; topics];
    for row in values.chunks_exact(topics) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    sums
}

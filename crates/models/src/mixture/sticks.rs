//! Stick breaks: the weights of the components.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use sgmcmc_gradient::Result;
use sgmcmc_gradient::rng::StreamRng;

use super::update::{Evidence, Update, draw_dirichlet};

/// A break v of the stick of probability, wⱼ = vⱼ Π_{l<j} (1 − v_l), as a probability vector (v, 1 − v).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Stick {
    /// log v and log(1 − v).
    log_parts: [f64; 2],
    log_total: f64,
}

/// The number of observations of a component and of all later components.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tail {
    pub(super) own: f64,
    pub(super) later: f64,
}

impl Stick {
    /// Draws a break given counts: v ~ Beta(1 + own, α + later).
    pub(super) fn draw(alpha: f64, counts: Tail, rng: &mut StreamRng) -> Self {
        let mut log_parts = [0.0; 2];
        let shapes = [1.0 + counts.own, alpha + counts.later];
        let log_total = draw_dirichlet(shapes.into_iter(), &mut log_parts, rng);
        Self { log_parts, log_total }
    }

    /// Draws a break of the posterior Dirichlet process, whose weights of the occupied components and of all others are
    /// Dirichlet(m₁, …, m_K, α): v ~ Beta(own, α + later). The break of an empty component is 0.
    pub(super) fn draw_posterior(alpha: f64, counts: Tail, rng: &mut StreamRng) -> Self {
        if counts.own <= 0.0 {
            return Self { log_parts: [f64::NEG_INFINITY, 0.0], log_total: 0.0 };
        }
        let mut log_parts = [0.0; 2];
        let log_total = draw_dirichlet([counts.own, alpha + counts.later].into_iter(), &mut log_parts, rng);
        Self { log_parts, log_total }
    }

    /// Moves the break by `update`.
    pub(super) fn update(
        &mut self,
        update: Update,
        alpha: f64,
        estimate: Tail,
        stored: Tail,
        rng: &mut StreamRng,
    ) -> Result<()> {
        let evidence = Evidence {
            prior: &[1.0, alpha],
            estimate: &[estimate.own, estimate.later],
            stored: &[stored.own, stored.later],
        };
        update.apply(&mut self.log_parts, &mut self.log_total, evidence, rng)
    }

    /// Returns log v.
    pub(super) fn log_break(&self) -> f64 {
        self.log_parts[0]
    }

    /// Returns log(1 − v).
    pub(super) fn log_remaining_weight(&self) -> f64 {
        self.log_parts[1]
    }
}

/// Returns the counts of every component and its later ones.
pub(super) fn tails(counts: &[f64]) -> Vec<Tail> {
    let mut later = 0.0;
    let mut tails: Vec<Tail> = counts
        .iter()
        .rev()
        .map(|own| {
            let tail = Tail { own: *own, later };
            later += own;
            tail
        })
        .collect();
    tails.reverse();
    tails
}

/// Writes the log weights of the components into `log_weights` and returns the log of the remaining weight.
pub(super) fn log_weights(sticks: &[Stick], log_weights: &mut Vec<f64>) -> f64 {
    log_weights.clear();
    let mut log_remaining_weight = 0.0;
    for stick in sticks {
        log_weights.push(log_remaining_weight + stick.log_break());
        log_remaining_weight += stick.log_remaining_weight();
    }
    log_remaining_weight
}

/// Exchanges labels of components, so that the order of the sticks mixes.
///
/// The allocations of two occupied components are exchanged with probability min(1, (w_a/w_b)^{m_b − m_a}), and
/// occupied neighbors with their breaks with probability min(1, (1 − v_{j+1})^{m_j}/(1 − v_j)^{m_{j+1}}) (Papaspiliopoulos &
/// Roberts 2008; Hastie, Liverani & Richardson 2015). Both leave the posterior invariant. `relabel[j]` is the new label
/// of component j.
pub(super) fn exchange_labels(sticks: &mut [Stick], counts: &[f64], rng: &mut StreamRng) -> Vec<usize> {
    let length = sticks.len();
    // Only occupied components are exchanged: otherwise the last occupied position could change, and with it the
    // proposals, so that the reverse of an exchange could have another probability.
    let occupied = |component: usize| counts[component] > 0.0;
    // The component at each position of the stick.
    let mut order: Vec<usize> = (0..length).collect();
    let mut weights = Vec::with_capacity(length);
    log_weights(sticks, &mut weights);
    for _ in 0..length {
        let (a, b) = (rng.random_range(0..length), rng.random_range(0..length));
        let log_ratio = (weights[a] - weights[b]) * (counts[order[b]] - counts[order[a]]);
        if occupied(order[a]) && occupied(order[b]) && rng.random::<f64>().ln() < log_ratio {
            order.swap(a, b);
        }
    }
    for _ in 1..length {
        let j = rng.random_range(0..length - 1);
        let log_ratio = counts[order[j]] * sticks[j + 1].log_remaining_weight()
            - counts[order[j + 1]] * sticks[j].log_remaining_weight();
        if occupied(order[j]) && occupied(order[j + 1]) && rng.random::<f64>().ln() < log_ratio {
            sticks.swap(j, j + 1);
            order.swap(j, j + 1);
        }
    }
    let mut relabel = vec![0; length];
    order.iter().enumerate().for_each(|(position, component)| relabel[*component] = position);
    relabel
}

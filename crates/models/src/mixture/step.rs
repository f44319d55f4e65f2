//! The step of the slice sampler.

use rand::RngExt;
use rand_distr::Exp1;
use sgmcmc_gradient::minibatch::Scheme;
use sgmcmc_gradient::rng::StreamRng;
use sgmcmc_gradient::{Error, Result};

use super::family::Family;
use super::random::log_sum_exp;
use super::sampler::{Scratch, SliceSampler, State};
use super::sticks::{self, Stick, Tail, tails};

/// The largest number of components that a step may create.
const MAX_COMPONENTS: usize = 1 << 20;

impl<F: Family> SliceSampler<F> {
    /// Performs one step.
    ///
    /// # Errors
    ///
    /// Returns an error if a step needs too many components or the distribution of a component is degenerate.
    pub fn step(&mut self) -> Result<()> {
        if let (Some(minibatch), Some(scheme)) = (&self.settings.minibatch, &mut self.state.scheme) {
            minibatch.draw(scheme, self.state.rng.minibatch(), &mut self.batch);
        }
        self.move_sticks()?;
        self.move_components()?;
        let last_of_pass = self.is_last_of_pass();
        if last_of_pass {
            self.relabel();
        }
        self.slice()?;
        self.allocate();
        if last_of_pass {
            // Sums that grow and shrink by single observations collect rounding errors.
            self.count(self.state.components.len());
        }
        self.truncate();
        self.state.iterations += 1;
        self.locate();
        self.keep();
        Ok(())
    }

    /// Returns `true` if this step completes a pass over the data.
    fn is_last_of_pass(&self) -> bool {
        let pass = self.state.allocations.len().div_ceil(self.batch.rows.len().max(1)) as u64;
        (self.state.iterations + 1).is_multiple_of(pass)
    }

    /// Returns the number of observations that each observation of the minibatch represents.
    fn weight(&self) -> f64 {
        self.state.allocations.len() as f64 / self.batch.rows.len() as f64
    }

    /// Moves the concentration and the sticks.
    fn move_sticks(&mut self) -> Result<()> {
        let (weight, update, prior) = (self.weight(), self.settings.sticks, self.settings.concentration);
        let State { allocations, counts, sticks, concentration, rng, .. } = &mut self.state;
        let rng = rng.noise();
        let stored = tails(counts);
        if !update.uses_minibatch() {
            // The weights are drawn anew, so that they can be integrated out here.
            let occupied = counts.iter().filter(|count| **count > 0.0).count();
            *concentration = prior.given_clusters(*concentration, occupied, allocations.len(), rng);
            for (stick, stored) in sticks.iter_mut().zip(stored) {
                *stick = Stick::draw_posterior(*concentration, stored, rng);
            }
            return Ok(());
        }
        let mut estimate = vec![0.0; counts.len()];
        self.batch.rows.iter().for_each(|row| estimate[allocations[*row] as usize] += weight);
        for ((stick, estimate), stored) in sticks.iter_mut().zip(tails(&estimate)).zip(stored) {
            stick.update(update, *concentration, estimate, stored, rng)?;
        }
        *concentration = prior.given_sticks(*concentration, sticks.iter().map(Stick::log_remaining_weight), rng);
        Ok(())
    }

    /// Moves the components.
    fn move_components(&mut self) -> Result<()> {
        let (weight, update, family) = (self.weight(), self.settings.components, &self.family);
        let State { allocations, components, statistics, rng, .. } = &mut self.state;
        if !update.uses_minibatch() {
            for (component, stored) in components.iter_mut().zip(statistics) {
                *component = family.draw(stored, rng.noise())?;
            }
            return Ok(());
        }
        let mut estimates = vec![family.no_statistics(); components.len()];
        for row in &self.batch.rows {
            family.add(&mut estimates[allocations[*row] as usize], &self.data, *row, weight);
        }
        for ((component, estimate), stored) in components.iter_mut().zip(&estimates).zip(statistics) {
            family.update(update, component, estimate, stored, rng.noise())?;
        }
        Ok(())
    }

    /// Exchanges labels, see [`sticks::exchange_labels`], or moves empty components to the end if their order does not
    /// matter, because the weights are drawn anew in each step.
    fn relabel(&mut self) {
        let State { allocations, counts, sticks, components, statistics, rng, .. } = &mut self.state;
        let relabel = if self.settings.sticks.uses_minibatch() {
            sticks::exchange_labels(sticks, counts, rng.noise())
        } else {
            let relabel = occupied_first(counts);
            permute(sticks, &relabel);
            relabel
        };
        allocations.iter_mut().for_each(|z| *z = relabel[*z as usize] as u32);
        permute(counts, &relabel);
        permute(components, &relabel);
        permute(statistics, &relabel);
        self.truncate();
    }

    /// Draws the slices of the minibatch, and further sticks and components as far as the slices need them.
    fn slice(&mut self) -> Result<()> {
        let Scratch { log_weights, log_slices, .. } = &mut self.scratch;
        let State { allocations, counts, sticks, components, statistics, concentration, rng, .. } = &mut self.state;
        let mut log_remaining_weight = sticks::log_weights(sticks, log_weights);
        log_slices.clear();
        log_slices.extend(self.batch.rows.iter().map(|row| {
            let exponential: f64 = rng.noise().sample(Exp1);
            log_weights[allocations[*row] as usize] - exponential
        }));
        let smallest = log_slices.iter().copied().fold(f64::INFINITY, f64::min);
        while log_remaining_weight >= smallest {
            if sticks.len() >= MAX_COMPONENTS {
                return Err(Error::Setting {
                    name: "the number of components that a step needs",
                    value: format!("above {MAX_COMPONENTS}, with the concentration {concentration:.3e}"),
                    expected: "use a prior of the concentration with a smaller mean",
                });
            }
            let stick = Stick::draw(*concentration, Tail::default(), rng.noise());
            log_weights.push(log_remaining_weight + stick.log_break());
            log_remaining_weight += stick.log_remaining_weight();
            let empty = self.family.no_statistics();
            components.push(self.family.draw(&empty, rng.noise())?);
            sticks.push(stick);
            counts.push(0.0);
            statistics.push(empty);
        }
        Ok(())
    }

    /// Draws the allocations of the minibatch.
    fn allocate(&mut self) {
        let weight = self.weight();
        let (family, data) = (&*self.family, &*self.data);
        let Scratch { log_weights, log_slices, candidates, log_probabilities } = &mut self.scratch;
        let State { allocations, counts, components, statistics, log_likelihood, rng, .. } = &mut self.state;
        let mut sum = 0.0;
        for (row, log_slice) in self.batch.rows.iter().zip(log_slices.iter()) {
            candidates.clear();
            log_probabilities.clear();
            for (index, component) in components.iter().enumerate() {
                if log_weights[index] >= *log_slice {
                    candidates.push(index);
                    log_probabilities.push(family.log_density(component, data, *row));
                }
            }
            let chosen = choose(log_probabilities, rng.noise());
            sum += log_probabilities[chosen];
            let (old, new) = (allocations[*row] as usize, candidates[chosen]);
            if old != new {
                allocations[*row] = new as u32;
                counts[old] -= 1.0;
                counts[new] += 1.0;
                family.add(&mut statistics[old], data, *row, -1.0);
                family.add(&mut statistics[new], data, *row, 1.0);
            }
        }
        *log_likelihood = weight * sum;
    }

    /// Keeps the mixture if its iteration is one of those to record.
    fn keep(&mut self) {
        if self.settings.record.includes(self.state.iterations) {
            let mut draw = self.mixture();
            if !self.settings.record.allocations {
                draw.allocations = Vec::new();
            }
            self.record.push(draw);
        }
    }
}

/// Returns new labels that have the occupied components first, in the same order.
fn occupied_first(counts: &[f64]) -> Vec<usize> {
    let occupied = counts.iter().filter(|count| **count > 0.0).count();
    let (mut next, mut next_empty) = (0, occupied);
    let mut label = |count: &f64| {
        let next = if *count > 0.0 { &mut next } else { &mut next_empty };
        *next += 1;
        *next - 1
    };
    counts.iter().map(&mut label).collect()
}

/// Moves `items[j]` to `relabel[j]`.
fn permute<T>(items: &mut Vec<T>, relabel: &[usize]) {
    let mut pairs: Vec<(usize, T)> = relabel.iter().copied().zip(items.drain(..)).collect();
    pairs.sort_by_key(|(label, _)| *label);
    items.extend(pairs.into_iter().map(|(_, item)| item));
}

/// Draws an index with probability ∝ exp `log_probabilities`.
fn choose(log_probabilities: &[f64], rng: &mut StreamRng) -> usize {
    let last = log_probabilities.len() - 1;
    if last == 0 {
        return 0;
    }
    let log_total = log_sum_exp(log_probabilities);
    let mut rest: f64 = rng.random();
    for (index, log_probability) in log_probabilities.iter().enumerate() {
        rest -= (log_probability - log_total).exp();
        if rest < 0.0 {
            return index;
        }
    }
    last
}

//! Ranks of true values among posterior draws, for simulation-based calibration.

use std::fmt;

use rand::{Rng, RngExt};
use sgmcmc_diagnostics::distance::ks_one_sample;
use sgmcmc_gradient::{Error, Result};

/// The probability that [`Calibration::passed`] is false for a correct sampler.
const FALSE_ALARM: f64 = 0.01;

/// The number of tests of each value.
const TESTS: f64 = 2.0;

/// The ranks of true values among posterior draws over many simulated data sets (Talts et al. 2018).
///
/// If the draws have the distribution of the posterior, each rank is uniform.
///
/// # Examples
///
/// ```
/// use sgmcmc::fit::Calibration;
/// use sgmcmc::rng::ChainRng;
///
/// let mut calibration = Calibration::new(vec!["theta".into()], 3);
/// let draws = vec![vec![0.5], vec![1.5], vec![2.5]];
/// calibration.push(&[2.0], &draws, ChainRng::new(1, 0).noise());
/// assert_eq!(calibration.counts("theta", 4)?, [0, 0, 1, 0]);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    draws: usize,
    values: Vec<Ranks>,
}

/// The ranks of one value.
#[derive(Clone, Debug, PartialEq)]
struct Ranks {
    name: String,
    ranks: Vec<usize>,
    /// The randomized ranks (rank + U)/(draws + 1), uniform on (0, 1) if the sampler is calibrated.
    uniform: Vec<f64>,
}

/// The p-values of two tests of uniformity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTest {
    /// The p-value of the ranks, which is small if the draws are shifted.
    pub shift: f64,
    /// The p-value of the distances of the ranks from the middle, which is small if the spread of the draws is wrong.
    pub spread: f64,
}

impl RankTest {
    /// Returns the smaller p-value.
    pub fn smallest(self) -> f64 {
        self.shift.min(self.spread)
    }
}

impl Calibration {
    /// Creates an empty record for values with these names. Each true value will be ranked among `draws` draws.
    pub fn new(names: Vec<String>, draws: usize) -> Self {
        let empty = |name| Ranks { name, ranks: Vec::new(), uniform: Vec::new() };
        Self { draws, values: names.into_iter().map(empty).collect() }
    }

    /// Adds the ranks of the true values among the draws, one row of values for each draw. Ties are broken at random.
    pub fn push(&mut self, truth: &[f64], draws: &[Vec<f64>], rng: &mut dyn Rng) {
        for (index, (ranks, truth)) in self.values.iter_mut().zip(truth).enumerate() {
            let values = || draws.iter().filter_map(|row| row.get(index));
            let below = values().filter(|value| *value < truth).count();
            let equal = values().filter(|value| value.total_cmp(truth).is_eq()).count();
            let rank = below + if equal > 0 { rng.random_range(0..=equal) } else { 0 };
            ranks.ranks.push(rank);
            ranks.uniform.push((rank as f64 + rng.random::<f64>()) / (self.draws + 1) as f64);
        }
    }

    /// Returns the names of the values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|ranks| ranks.name.as_str())
    }

    /// Returns the number of simulated data sets.
    pub fn simulations(&self) -> usize {
        self.values.first().map_or(0, |ranks| ranks.ranks.len())
    }

    /// Returns the number of draws among which each true value is ranked.
    pub fn ranked_draws(&self) -> usize {
        self.draws
    }

    /// Returns the ranks of the value `name`, from zero to the number of ranked draws.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn ranks(&self, name: &str) -> Result<&[usize]> {
        self.value(name).map(|ranks| ranks.ranks.as_slice())
    }

    /// Returns the number of ranks of the value `name` in each of `bins` bins of equal width, for `plot::calibration` of
    /// the report.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn counts(&self, name: &str, bins: usize) -> Result<Vec<usize>> {
        let bins = bins.max(1);
        let mut counts = vec![0; bins];
        for rank in &self.value(name)?.ranks {
            counts[(rank * bins / (self.draws + 1)).min(bins - 1)] += 1;
        }
        Ok(counts)
    }

    /// Tests the ranks of the value `name` for uniformity with two Kolmogorov-Smirnov tests.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such value.
    pub fn test(&self, name: &str) -> Result<RankTest> {
        self.value(name).map(Ranks::test)
    }

    /// Returns the smallest p-value over all values, corrected for their number (Bonferroni).
    pub fn p_value(&self) -> f64 {
        let smallest = self.values.iter().map(|ranks| ranks.test().smallest()).fold(1.0, f64::min);
        (smallest * TESTS * self.values.len() as f64).min(1.0)
    }

    /// Returns whether no test rejects uniformity. A correct sampler fails with probability 1 %.
    pub fn passed(&self) -> bool {
        self.p_value() >= FALSE_ALARM
    }

    fn value(&self, name: &str) -> Result<&Ranks> {
        self.values.iter().find(|ranks| ranks.name == name).ok_or_else(|| {
            let known: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
            Error::UnknownParameter { name: name.to_owned(), known: known.join(", ") }
        })
    }
}

impl Ranks {
    fn test(&self) -> RankTest {
        let uniform = |x: f64| x.clamp(0.0, 1.0);
        let folded: Vec<f64> = self.uniform.iter().map(|u| (2.0 * u - 1.0).abs()).collect();
        RankTest {
            shift: ks_one_sample(&self.uniform, uniform).p_value,
            spread: ks_one_sample(&folded, uniform).p_value,
        }
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (simulations, draws) = (self.simulations(), self.draws);
        let verdict = if self.passed() { "ranks are uniform" } else { "ranks are NOT uniform" };
        writeln!(
            f,
            "simulation-based calibration, {simulations} simulations, ranks among {draws} draws: {verdict} (corrected \
             p-value {:.3})",
            self.p_value()
        )?;
        let width = self.names().map(str::len).max().unwrap_or(0);
        for ranks in &self.values {
            let RankTest { shift, spread } = ranks.test();
            writeln!(f, "  {:<width$}  shift p {shift:.3}, spread p {spread:.3}", ranks.name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::StandardNormal;
    use sgmcmc_gradient::ChainRng;

    /// Ranks of draws from N(0, 1) among draws from N(shift, width).
    fn calibration(shift: f64, width: f64) -> Calibration {
        let mut rng = ChainRng::new(1, 0);
        let mut calibration = Calibration::new(vec!["x".into()], 39);
        for _ in 0..300 {
            let truth: f64 = rng.noise().sample(StandardNormal);
            let draw = |_| vec![shift + width * rng.noise().sample::<f64, _>(StandardNormal)];
            let draws: Vec<Vec<f64>> = (0..39).map(draw).collect();
            calibration.push(&[truth], &draws, rng.minibatch());
        }
        calibration
    }

    #[test]
    fn calibrated_ranks_pass_and_others_do_not() {
        let right = calibration(0.0, 1.0);
        assert!(right.passed(), "{right}");
        assert_eq!(right.counts("x", 10).unwrap().iter().sum::<usize>(), 300);
        assert!(calibration(0.5, 1.0).test("x").unwrap().shift < 1e-5);
        for width in [1.5, 0.67] {
            let wrong = calibration(0.0, width);
            assert!(wrong.test("x").unwrap().spread < 1e-5 && !wrong.passed(), "{wrong}");
        }
        assert!(right.test("y").unwrap_err().to_string().contains("the parameters are `x`"));
    }

    #[test]
    fn equal_values_have_random_ranks() {
        let mut calibration = Calibration::new(vec!["k".into()], 9);
        let mut rng = ChainRng::new(2, 0);
        (0..500).for_each(|_| calibration.push(&[1.0], &vec![vec![1.0]; 9], rng.noise()));
        assert!(calibration.passed(), "{calibration}");
    }
}

//! Differences of two fits: the same draws, or the same posterior within Monte Carlo error.

use std::fmt;

use sgmcmc_diagnostics::Description;
use sgmcmc_gradient::text::printable;

use crate::Fit;
use crate::text::count;

/// The probability that two fits of the same posterior are reported to differ.
const LEVEL: f64 = 0.01;
/// The largest number of values that `Display` lists.
const LISTED: usize = 10;

/// The difference of one value between two fits.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueDifference {
    /// The name of the value.
    pub name: String,
    /// The means in the two fits.
    pub means: [f64; 2],
    /// The standard deviations in the two fits.
    pub sds: [f64; 2],
    /// The difference of the means in Monte Carlo standard errors.
    pub mean_z: f64,
    /// The difference of the logarithms of the standard deviations in Monte Carlo standard errors.
    pub sd_z: f64,
}

impl ValueDifference {
    fn new(name: &str, one: &Description, other: &Description) -> Self {
        let ratio = |difference: f64, a: f64, b: f64| {
            let error = a.hypot(b);
            // Constant values have no Monte Carlo error.
            if difference.abs() <= 0.0 { 0.0 } else { difference / error }
        };
        let relative = |row: &Description| row.mcse_sd / row.sd;
        Self {
            name: name.to_owned(),
            means: [one.mean, other.mean],
            sds: [one.sd, other.sd],
            mean_z: ratio(other.mean - one.mean, one.mcse_mean, other.mcse_mean),
            sd_z: ratio((other.sd / one.sd).ln(), relative(one), relative(other)),
        }
    }

    /// Returns the larger absolute value of the two differences. NaN counts as infinite.
    fn size(&self) -> f64 {
        let size = self.mean_z.abs().max(self.sd_z.abs());
        if self.mean_z.is_nan() || self.sd_z.is_nan() { f64::INFINITY } else { size }
    }
}

/// The differences of two fits; see [`Fit::difference`].
#[derive(Clone, Debug, PartialEq)]
pub struct FitDifference {
    /// True if all draws of the common values are equal, bit for bit.
    pub same_draws: bool,
    /// The differences of the common values, the largest first.
    pub values: Vec<ValueDifference>,
    /// The names of the values that only one of the fits has: those of this fit, then those of the other.
    pub unmatched: [Vec<String>; 2],
    /// The number of Monte Carlo standard errors above which a difference is reported.
    pub threshold: f64,
}

impl Fit {
    /// Compares this fit with `other`: are the draws the same, and if not, do the posteriors agree within Monte Carlo error?
    ///
    /// Means and standard deviations of values of the same name are compared in units of their Monte Carlo errors. The
    /// threshold is such that two fits of one posterior differ anywhere with a probability of at most 1 %.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let run = |seed| hmc(&model, &Dataset::none(), 0.5).seed(seed).chains(2).sample(&zeros([2]), 500);
    /// let (one, again, other) = (run(1)?, run(1)?, run(2)?);
    /// assert!(one.difference(&again).same_draws);
    /// assert!(!one.difference(&other).same_draws && one.difference(&other).agrees());
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn difference(&self, other: &Self) -> FitDifference {
        let (mine, theirs) = (self.summary(), other.summary());
        let positions: std::collections::HashMap<&str, usize> =
            theirs.names().iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let (mut values, mut unmatched, mut pairs) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
        for (index, (name, row)) in mine.named_rows().enumerate() {
            match positions.get(name) {
                Some(position) => {
                    values.push(ValueDifference::new(name, row, &theirs.rows()[*position]));
                    pairs.push((index, *position));
                }
                None => unmatched[0].push(name.to_owned()),
            }
        }
        let matched: std::collections::HashSet<usize> = pairs.iter().map(|pair| pair.1).collect();
        unmatched[1].extend(
            theirs
                .names()
                .iter()
                .enumerate()
                .filter(|(index, _)| !matched.contains(index))
                .map(|(_, name)| name.clone()),
        );
        values.sort_by(|a, b| b.size().total_cmp(&a.size()));
        let equal = |(a, b): (&crate::ChainDraws, &crate::ChainDraws)| {
            let rows = || a.rows().zip(b.rows());
            a.len() == b.len() && rows().all(|(a, b)| pairs.iter().all(|(i, j)| a[*i].to_bits() == b[*j].to_bits()))
        };
        let same_draws = self.chains.len() == other.chains.len()
            && self.chains.iter().zip(&other.chains).all(equal)
            && !pairs.is_empty();
        let threshold = sgmcmc_diagnostics::normal_quantile(1.0 - LEVEL / (4 * values.len().max(1)) as f64);
        FitDifference { same_draws, values, unmatched, threshold }
    }
}

impl FitDifference {
    /// Returns whether both fits have the same values, and all agree within Monte Carlo error.
    pub fn agrees(&self) -> bool {
        let named = self.unmatched.iter().all(Vec::is_empty) && !self.values.is_empty();
        named && (self.same_draws || self.above().next().is_none())
    }

    /// Returns the values that differ by more than the threshold.
    fn above(&self) -> impl Iterator<Item = &ValueDifference> {
        self.values.iter().filter(|value| value.size() > self.threshold)
    }
}

impl fmt::Display for FitDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (names, whose) in self.unmatched.iter().zip(["the first", "the second"]) {
            if !names.is_empty() {
                let shown: Vec<String> = names.iter().take(LISTED).map(|name| printable(name).into_owned()).collect();
                let more = if names.len() > LISTED { ", …" } else { "" };
                writeln!(f, "only {whose} fit has {}: {}{more}", count(names.len(), "value"), shown.join(", "))?;
            }
        }
        let all = count(self.values.len(), "common value");
        if self.values.is_empty() {
            return write!(f, "the fits have no common value");
        }
        if self.same_draws {
            return write!(f, "the draws of {all} are the same, bit for bit");
        }
        let above: Vec<&ValueDifference> = self.above().collect();
        let worst = &self.values[0];
        if above.is_empty() {
            return write!(
                f,
                "the draws differ, and the means and standard deviations of {all} agree within Monte Carlo error \
                 (largest difference {:.1} standard errors, in {}; threshold {:.1})",
                worst.size(),
                printable(&worst.name),
                self.threshold
            );
        }
        write!(
            f,
            "{} of {all} {} by more than {:.1} Monte Carlo standard errors",
            above.len(),
            if above.len() == 1 { "differs" } else { "differ" },
            self.threshold
        )?;
        for value in above.iter().take(LISTED) {
            let ValueDifference { name, means, sds, mean_z, sd_z } = value;
            write!(
                f,
                "\n  {}: mean {:.6} and {:.6} ({mean_z:+.1} errors), sd {:.6} and {:.6} ({sd_z:+.1} errors)",
                printable(name),
                means[0],
                means[1],
                sds[0],
                sds[1]
            )?;
        }
        if above.len() > LISTED {
            write!(f, "\n  and {} more", above.len() - LISTED)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use sgmcmc_gradient::Layout;

    use super::*;
    use crate::ChainDraws;
    use crate::sink::Draw;

    /// A fit of `width` normal values with this mean and standard deviation.
    fn fit(width: usize, seed: u64, mean: f64, sd: f64) -> Fit {
        let mut rng = rand::rngs::StdRng::seed_from_u64(seed);
        let mut chain = |_| {
            let mut chain = ChainDraws::new(width, vec![]);
            for iteration in 1..=1000 {
                let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
                let values: Vec<f64> = (0..width).map(|_| mean + sd * normal()).collect();
                chain.push(&Draw { iteration, values: &values, weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
            }
            chain
        };
        Fit::new(Layout::vector("x", width), (0..2).map(&mut chain).collect()).unwrap()
    }

    #[test]
    fn fits_of_one_posterior_rarely_differ() {
        let wrong =
            (0..40_u64).filter(|seed| !fit(5, 2 * seed, 0.0, 1.0).difference(&fit(5, 2 * seed + 1, 0.0, 1.0)).agrees());
        // The level is 1 %, and more than three of 40 have a probability of 0.1 %.
        assert!(wrong.count() <= 3);
    }

    #[test]
    fn other_means_and_standard_deviations_are_reported() {
        let one = fit(3, 1, 0.0, 1.0);
        let same = one.difference(&one);
        assert!(same.same_draws && same.agrees() && same.to_string().contains("bit for bit"));
        for other in [fit(3, 2, 0.5, 1.0), fit(3, 2, 0.0, 1.5)] {
            let difference = one.difference(&other);
            assert!(!difference.agrees() && difference.to_string().starts_with("3 of 3 common values differ"));
        }
        let shorter = one.difference(&fit(2, 1, 0.0, 1.0));
        assert!(!shorter.agrees() && shorter.to_string().contains("only the first fit has 1 value: x[2]"), "{shorter}");
        assert!(!shorter.same_draws);
    }
}

//! Probability integral transforms of leave-one-out cross-validation.

use rayon::prelude::*;
use sgmcmc_diagnostics::loo::psis;
use sgmcmc_gradient::{Error, Result};

use crate::{ChainDraws, Fit};

impl Fit {
    /// Returns the leave-one-out probability integral transform of every observation of a variable: the probability under
    /// the predictive distribution without the observation that a replication is below the observed value, with half of
    /// the probability of ties. They are uniform if the model is calibrated.
    ///
    /// The fit needs the [log-likelihood](Self::with_log_likelihood), the [observed data](Self::with_observed_data) and
    /// the [predictive draws](Self::with_posterior_predictive) of the variable.
    ///
    /// # Errors
    ///
    /// Returns an error if one of them is missing, if they have different numbers of observations, or if the draws have
    /// different weights.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
    /// assert!(fit.loo_pit("y").unwrap_err().to_string().contains("with_observed_data"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn loo_pit(&self, name: &str) -> Result<Vec<f64>> {
        let missing = |what: &str, method: &str| Error::Draws {
            reason: format!("the fit has no {what} of `{name}`: add them with `fit.{method}`"),
        };
        let find = |group: &str| self.group(group).and_then(|group| group.variable(name));
        let observed = find("observed_data").ok_or_else(|| missing("observed data", "with_observed_data"))?;
        let drawn = find("posterior_predictive").filter(|drawn| drawn.has_draws());
        let drawn = drawn.ok_or_else(|| missing("predictive draws", "with_posterior_predictive"))?;
        let likelihood = find("log_likelihood").filter(|likelihood| likelihood.has_draws());
        let likelihood = likelihood.ok_or_else(|| missing("log-likelihoods", "with_log_likelihood"))?;
        let expected = observed.values.len();
        for (what, found) in
            [("predictive draws of one data set", drawn.width()), ("log-likelihoods of one draw", likelihood.width())]
        {
            if found != expected {
                return Err(Error::Length { what, expected, found });
            }
        }
        let pointwise = self.log_likelihood()?;
        let relative = pointwise.relative_size()?;
        let rows: Vec<(usize, usize)> = (self.chains.iter().map(ChainDraws::len).enumerate())
            .flat_map(|(chain, draws)| (0..draws).map(move |draw| (chain, draw)))
            .collect();
        let transform = |index: usize| {
            let ratios: Vec<f64> = rows.iter().map(|(chain, draw)| -likelihood.row(*chain, *draw)[index]).collect();
            let weights = psis(&ratios, relative).log_weights;
            let below = |y: f64| {
                let observed = observed.values[index];
                if y < observed {
                    1.0
                } else if y > observed {
                    0.0
                } else {
                    0.5
                }
            };
            let shares = rows.iter().zip(&weights);
            let sum: f64 =
                shares.map(|((chain, draw), weight)| weight.exp() * below(drawn.row(*chain, *draw)[index])).sum();
            sum.clamp(0.0, 1.0)
        };
        Ok((0..expected).into_par_iter().map(transform).collect())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use sgmcmc_gradient::Layout;

    use crate::sink::Draw;
    use crate::{ChainDraws, Fit, Group, Predictions, Variable};

    /// Normal data with known variance 1 and a flat prior: without yᵢ, a replication is N(m₋ᵢ, 1 + 1/(n − 1)).
    #[test]
    fn transforms_are_those_of_the_exact_leave_one_out_distribution() {
        let y = [-1.2, -0.5, -0.1, 0.3, 0.4, 0.9, 1.6, 2.2];
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let mut rng = rand::rngs::StdRng::seed_from_u64(5);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let (mut chain, mut likelihood, mut drawn) = (ChainDraws::new(1, vec![]), vec![], vec![]);
        for iteration in 1..=40_000 {
            let mu = mean + normal() / n.sqrt();
            chain.push(&Draw { iteration, values: &[mu], weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
            likelihood.extend(y.map(|y| -0.5 * (y - mu).powi(2)));
            drawn.extend(y.map(|_| mu + normal()));
        }
        let fit = Fit::new(Layout::vector("mu", 1), vec![chain]).unwrap();
        let fit = fit.with_posterior_predictive("y", &Predictions { shape: vec![40_000, 8], values: drawn }).unwrap();
        let fit = fit.with_observed_data("y", &y, &[8]).unwrap();
        let dimensions = ["chain", "draw", "y_dim_0"].map(str::to_owned).to_vec();
        let variable = Variable { name: "y".into(), dimensions, shape: vec![1, 40_000, 8], values: likelihood };
        let fit = fit.with_group(Group { name: "log_likelihood".into(), variables: vec![variable] }).unwrap();
        let found = fit.loo_pit("y").unwrap();
        for (index, (found, y)) in found.iter().zip(y).enumerate() {
            let others = (n * mean - y) / (n - 1.0);
            let z = (y - others) / (1.0 + 1.0 / (n - 1.0)).sqrt();
            // Abramowitz & Stegun 26.2.17.
            let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
            let tail = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
                * t
                * (0.319_381_530
                    + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
            let exact = if z > 0.0 { 1.0 - tail } else { tail };
            assert!((found - exact).abs() < 0.01, "{index}: {found} {exact}");
        }
    }
}

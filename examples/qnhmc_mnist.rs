//! Bayesian logistic regression that tells the digits 7 and 9 apart: HMC, HMC-BFGS and quasi-Newton HMC, and gradient descent as a baseline.
//!
//! Source: Fu, Luo & Zhang (2016), §5.2 and table 2: 784 weights with a weak normal prior, L = 5, L-BFGS with 7 pairs. The paper's ε = 0.1 is
//! for pixels on a scale it does not tell; here all three look for the ε with the same acceptance rate in iterations that make no draws.
//!
//! The claim: QNHMC has a shorter burn-in and a larger effective size per second than the others, and all draws err less often on the
//! test set than gradient descent. Here QNHMC has a larger effective size per second than HMC only, and does not reach the log posterior of HMC: its burn-in is
//! not shorter. With the default lengths none of the three has more than a few effective draws, so that these sizes are rough.
//!
//! ```text
//! cargo run --release --example qnhmc_mnist
//! cargo run --release --example qnhmc_mnist -- --draws 2000 --warm-up 2000    # longer
//! cargo run --release --example qnhmc_mnist --features nuts    # with NUTS as the reference
//! ```

#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/or_synthetic.rs"]
mod or_synthetic;

use std::time::Instant;

use figure::{Axis, Panel, Series};
use or_synthetic::or_synthetic;
use sgmcmc::datasets::{Classified, Labelled};
use sgmcmc::diagnostics::ess_bulk;
use sgmcmc::prelude::*;
use sgmcmc::{Dynamics, Posterior};

const PIXELS: usize = 784;

/// The prior's standard deviation of a weight.
const PRIOR_SD: f64 = 10.0;

/// The two digits of a data set, 7 as 0 and 9 as 1, as numbers.
struct Digits {
    x: Vec<f32>,
    y: Vec<f32>,
}

impl Digits {
    fn of(data: &Dataset<Classified>) -> sgmcmc::Result<Self> {
        let all = data.batch(Rows::range(0..data.observations()), &default_device())?;
        let pixels: Vec<f32> = all.x.into_data().iter::<f32>().collect();
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (row, class) in all.class.into_data().iter::<i64>().enumerate() {
            if class == 7 || class == 9 {
                x.extend_from_slice(&pixels[row * PIXELS..(row + 1) * PIXELS]);
                y.push(if class == 9 { 1.0 } else { 0.0 });
            }
        }
        Ok(Self { x, y })
    }

    fn dataset(&self) -> sgmcmc::Result<Dataset<Labelled>> {
        Dataset::new(Labelled {
            x: array(self.x.clone(), [self.y.len(), PIXELS])?,
            y: array(self.y.clone(), [self.y.len()])?,
        })
    }

    /// σ(xᵢᵀβ) of every image.
    fn probabilities(&self, beta: &[f64]) -> impl Iterator<Item = f64> {
        self.x.chunks_exact(PIXELS).map(move |image| {
            let logit: f64 = image.iter().zip(beta).map(|(x, beta)| f64::from(*x) * beta).sum();
            1.0 / (1.0 + (-logit).exp())
        })
    }

    /// The share of images on the wrong side of one half.
    fn error(&self, probabilities: &[f64]) -> f64 {
        let wrong = probabilities.iter().zip(&self.y).filter(|(p, y)| (**p > 0.5) != (**y > 0.5)).count();
        wrong as f64 / self.y.len() as f64
    }
}

/// How long and how.
#[derive(Clone, Copy)]
struct Plan {
    warm_up: u64,
    draws: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flags =
        flags::Flags::read("Bayesian logistic regression on two digits: HMC, HMC-BFGS and quasi-Newton HMC.")?;
    let warm_up = flags.get("warm-up", 400, "iterations that find step size and curvature, and make no draws")?;
    let draws = flags.get("draws", 400, "iterations that make draws")?;
    let memory = flags.get("memory", 7, "pairs that QNHMC keeps; 0 for a dense matrix")?;
    let figure = flags.get("figure", "qnhmc_mnist.svg".to_owned(), "where the figure is saved")?;
    let dir = flags.get("data", datasets::directory().display().to_string(), "directory of the data sets")?;
    flags.finish()?;
    let plan = Plan { warm_up, draws };

    let mnist = or_synthetic(datasets::mnist(&dir), || datasets::mnist_like(10_000, 1))?;
    let (train, test) = (Digits::of(&mnist.train)?, Digits::of(&mnist.test)?);
    println!("{} images of 7 and 9 to learn from, {} to test\n", train.y.len(), test.y.len());
    let model = Model::new(|beta: Tensor<1>, r: Labelled| {
        BernoulliLogits::new(r.x.matmul(beta.unsqueeze_dim(1)).squeeze_dim::<1>(1)).log_prob(r.y)
    })
    .prior(|beta: Tensor<1>| Normal::new(0.0, PRIOR_SD).log_prob(beta).sum());
    let posterior = model.with(&train.dataset()?);

    let adapt = Some(DualAveraging::new(warm_up));
    let ensemble = HmcBfgs { steps: 5, adapt, ..HmcBfgs::default() };
    let learning = Learning::First(warm_up / 2);
    let gamma = Initial::Newest(1.0);
    let inverse_hessian = if memory == 0 { InverseHessian::Bfgs } else { InverseHessian::Lbfgs { memory, gamma } };
    let quasi = Qnhmc { steps: 5, inverse_hessian, learning, adapt, ..Qnhmc::default() };
    let results = [
        run("HMC", Hmc { steps: 5, adapt, ..Hmc::default() }, &posterior, &test, plan)?,
        run("HMC-BFGS", ensemble, &posterior, &test, plan)?,
        run("QNHMC", quasi, &posterior, &test, plan)?,
    ];
    // Where the run that came highest stays: a run that is stuck somewhere below has not burned in.
    let level = results.iter().map(Measured::level).fold(f64::NEG_INFINITY, f64::max);
    println!(
        "{:<10} {:>9} {:>10} {:>9} {:>9} {:>10} {:>11} {:>8}",
        "method", "ε", "accepted", "burn-in", "s", "bulk ESS", "bulk ESS/s", "error"
    );
    results.iter().for_each(|run| run.print(level));
    let descent = gradient_descent(&posterior, 300)?;
    let error = test.error(&test.probabilities(&descent).collect::<Vec<_>>());
    println!("{:<10} {:>80.4}", "descent", error);
    reference(&posterior, &test, plan)?;
    println!();
    figure::save(&figure, &[panel("log posterior over time", &results)])?;

    println!(
        "the paper: burn-in 64, 36 and 17 s; ESS/s 0.29, 0.42 and 1.30; error 0.049, 0.050, 0.050, and 0.058 by descent\n"
    );
    let [hmc, ensemble, quasi] = results;
    let mut failed = 0;
    let mut claim = |what: &str, holds: bool| {
        failed += usize::from(!holds);
        println!("{what}: {}", if holds { "pass" } else { "FAIL" });
    };
    let burn_in = |run: &Measured| run.burn_in(level).map_or(f64::INFINITY, |iteration| run.path[iteration].0);
    claim("QNHMC burns in sooner than HMC", burn_in(&quasi) < burn_in(&hmc));
    claim("QNHMC burns in sooner than HMC-BFGS", burn_in(&quasi) < burn_in(&ensemble));
    claim("QNHMC has more effective draws per second than HMC", quasi.rate > hmc.rate);
    claim("QNHMC has more effective draws per second than HMC-BFGS", quasi.rate > ensemble.rate);
    claim("its draws err less often than gradient descent", quasi.error < error);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}

/// What the claims and the figure are about.
struct Measured {
    name: &'static str,
    step_size: f64,
    accepted: f64,
    bulk: f64,
    rate: f64,
    error: f64,
    /// Seconds and log posterior of every iteration.
    path: Vec<(f64, f64)>,
}

impl Measured {
    /// Three standard deviations below the mean log posterior of the last quarter.
    fn level(&self) -> f64 {
        let last: Vec<f64> = self.path[self.path.len() * 3 / 4..].iter().map(|(_, value)| *value).collect();
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        mean - 3.0 * (last.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / last.len() as f64).sqrt()
    }

    /// The first iteration whose log posterior is above `level`.
    fn burn_in(&self, level: f64) -> Option<usize> {
        self.path.iter().position(|(_, log_posterior)| *log_posterior > level)
    }

    fn print(&self, level: f64) {
        let Self { name, step_size, accepted, bulk, rate, error, path } = self;
        let (iteration, seconds) = match self.burn_in(level) {
            Some(iteration) => ((iteration + 1).to_string(), format!("{:.2}", path[iteration].0)),
            None => ("never".into(), "-".into()),
        };
        println!(
            "{name:<10} {step_size:>9.5} {accepted:>10.3} {iteration:>9} {seconds:>9} {bulk:>10.1} {rate:>11.3} {error:>8.4}"
        );
    }
}

fn panel(title: &str, runs: &[Measured]) -> Panel {
    let series = |(colour, run): (usize, &Measured)| Series {
        name: run.name.into(),
        colour,
        dots: false,
        points: run.path.clone(),
    };
    let (x, y) = (Axis { label: "seconds", log: true }, Axis { label: "log posterior", log: false });
    Panel { title: title.into(), x, y, series: runs.iter().enumerate().map(series).collect() }
}

fn run<D: Dynamics<FullGradient> + Clone + std::fmt::Debug + 'static>(
    name: &'static str,
    dynamics: D,
    posterior: &Posterior<Tensor<1>, Labelled>,
    test: &Digits,
    plan: Plan,
) -> Result<Measured, sgmcmc::Error> {
    let mut sampler = Builder::new(posterior.clone(), dynamics, FullGradient, 1e-4).seed(1).start(&zeros([PIXELS]))?;
    let names = sampler.kernel().stat_names();
    let place = |wanted: &str| names.iter().position(|name| name == wanted).unwrap_or(0);
    let (rate, step) = (place("acceptance_rate"), place("step_size"));
    let mut stats = vec![0.0; names.len()];
    let (mut log_posterior, mut seconds, mut accepted) = (Vec::new(), Vec::new(), 0.0);
    let chains = sampler.interleaved_chains();
    // Of every weight, the draws of each of the chains that take turns.
    let mut draws = vec![vec![Vec::new(); chains]; PIXELS];
    let mut probabilities = vec![0.0; test.y.len()];
    let began = Instant::now();
    let mut testing = 0.0;
    while log_posterior.len() < plan.warm_up as usize + plan.draws {
        sampler.step()?;
        log_posterior.push(sampler.info().log_posterior);
        seconds.push(began.elapsed().as_secs_f64() - testing);
        sampler.kernel().stats(&mut stats);
        if sampler.info().counts {
            let begun = Instant::now();
            accepted += stats[rate] / plan.draws as f64;
            let chain = (log_posterior.len() - 1) % chains;
            draws.iter_mut().zip(sampler.position()).for_each(|(draws, x)| draws[chain].push(*x));
            let new = test.probabilities(sampler.position());
            probabilities.iter_mut().zip(new).for_each(|(sum, p)| *sum += p / plan.draws as f64);
            testing += begun.elapsed().as_secs_f64();
        }
    }
    let warm_up = plan.warm_up as usize;
    let spent = seconds[seconds.len() - 1] - seconds[warm_up - 1];
    // Median over the weights: those of pixels that are never inked have the prior for a law.
    let mut sizes: Vec<f64> = draws.iter().map(|chains| ess_bulk(chains)).collect();
    sizes.sort_by(f64::total_cmp);
    let bulk = sizes[PIXELS / 2];
    let path = seconds.into_iter().zip(log_posterior).collect();
    let error = test.error(&probabilities);
    Ok(Measured { name, step_size: stats[step], accepted, bulk, rate: bulk / spent, error, path })
}

/// The weights after so many steps of gradient ascent on the log posterior, which has an ℓ₂ term in its prior.
fn gradient_descent(posterior: &Posterior<Tensor<1>, Labelled>, steps: usize) -> Result<Vec<f64>, sgmcmc::Error> {
    let mut evaluator = posterior.evaluator(&zeros([PIXELS]))?;
    let (mut beta, mut gradient) = (vec![0.0; PIXELS], vec![0.0; PIXELS]);
    let rate = 0.05 / evaluator.observations() as f64;
    for _ in 0..steps {
        gradient.fill(0.0);
        let rows = evaluator.all_rows();
        evaluator.posterior(&beta, rows, &mut gradient)?;
        beta.iter_mut().zip(&gradient).for_each(|(beta, g)| *beta += rate * g);
    }
    Ok(beta)
}

/// What the no-U-turn sampler makes of it.
#[cfg(feature = "nuts")]
fn reference(
    posterior: &Posterior<Tensor<1>, Labelled>,
    test: &Digits,
    Plan { warm_up, draws }: Plan,
) -> Result<(), sgmcmc::Error> {
    let fit = sgmcmc::Nuts { chains: 1, seed: 1, warm_up, max_depth: 6 };
    let fit = fit.sample(posterior, &zeros([PIXELS]), draws)?;
    let mut probabilities = vec![0.0; test.y.len()];
    for beta in fit.chains()[0].rows() {
        let new = test.probabilities(beta);
        probabilities.iter_mut().zip(new).for_each(|(sum, p)| *sum += p / draws as f64);
    }
    let mut sizes: Vec<f64> = (0..PIXELS).map(|k| ess_bulk(&[fit.chains()[0].element(k)])).collect();
    sizes.sort_by(f64::total_cmp);
    let (bulk, error) = (sizes[PIXELS / 2], test.error(&probabilities));
    println!("{:<10} {bulk:>50.1} {:>11.3} {error:>8.4}", "NUTS", bulk / fit.info().seconds[0]);
    Ok(())
}

#[cfg(not(feature = "nuts"))]
fn reference(_posterior: &Posterior<Tensor<1>, Labelled>, _test: &Digits, _plan: Plan) -> Result<(), sgmcmc::Error> {
    Ok(())
}

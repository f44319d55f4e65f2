//! Bayesian logistic regression that tells the digits 7 and 9 apart: HMC, HMC-BFGS and quasi-Newton HMC, and gradient descent as a baseline.
//!
//! Source: Fu, Luo & Zhang (2016), §5.2 and table 2: 784 weights with a weak normal prior, L = 5, L-BFGS with 7 pairs, and one ε = 0.1 for
//! all. On this posterior ε = 0.1 cannot be run: the example prints the largest ε at which leapfrog steps are stable, from the largest
//! eigenvalue of the Hessian. Here each method adapts its ε to the same acceptance rate, in iterations that make no draws; `--epsilon`
//! sets one ε for all instead.
//!
//! The claim: QNHMC has a shorter burn-in and a larger effective size per second than the others, and its draws err less often on the
//! test set than gradient descent. A run has burned in when its log posterior comes within three standard deviations of its mean under the
//! Gaussian approximation at the mode. Effective sizes below LEAST_EFFECTIVE are noise: claims that depend on them are not judged.
//! Descent is run until it converges, to the mode, because stopped early it errs more often than it has to.
//!
//! QNHMC is the published form, whose inverse mass is C². One more row has the form whose inverse mass is C; no claim is about it.
//!
//! ```text
//! cargo run --release --example qnhmc_mnist
//! cargo run --release --example qnhmc_mnist -- --draws 4000 --warm-up 2000    # longer
//! cargo run --release --example qnhmc_mnist -- --epsilon 0.005    # one step size for all
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

/// The step size of the paper.
const PAPER_EPSILON: f64 = 0.1;

/// Fewer effective draws than this are too few to compare methods.
const LEAST_EFFECTIVE: f64 = 50.0;

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

    /// The largest eigenvalue of the Hessian of −log p(β|x), Σ p(1 − p) x xᵀ + I/sd², by power iteration.
    fn largest_curvature(&self, beta: &[f64]) -> f64 {
        let weights: Vec<f64> = self.probabilities(beta).map(|p| p * (1.0 - p)).collect();
        let (mut v, mut eigenvalue) = (vec![1.0 / (PIXELS as f64).sqrt(); PIXELS], 0.0);
        for _ in 0..30 {
            let mut product: Vec<f64> = v.iter().map(|v| v / PRIOR_SD.powi(2)).collect();
            for (image, weight) in self.x.chunks_exact(PIXELS).zip(&weights) {
                let along: f64 = image.iter().zip(&v).map(|(x, v)| f64::from(*x) * v).sum();
                product.iter_mut().zip(image).for_each(|(product, x)| *product += weight * along * f64::from(*x));
            }
            eigenvalue = product.iter().map(|x| x * x).sum::<f64>().sqrt();
            v = product.iter().map(|x| x / eigenvalue).collect();
        }
        eigenvalue
    }

    /// The share of images on the wrong side of one half.
    fn error(&self, probabilities: &[f64]) -> f64 {
        let wrong = probabilities.iter().zip(&self.y).filter(|(p, y)| (**p > 0.5) != (**y > 0.5)).count();
        wrong as f64 / self.y.len() as f64
    }
}

/// Length of the runs, and the step size they start with.
#[derive(Clone, Copy)]
struct Plan {
    warm_up: u64,
    draws: usize,
    epsilon: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut flags =
        flags::Flags::read("Bayesian logistic regression on two digits: HMC, HMC-BFGS and quasi-Newton HMC.")?;
    let warm_up = flags.get("warm-up", 400, "iterations that find step size and curvature, and make no draws")?;
    let draws = flags.get("draws", 400, "iterations that make draws")?;
    let memory = flags.get("memory", 7, "pairs that QNHMC keeps; 0 for a dense matrix")?;
    let epsilon = flags.get("epsilon", 0.0, "one step size for all; 0 to adapt that of each")?;
    let figure = flags.get("figure", "qnhmc_mnist.svg".to_owned(), "where the figure is saved")?;
    let dir = flags.get("data", datasets::directory().display().to_string(), "directory of the data sets")?;
    flags.finish()?;
    let adapt = (epsilon <= 0.0).then(|| DualAveraging::new(warm_up));
    let plan = Plan { warm_up, draws, epsilon: if epsilon > 0.0 { epsilon } else { 0.01 } };

    let mnist = or_synthetic(datasets::mnist(&dir), || datasets::mnist_like(10_000, 1))?;
    let (train, test) = (Digits::of(&mnist.train)?, Digits::of(&mnist.test)?);
    println!("{} images of 7 and 9 to learn from, {} to test\n", train.y.len(), test.y.len());
    let model = Model::new(|beta: Tensor<1>, r: Labelled| {
        BernoulliLogits::new(r.x.matmul(beta.unsqueeze_dim(1)).squeeze_dim::<1>(1)).log_prob(r.y)
    })
    .prior(|beta: Tensor<1>| Normal::new(0.0, PRIOR_SD).log_prob(beta).sum());
    let posterior = model.with(&train.dataset()?);

    let mode = LbfgsSearch::default().run(posterior.evaluator(&zeros([PIXELS]))?.as_mut(), &[0.0; PIXELS])?;
    println!("mode: {mode}");
    let limit = |beta: &[f64]| 2.0 / train.largest_curvature(beta).sqrt();
    let (at_start, at_mode) = (limit(&[0.0; PIXELS]), limit(&mode.theta));
    println!("leapfrog with unit mass is stable for ε < {at_start:.4} at the start, ε < {at_mode:.4} at the mode");
    if at_mode < PAPER_EPSILON {
        println!("the paper's ε = {PAPER_EPSILON} cannot be run on this posterior: HMC would reject every proposal");
    }
    println!();

    let ensemble = HmcBfgs { steps: 5, adapt, ..HmcBfgs::default() };
    let learning = Learning::First(warm_up / 2);
    let gamma = Initial::Newest(1.0);
    let inverse_hessian = if memory == 0 { InverseHessian::Bfgs } else { InverseHessian::Lbfgs { memory, gamma } };
    let whitening = Qnhmc { steps: 5, inverse_hessian, learning, adapt, ..Qnhmc::default() };
    let mass = QuasiNewtonMass::Published { covariance: Covariance::UNIT };
    let quasi = Qnhmc { mass, ..whitening.clone() };
    let results = [
        run("HMC", Hmc { steps: 5, adapt, ..Hmc::default() }, &posterior, &test, plan)?,
        run("HMC-BFGS", ensemble, &posterior, &test, plan)?,
        run("QNHMC", quasi, &posterior, &test, plan)?,
        run("whitening", whitening, &posterior, &test, plan)?,
    ];
    // On a Gaussian the log posterior is that of the mode minus half a χ² of as many degrees of freedom as there are weights.
    let freedom = PIXELS as f64;
    let level = mode.log_posterior - 0.5 * freedom - 3.0 * (0.5 * freedom).sqrt();
    println!("burned in above a log posterior of {level:.1}\n");
    println!(
        "{:<10} {:>9} {:>10} {:>9} {:>9} {:>10} {:>11} {:>8}",
        "method", "ε", "accepted", "burn-in", "s", "bulk ESS", "bulk ESS/s", "error"
    );
    results.iter().for_each(|run| run.print(level));
    let error = test.error(&test.probabilities(&mode.theta).collect::<Vec<_>>());
    println!("{:<10} {:>80.4}", "descent", error);
    reference(&posterior, &test, plan)?;
    println!();
    figure::save(&figure, &[panel("log posterior over time", &results)])?;

    println!(
        "the paper: burn-in 64, 36 and 17 s; ESS/s 0.29, 0.42 and 1.30; error 0.049, 0.050, 0.050, and 0.058 by descent\n"
    );
    let [hmc, ensemble, quasi, _] = results;
    let mut failed = 0;
    let mut claim = |text: &str, holds: Option<bool>| {
        failed += usize::from(holds == Some(false));
        let verdict = match holds {
            Some(true) => "pass",
            Some(false) => "FAIL",
            None => "not judged, too few effective draws",
        };
        println!("{text}: {verdict}");
    };
    let burn_in = |run: &Measured| run.burn_in(level).map_or(f64::INFINITY, |iteration| run.path[iteration].0);
    let sooner = |than: &Measured| Some(burn_in(&quasi) < burn_in(than));
    let faster = |than: &Measured| quasi.bulk.min(than.bulk).ge(&LEAST_EFFECTIVE).then_some(quasi.rate > than.rate);
    claim("QNHMC burns in sooner than HMC", sooner(&hmc));
    claim("QNHMC burns in sooner than HMC-BFGS", sooner(&ensemble));
    claim("QNHMC has more effective draws per second than HMC", faster(&hmc));
    claim("QNHMC has more effective draws per second than HMC-BFGS", faster(&ensemble));
    claim("its draws err less often than gradient descent", Some(quasi.error < error));
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
    let h = plan.epsilon * plan.epsilon;
    let mut sampler = Builder::new(posterior.clone(), dynamics, FullGradient, h).seed(1).start(&zeros([PIXELS]))?;
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
        if log_posterior.len() > plan.warm_up as usize {
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

/// What the no-U-turn sampler makes of it.
#[cfg(feature = "nuts")]
fn reference(
    posterior: &Posterior<Tensor<1>, Labelled>,
    test: &Digits,
    Plan { warm_up, draws, .. }: Plan,
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

//! Quasi-Newton Langevin dynamics (HAMCMC) against SGLD, pSGLD and SGRLD on a linear Gaussian model with a correlated posterior.
//!
//! θ ~ N(0, I), xₙ ~ N(aₙᵀθ, 10), with the entries of aₙ correlated by 0.9, so that the posterior is far narrower in one direction. Source:
//! Şimşekli et al. (2016), §4.1: the scatter of figure 1 (D = 2) and the errors of the posterior mean of figure 2 (D = 10 and 100), with
//! minibatches of N/100 and steps h = c t^−0.51. Each method has its best c from one grid. SGRLD has the inverse of the
//! Fisher information as matrix, inverted and factored at each step as in the paper.
//!
//! Claims: HAMCMC (M = 3) reaches the final errors of SGLD and pSGLD at D = 100 in at most half their time, and one of its steps costs at most three of
//! SGLD's at D = 10 000.
//!
//! ```text
//! cargo run --release --example hamcmc_linear_gaussian
//! ```

#[path = "shared/flags.rs"]
mod flags;

use std::fmt::{Debug, Write};
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::linalg::{Cholesky, vector::dot};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::{Dynamics, Sampler};

type Failure = Box<dyn std::error::Error>;

/// σ² of the observations.
const NOISE: f64 = 10.0;
/// Runs by which the best step size is chosen.
const PILOTS: u64 = 3;
/// Looks at the estimate along a run.
const LOOKS: usize = 100;

/// A problem with its exact posterior.
struct Problem {
    data: Dataset<Rows2>,
    mean: Vec<f64>,
    precision: Vec<f64>,
    n: usize,
    d: usize,
}

#[derive(TensorTree)]
struct Rows2 {
    a: Tensor<2>,
    x: Tensor<1>,
}

fn model() -> Model<Tensor<1>, Rows2> {
    Model::new(|theta: Tensor<1>, r: Rows2| {
        let fitted = r.a.matmul(theta.unsqueeze_dim(1)).squeeze_dim::<1>(1);
        (r.x - fitted).powi_scalar(2) * (-0.5 / NOISE)
    })
    .prior(|theta: Tensor<1>| theta.powi_scalar(2).sum() * -0.5)
}

fn normals(count: usize, rng: &mut StreamRng) -> Vec<f64> {
    (0..count).map(|_| rng.sample(StandardNormal)).collect()
}

impl Problem {
    /// The entries of aₙ are standard normal, with the correlation `rho` between any two.
    fn simulate(n: usize, d: usize, rho: f64, seed: u64) -> Result<Self, Failure> {
        let mut rng = StreamRng::seed_from_u64(seed);
        let truth = normals(d, &mut rng);
        let mut a = normals(n * d, &mut rng);
        let mut x = Vec::with_capacity(n);
        for row in a.chunks_exact_mut(d) {
            let (common, noise): (f64, f64) = (rng.sample(StandardNormal), rng.sample(StandardNormal));
            row.iter_mut().for_each(|entry| *entry = rho.sqrt() * common + (1.0 - rho).sqrt() * *entry);
            x.push(dot(row, &truth) + NOISE.sqrt() * noise);
        }
        let (mut precision, mut mean) = (vec![0.0; d * d], vec![0.0; d]);
        for i in 0..d {
            precision[i * d + i] = 1.0;
        }
        for (row, x) in a.chunks_exact(d).zip(&x) {
            for i in 0..d {
                mean[i] += row[i] * x / NOISE;
                sgmcmc::linalg::vector::add_scaled(&mut precision[i * d..(i + 1) * d], row[i] / NOISE, row);
            }
        }
        Cholesky::new(&precision, d)?.solve(&mut mean);
        let data = Dataset::new(Rows2 { a: array(a, [n, d])?, x: array(x, [n])? })?;
        Ok(Self { data, mean, precision, n, d })
    }

    fn sampler<A>(&self, dynamics: A, c: f64, seed: u64) -> Result<Sampler<Tensor<1>>, Failure>
    where
        A: Dynamics<MinibatchGradient> + Clone + Debug + 'static,
    {
        let steps = Polynomial { a: c, b: 1.0, gamma: 0.51 };
        let gradient = MinibatchGradient::new(WithoutReplacement::new((self.n / 100).max(2)));
        Ok(Builder::new(model().with(&self.data), dynamics, gradient, steps).seed(seed).start(&zeros([self.d]))?)
    }

    /// ‖estimate − mean‖² along a run, the estimate being the weighted mean of the second half so far; and the seconds all steps took.
    fn run<A>(&self, dynamics: A, c: f64, steps: usize, seed: u64) -> Result<(Vec<f64>, f64), Failure>
    where
        A: Dynamics<MinibatchGradient> + Clone + Debug + 'static,
    {
        let mut sampler = self.sampler(dynamics, c, seed)?;
        let mut sums = vec![(vec![0.0; self.d], 0.0)];
        let mut seconds = 0.0;
        for _ in 0..LOOKS {
            let (mut sum, mut weight) = sums[sums.len() - 1].clone();
            let began = Instant::now();
            for _ in 0..steps / LOOKS {
                if sampler.step().is_err() {
                    return Ok((vec![f64::INFINITY; LOOKS], f64::NAN));
                }
                let h = sampler.info().step_size;
                sum.iter_mut().zip(sampler.coordinates()).for_each(|(sum, theta)| *sum += h * theta);
                weight += h;
            }
            seconds += began.elapsed().as_secs_f64();
            sums.push((sum, weight));
        }
        let error = |look: usize| {
            let ((late, all), (early, half)) = (&sums[look], &sums[look / 2]);
            let off = |i: usize| (late[i] - early[i]) / (all - half) - self.mean[i];
            let error: f64 = (0..self.d).map(|i| off(i).powi(2)).sum();
            if error.is_finite() { error } else { f64::INFINITY }
        };
        Ok(((1..=LOOKS).map(error).collect(), seconds))
    }

    /// The best c of the grid by the final error, the mean error along runs with it, and the seconds of one.
    fn best<A>(&self, dynamics: A, steps: usize, runs: u64) -> Result<Best, Failure>
    where
        A: Dynamics<MinibatchGradient> + Clone + Debug + 'static,
    {
        let mut best = (f64::INFINITY, 0.0);
        for c in grid() {
            // The mean over runs: a step at the edge of stability may do well once.
            let mut error = 0.0;
            for seed in 0..PILOTS {
                error += self.run(dynamics.clone(), c, steps, 1 + seed)?.0[LOOKS - 1] / PILOTS as f64;
            }
            if error < best.0 {
                best = (error, c);
            }
        }
        let mut found = Best { c: best.1, errors: vec![0.0; LOOKS], seconds: 0.0 };
        for seed in 0..runs {
            let (errors, seconds) = self.run(dynamics.clone(), found.c, steps, 10 + seed)?;
            found.errors.iter_mut().zip(errors).for_each(|(mean, error)| *mean += error / runs as f64);
            found.seconds += seconds / runs as f64;
        }
        Ok(found)
    }
}

/// Factors of √10 from 10⁻⁶ to 10.
fn grid() -> impl Iterator<Item = f64> {
    (0..=14).map(|k| 10.0_f64.powf(0.5 * f64::from(k) - 6.0))
}

/// A method at its best step size.
struct Best {
    c: f64,
    errors: Vec<f64>,
    seconds: f64,
}

impl Best {
    /// The share of its own run after which the error stays below `error`.
    fn reached(&self, error: f64) -> Option<f64> {
        let after = self.errors.iter().rposition(|e| *e > error).map_or(0, |last| last + 1);
        (after < LOOKS).then(|| (after + 1) as f64 / LOOKS as f64 * self.seconds)
    }
}

fn hamcmc(memory: usize, problem: &Problem) -> Hamcmc {
    // A typical variance of the posterior: the inverse of the mean curvature.
    let curvature = problem.precision.iter().step_by(problem.d + 1).sum::<f64>() / problem.d as f64;
    Hamcmc { memory, lambda: 1.0, gamma: Initial::Fixed(1.0 / curvature) }
}

/// The inverse of the Fisher information, inverted at every call as for a model where it depends on θ.
fn fisher(problem: &Problem) -> Metric {
    let (precision, d) = (problem.precision.clone(), problem.d);
    Metric::dense(move |_, m| match Cholesky::new(&precision, d) {
        Ok(factor) => factor.inverse(m),
        Err(_) => m.fill(f64::NAN),
    })
    .with_gamma(|_, gamma| gamma.fill(0.0))
}

fn main() -> Result<(), Failure> {
    let mut flags = flags::Flags::read("HAMCMC against SGLD, pSGLD and SGRLD on a linear Gaussian model.")?;
    let steps = flags.get("steps", 20_000, "iterations of each run")?;
    let runs = flags.get("runs", 5, "runs that errors are averaged over")?;
    let out = flags.get("out", "hamcmc_linear_gaussian.svg".to_owned(), "file of the scatter plots")?;
    flags.finish()?;
    println!("SIMULATED data: theta ~ N(0, I), x_n ~ N(a_n' theta, 10)\n");
    scatter(steps, &out)?;
    let mut passed = true;
    for d in [10, 100] {
        passed &= compare(d, steps, runs)? || d == 10;
    }
    passed &= cost()?;
    println!("\n{}", if passed { "PASS: both claims hold" } else { "FAIL: a claim does not hold" });
    if passed { Ok(()) } else { Err("a claim does not hold".into()) }
}

/// Errors against iterations and time; whether HAMCMC with M = 3 takes at most half the time of SGLD and pSGLD.
fn compare(d: usize, steps: usize, runs: u64) -> Result<bool, Failure> {
    let problem = Problem::simulate(10_000, d, 0.9, 3)?;
    let constant = Preconditioned::inverse_of(&problem.precision, d)?;
    let methods = [
        ("SGLD", problem.best(Sgld, steps, runs)?),
        ("pSGLD", problem.best(Psgld::default(), steps, runs)?),
        ("HAMCMC M = 2", problem.best(hamcmc(2, &problem), steps, runs)?),
        ("HAMCMC M = 3", problem.best(hamcmc(3, &problem), steps, runs)?),
    ];
    // SGRLD's matrix does not depend on θ here, so that its draws have the law of those with the constant matrix: only the time differs.
    let mut riemannian = problem.best(constant, steps, runs)?;
    let mut sampler = problem.sampler(Sgrld::new(fisher(&problem)), riemannian.c, 1)?;
    let few = 200;
    let began = Instant::now();
    for _ in 0..few {
        sampler.step()?;
    }
    riemannian.seconds = began.elapsed().as_secs_f64() * steps as f64 / f64::from(few);
    println!("\nD = {d}: squared error of the posterior mean after a share of {steps} iterations, {runs} runs");
    println!(
        "{:<13} {:>8} {:>10} {:>10} {:>10} {:>10} {:>9}",
        "method", "c", "5 %", "20 %", "50 %", "100 %", "seconds"
    );
    let [sgld, psgld, _, third] = &methods;
    for (name, found) in methods.iter().map(|(name, found)| (*name, found)).chain([("SGRLD", &riemannian)]) {
        let at = |share: usize| found.errors[share - 1];
        let (five, twenty, fifty, all) = (at(5), at(20), at(50), at(100));
        println!(
            "{name:<13} {:>8.0e} {five:>10.2e} {twenty:>10.2e} {fifty:>10.2e} {all:>10.2e} {:>9.3}",
            found.c, found.seconds
        );
    }
    let mut passed = true;
    for (name, other) in [sgld, psgld] {
        let share = third.1.reached(other.errors[LOOKS - 1]).map_or(f64::INFINITY, |seconds| seconds / other.seconds);
        println!("HAMCMC (M = 3) reaches the final error of {name} in {share:.2} of its time (claim: at most 0.5)");
        passed &= share <= 0.5;
    }
    Ok(passed)
}

/// The cost of a step against D; whether HAMCMC's is at most three times SGLD's at the largest.
fn cost() -> Result<bool, Failure> {
    println!(
        "\nmicroseconds per step (minibatch 10, M = 3)\n{:>8} {:>10} {:>10} {:>7}",
        "D", "SGLD", "HAMCMC", "ratio"
    );
    let (mut ratio, mut slopes) = (f64::NAN, Vec::new());
    for d in [1000, 3000, 10_000] {
        let mut rng = StreamRng::seed_from_u64(5);
        let data = Dataset::new(Rows2 {
            a: array(normals(100 * d, &mut rng), [100, d])?,
            x: array(normals(100, &mut rng), [100])?,
        })?;
        let gradient = MinibatchGradient::new(WithoutReplacement::new(10));
        let target = model().with(&data);
        let mut plain = Builder::new(target.clone(), Sgld, gradient, 1e-7).start(&zeros([d]))?;
        let newton = Hamcmc { gamma: Initial::Fixed(1e-3), ..Hamcmc::default() };
        let mut newton = Builder::new(target, newton, gradient, 1e-3).start(&zeros([d]))?;
        let (mut sgld, mut hamcmc) = (f64::INFINITY, f64::INFINITY);
        // The best of several stretches, one method after the other, so that both see the same machine.
        for _ in 0..10 {
            sgld = sgld.min(stretch(&mut plain)?);
            hamcmc = hamcmc.min(stretch(&mut newton)?);
        }
        ratio = hamcmc / sgld;
        slopes.push(((d as f64).ln(), hamcmc.ln()));
        println!("{d:>8} {sgld:>10.1} {hamcmc:>10.1} {ratio:>7.2}");
    }
    let slope = (slopes[2].1 - slopes[0].1) / (slopes[2].0 - slopes[0].0);
    println!("HAMCMC's cost grows as D^{slope:.2}; at D = 10 000 a step costs {ratio:.2} of SGLD's (claim: at most 3)");
    Ok(ratio <= 3.0)
}

fn stretch(sampler: &mut Sampler<Tensor<1>>) -> Result<f64, Failure> {
    let began = Instant::now();
    for _ in 0..50 {
        sampler.step()?;
    }
    Ok(began.elapsed().as_secs_f64() / 50.0 * 1e6)
}

/// Figure 1: draws of four methods over contours of the posterior, in two dimensions.
fn scatter(steps: usize, out: &str) -> Result<(), Failure> {
    let problem = Problem::simulate(1000, 2, 0.9, 8)?;
    let factor = Cholesky::new(&problem.precision, 2)?;
    let mut covariance = [0.0; 4];
    factor.inverse(&mut covariance);
    println!("D = 2: standard deviations of the draws of the second half against the posterior ({steps} iterations)");
    println!("{:<13} {:>8} {:>9} {:>9} {:>12}", "method", "c", "first", "second", "correlation");
    let show = |name: &str, c: Option<f64>, s: [f64; 4]| {
        let c = c.map_or(String::new(), |c| format!("{c:.0e}"));
        println!("{name:<13} {c:>8} {:>9.4} {:>9.4} {:>12.4}", s[0].sqrt(), s[3].sqrt(), s[1] / (s[0] * s[3]).sqrt());
    };
    show("posterior", None, covariance);
    let mut panels = Vec::new();
    macro_rules! panel {
        ($name:expr, $dynamics:expr) => {
            // The step whose draws come closest to the posterior: least ‖S Σ⁻¹ − I‖, S their covariance.
            let mut closest: Option<(f64, f64, Vec<[f64; 2]>)> = None;
            for c in grid() {
                let Some(draws) = second_half(problem.sampler($dynamics, c, 2)?, steps) else { continue };
                let off = distance(&spread(&draws), &problem.precision);
                if closest.as_ref().is_none_or(|(least, ..)| off < *least) {
                    closest = Some((off, c, draws));
                }
            }
            let (_, c, draws) = closest.ok_or("no step of the grid is stable")?;
            show($name, Some(c), spread(&draws));
            panels.push(($name, draws));
        };
    }
    panel!("SGLD", Sgld);
    panel!("pSGLD", Psgld::default());
    panel!("SGRLD", Sgrld::new(fisher(&problem)));
    panel!("HAMCMC M = 2", hamcmc(2, &problem));
    std::fs::write(out, drawing(&panels, &problem.mean, &factor, &covariance)?)?;
    println!("figure: {out}");
    Ok(())
}

/// The draws of the second half of a run, unless it leaves the finite numbers.
fn second_half(mut sampler: Sampler<Tensor<1>>, steps: usize) -> Option<Vec<[f64; 2]>> {
    let mut draws = Vec::new();
    for iteration in 0..steps {
        sampler.step().ok()?;
        if iteration >= steps / 2 {
            draws.push([sampler.coordinates()[0], sampler.coordinates()[1]]);
        }
    }
    Some(draws)
}

/// ‖S A − I‖.
fn distance(s: &[f64; 4], a: &[f64]) -> f64 {
    let entry = |i: usize, j: usize| s[2 * i] * a[j] + s[2 * i + 1] * a[2 + j] - f64::from(u8::from(i == j));
    [entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)].iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// The covariance of points.
fn spread(draws: &[[f64; 2]]) -> [f64; 4] {
    let n = draws.len() as f64;
    let mean = [0, 1].map(|j| draws.iter().map(|draw| draw[j]).sum::<f64>() / n);
    [(0, 0), (0, 1), (1, 0), (1, 1)]
        .map(|(i, j)| draws.iter().map(|draw| (draw[i] - mean[i]) * (draw[j] - mean[j])).sum::<f64>() / n)
}

/// Four panels of points over the contours that hold 39 %, 86 % and 99 % of the posterior.
fn drawing(
    panels: &[(&str, Vec<[f64; 2]>)],
    mean: &[f64],
    factor: &Cholesky,
    covariance: &[f64; 4],
) -> Result<String, Failure> {
    const SIZE: f64 = 260.0;
    let place = |point: [f64; 2]| {
        let scaled = |j: usize| (point[j] - mean[j]) / (4.0 * covariance[3 * j].sqrt());
        (0.5 * SIZE * (1.0 + scaled(0)), 0.5 * SIZE * (1.0 - scaled(1)))
    };
    let width = SIZE * panels.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {}\" font-family=\"sans-serif\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        SIZE + 24.0
    );
    for (index, (name, draws)) in panels.iter().enumerate() {
        writeln!(svg, "<g transform=\"translate({},24)\"><text x=\"8\" y=\"-7\">{name}</text>", SIZE * index as f64)?;
        writeln!(
            svg,
            "<clipPath id=\"c{index}\"><rect width=\"{SIZE}\" height=\"{SIZE}\"/></clipPath><g clip-path=\"url(#c{index})\" fill=\"#1f77b4\" fill-opacity=\"0.35\">"
        )?;
        for draw in draws.iter().step_by((draws.len() / 1000).max(1)) {
            let (x, y) = place(*draw);
            writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.6\"/>")?;
        }
        for radius in [1.0, 2.0, 3.0] {
            svg += "<polygon fill=\"none\" stroke=\"#d62728\" stroke-dasharray=\"4 3\" points=\"";
            for k in 0..100 {
                let angle = std::f64::consts::TAU * f64::from(k) / 100.0;
                let mut point = [radius * angle.cos(), radius * angle.sin()];
                factor.solve_upper(&mut point);
                let (x, y) = place([mean[0] + point[0], mean[1] + point[1]]);
                write!(svg, "{x:.1},{y:.1} ")?;
            }
            svg += "\"/>\n";
        }
        writeln!(svg, "</g><rect width=\"{SIZE}\" height=\"{SIZE}\" fill=\"none\" stroke=\"#888\"/></g>")?;
    }
    Ok(svg + "</svg>\n")
}

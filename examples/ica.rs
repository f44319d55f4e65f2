//! Bayesian independent component analysis with the natural gradient: Langevin dynamics in which the matrix M depends on the parameters.
//!
//! p(x | W) = |det W| Πᵢ p(wᵢᵀx), p(y) = 1/(4 cosh²(y/2)), Wᵢⱼ ~ N(0, 1), M = I ⊗ WᵀW. Source: Welling & Teh (2011), §5.3.1: 1000 observations in six channels, three
//! sources of high kurtosis and three normal ones, minibatches of 100, h = (4/N) t^−0.55, draws from the sampling threshold α = 0.1 on; then
//! “corrected Langevin”, the same proposal with all observations, h = 0.1/N and a Metropolis step, from where the first chain ended. Here Γ = (d+1) W
//! is added to the drift of the first, which the paper leaves out.
//!
//! Claim: the most stable components (least Σⱼ var(Wᵢⱼ) var(xⱼ)) are the three sources of high kurtosis, in both samplers; normal sources cannot be told apart.
//!
//! ```text
//! cargo run --release --example ica
//! ```

#[path = "shared/flags.rs"]
mod flags;

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::linalg::{Cholesky, vector::dot};
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;

type Failure = Box<dyn std::error::Error>;

const N: usize = 1000;
const K: usize = 6;
const MINIBATCH: usize = 100;

/// The observations, row by row; shared by the evaluators of all chains.
#[derive(Clone)]
struct Ica(Arc<[f64]>);

impl AnalyticModel for Ica {
    fn observations(&self) -> usize {
        N
    }

    fn dim(&self) -> usize {
        K * K
    }

    fn observation(&self, w: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let x = &self.0[row * K..(row + 1) * K];
        let mut value = 0.0;
        for (w, grad) in w.chunks_exact(K).zip(grad.chunks_exact_mut(K)) {
            let y = dot(w, x);
            grad.iter_mut().zip(x).for_each(|(grad, x)| *grad -= weight * (0.5 * y).tanh() * x);
            // −log(4 cosh²(y/2)) without overflow.
            value -= y.abs() + 2.0 * (-y.abs()).exp().ln_1p();
        }
        value
    }

    /// The prior of W, and N log|det W|: it is the same for all observations.
    fn prior(&self, w: &[f64], grad: &mut [f64]) -> f64 {
        let (inverse, log_determinant) = inverted(w);
        for (k, grad) in grad.iter_mut().enumerate() {
            *grad += N as f64 * inverse[k % K * K + k / K] - w[k];
        }
        N as f64 * log_determinant - 0.5 * dot(w, w)
    }
}

/// W⁻¹ and log|det W|, by elimination with pivots.
fn inverted(w: &[f64]) -> (Vec<f64>, f64) {
    let mut left = w.to_vec();
    let mut right: Vec<f64> = (0..K * K).map(|k| f64::from(u8::from(k / K == k % K))).collect();
    let mut log_determinant = 0.0;
    for column in 0..K {
        let pivot = (column..K)
            .max_by(|a, b| left[a * K + column].abs().total_cmp(&left[b * K + column].abs()))
            .unwrap_or(column);
        for j in 0..K {
            left.swap(column * K + j, pivot * K + j);
            right.swap(column * K + j, pivot * K + j);
        }
        let scale = left[column * K + column];
        log_determinant += scale.abs().ln();
        for j in 0..K {
            left[column * K + j] /= scale;
            right[column * K + j] /= scale;
        }
        for i in (0..K).filter(|i| *i != column) {
            let factor = left[i * K + column];
            for j in 0..K {
                left[i * K + j] -= factor * left[column * K + j];
                right[i * K + j] -= factor * right[column * K + j];
            }
        }
    }
    (right, log_determinant)
}

/// WᵀW.
fn gram(w: &[f64]) -> Vec<f64> {
    (0..K * K).map(|k| (0..K).map(|i| w[i * K + k / K] * w[i * K + k % K]).sum()).collect()
}

/// M = I ⊗ WᵀW, and Γ = (d + 1) W.
fn natural() -> Metric {
    Metric::dense(|w, m| {
        let gram = gram(w);
        m.fill(0.0);
        for i in 0..K {
            for (k, value) in gram.iter().enumerate() {
                m[(i * K + k / K) * K * K + i * K + k % K] = *value;
            }
        }
    })
    .with_gamma(|w, gamma| gamma.iter_mut().zip(w).for_each(|(gamma, w)| *gamma = (K + 1) as f64 * w))
}

fn main() -> Result<(), Failure> {
    let mut flags = flags::Flags::read("Bayesian independent component analysis with the natural gradient.")?;
    let iterations: u64 = flags.get("iterations", 500_000, "iterations of stochastic Langevin dynamics")?;
    let corrected: u64 = flags.get("corrected", 100_000, "iterations of corrected Langevin dynamics")?;
    let seed = flags.get("seed", 1, "seed of data and chains")?;
    flags.finish()?;
    println!("{N} SIMULATED observations: {K} channels mixed from 3 sources of high kurtosis and 3 normal ones\n");
    let mut rng = StreamRng::seed_from_u64(seed);
    let mixing: Vec<f64> = (0..K * K).map(|_| rng.sample(StandardNormal)).collect();
    let mut x = vec![0.0; N * K];
    for x in x.chunks_exact_mut(K) {
        // Cubes of normals divided by √15: variance one, kurtosis far above that of a normal.
        let source: Vec<f64> = (0..K)
            .map(|k| {
                let z: f64 = rng.sample(StandardNormal);
                if k < 3 { z.powi(3) / 15.0_f64.sqrt() } else { z }
            })
            .collect();
        mixing.chunks_exact(K).zip(x).for_each(|(row, x)| *x = dot(row, &source));
    }
    let variances: Vec<f64> = (0..K)
        .map(|j| {
            let mean = x.iter().skip(j).step_by(K).sum::<f64>() / N as f64;
            x.iter().skip(j).step_by(K).map(|x| (x - mean).powi(2)).sum::<f64>() / N as f64
        })
        .collect();
    let model = Ica(x.into());
    let target = Analytic::<Tensor<2>>::new(model);
    let start = array((0..K * K).map(|k| f64::from(u8::from(k / K == k % K))).collect(), [K, K])?;

    let steps = Polynomial { a: 4.0 / N as f64, b: 1.0, gamma: 0.55 };
    let gradient = MinibatchGradient::new(WithoutReplacement::new(MINIBATCH));
    let mut sampler = Builder::new(target.clone(), Sgrld::new(natural()), gradient, steps).seed(seed).start(&start)?;
    let mut draws = Draws::default();
    let (mut pace, mut passed_time) = (None, 0.0);
    for iteration in 1..=iterations {
        sampler.step()?;
        let h = sampler.info().step_size;
        match pace {
            None if iteration % 500 == 0 => {
                let w = sampler.coordinates().to_vec();
                let alpha = threshold(sampler.kernel().evaluator(), &w, h)?;
                if alpha < 0.1 {
                    println!("sampling threshold: alpha = {alpha:.3} at iteration {iteration}");
                    pace = Some(h);
                }
            }
            None => {}
            // One draw each time the steps add up to the step at the threshold.
            Some(distance) => {
                passed_time += h;
                if passed_time >= distance {
                    passed_time -= distance;
                    draws.push(sampler.coordinates(), &mixing);
                }
            }
        }
    }
    if draws.count == 0 {
        return Err("the sampling threshold was not reached: give more --iterations".into());
    }
    let last = sampler.coordinates().to_vec();
    let mut passed = draws.report("stochastic Langevin", &variances, &mixing, &last);

    let mut evaluator = target.evaluator(&start)?;
    let mut chain = Corrected::at(&last, evaluator.as_mut())?;
    let mut draws = Draws::default();
    let mut accepted = 0_u64;
    for _ in 0..corrected {
        accepted += u64::from(chain.step(evaluator.as_mut(), 0.1 / N as f64, &mut rng)?);
        draws.push(&chain.w, &mixing);
    }
    println!("\ncorrected Langevin accepts {:.2} of its proposals", accepted as f64 / corrected as f64);
    passed &= draws.report("corrected Langevin", &variances, &mixing, &last);
    println!(
        "\n{}",
        if passed {
            "PASS: the stable components are the sources of high kurtosis"
        } else {
            "FAIL: the claim does not hold"
        }
    );
    if passed { Ok(()) } else { Err("the claim does not hold".into()) }
}

/// α = h N²/(4n) λ_max(M^{1/2} V M^{1/2}), V the covariance of the scores over n observations.
fn threshold(evaluator: &mut dyn Evaluator, w: &[f64], h: f64) -> Result<f64, Failure> {
    let factor = Cholesky::new(&gram(w), K)?;
    let d = K * K;
    let mut scores = vec![0.0; MINIBATCH * d];
    evaluator.per_datum(w, Rows::range(0..MINIBATCH), &mut scores)?;
    let mut turned = vec![0.0; K];
    for row in scores.chunks_exact_mut(K) {
        factor.transpose_product(row, &mut turned);
        row.copy_from_slice(&turned);
    }
    let mean: Vec<f64> = (0..d).map(|j| scores.iter().skip(j).step_by(d).sum::<f64>() / MINIBATCH as f64).collect();
    scores.chunks_exact_mut(d).for_each(|row| row.iter_mut().zip(&mean).for_each(|(score, mean)| *score -= mean));
    let (mut v, mut largest) = (vec![1.0; d], 0.0);
    for _ in 0..200 {
        let mut next = vec![0.0; d];
        for row in scores.chunks_exact(d) {
            sgmcmc::linalg::vector::add_scaled(&mut next, dot(row, &v) / (MINIBATCH - 1) as f64, row);
        }
        largest = dot(&next, &next).sqrt();
        v = next.iter().map(|next| next / largest.max(f64::MIN_POSITIVE)).collect();
    }
    Ok(h * (N * N) as f64 / (4 * MINIBATCH) as f64 * largest)
}

/// Sums over draws of W.
#[derive(Default)]
struct Draws {
    count: u64,
    sums: Vec<f64>,
    squares: Vec<f64>,
    amari: f64,
}

impl Draws {
    fn push(&mut self, w: &[f64], mixing: &[f64]) {
        self.count += 1;
        self.sums.resize(K * K, 0.0);
        self.squares.resize(K * K, 0.0);
        for (k, w) in w.iter().enumerate() {
            self.sums[k] += w;
            self.squares[k] += w * w;
        }
        self.amari += amari(&product(w, mixing));
    }

    /// Prints the instability of the components; whether the three most stable are three different sources of high kurtosis.
    fn report(&self, name: &str, variances: &[f64], mixing: &[f64], w: &[f64]) -> bool {
        let n = self.count as f64;
        let found = product(w, mixing);
        let mut components: Vec<(f64, usize)> = (0..K)
            .map(|i| {
                let spread = |k: usize| self.squares[k] / n - (self.sums[k] / n).powi(2);
                let instability = (0..K).map(|j| spread(i * K + j) * variances[j]).sum();
                let source =
                    (0..K).max_by(|a, b| found[i * K + a].abs().total_cmp(&found[i * K + b].abs())).unwrap_or(0);
                (instability, source)
            })
            .collect();
        components.sort_by(|a, b| a.0.total_cmp(&b.0));
        println!("{name}: {} draws, mean Amari distance {:.2}", self.count, self.amari / n);
        for (instability, source) in &components {
            println!(
                "  instability {instability:>9.4}, mostly source {source} ({})",
                if *source < 3 { "high kurtosis" } else { "normal" }
            );
        }
        let mut stable: Vec<usize> = components[..3].iter().map(|(_, source)| *source).collect();
        stable.sort_unstable();
        stable == [0, 1, 2]
    }
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..K * K).map(|k| (0..K).map(|l| a[k / K * K + l] * b[l * K + k % K]).sum()).collect()
}

/// Amari's distance of W A from a scaled permutation: zero if every source is found.
fn amari(p: &[f64]) -> f64 {
    let excess = |entry: &dyn Fn(usize, usize) -> f64| {
        (0..K)
            .map(|i| {
                let largest = (0..K).map(|j| entry(i, j).abs()).fold(0.0, f64::max);
                (0..K).map(|j| entry(i, j).abs()).sum::<f64>() / largest - 1.0
            })
            .sum::<f64>()
    };
    excess(&|i, j| p[i * K + j]) + excess(&|i, j| p[j * K + i])
}

/// The Langevin proposal with all observations, and a Metropolis step (eqs. (17) to (19)).
struct Corrected {
    w: Vec<f64>,
    value: f64,
    /// w + h/2 D needs D = ∇ WᵀW; kept with the factor of WᵀW.
    drift: Vec<f64>,
    factor: Cholesky,
}

impl Corrected {
    fn at(w: &[f64], evaluator: &mut dyn Evaluator) -> Result<Self, Failure> {
        let mut gradient = vec![0.0; K * K];
        let value = evaluator.posterior(w, Rows::range(0..N), &mut gradient)?;
        let gram = gram(w);
        Ok(Self { w: w.to_vec(), value, drift: product(&gradient, &gram), factor: Cholesky::new(&gram, K)? })
    }

    /// log q(self → w*), up to a constant: every row of W moves by N(h/2 D, h WᵀW).
    fn log_proposal(&self, to: &[f64], h: f64) -> f64 {
        let mut length = 0.0;
        for ((to, from), drift) in to.chunks_exact(K).zip(self.w.chunks_exact(K)).zip(self.drift.chunks_exact(K)) {
            let mut off: Vec<f64> = (0..K).map(|j| to[j] - from[j] - 0.5 * h * drift[j]).collect();
            self.factor.solve_lower(&mut off);
            length += dot(&off, &off);
        }
        -0.5 * length / h - 0.5 * K as f64 * self.factor.log_determinant()
    }

    fn step(&mut self, evaluator: &mut dyn Evaluator, h: f64, rng: &mut StreamRng) -> Result<bool, Failure> {
        let mut to = self.w.clone();
        let (mut z, mut turned) = (vec![0.0; K], vec![0.0; K]);
        for (to, drift) in to.chunks_exact_mut(K).zip(self.drift.chunks_exact(K)) {
            z.iter_mut().for_each(|z| *z = rng.sample(StandardNormal));
            self.factor.product(&z, &mut turned);
            (0..K).for_each(|j| to[j] += 0.5 * h * drift[j] + h.sqrt() * turned[j]);
        }
        let proposed = Self::at(&to, evaluator)?;
        let ratio = proposed.value - self.value + proposed.log_proposal(&self.w, h) - self.log_proposal(&to, h);
        let accept = rng.random::<f64>().ln() < ratio;
        if accept {
            *self = proposed;
        }
        Ok(accept)
    }
}

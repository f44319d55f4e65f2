//! Bayesian independent component analysis with the natural gradient: Langevin dynamics in which the matrix M depends on the parameters.
//!
//! p(x | W) = |det W| Πᵢ p(wᵢᵀx), p(y) = 1/(4 cosh²(y/2)), Wᵢⱼ ~ N(0, 1), M = I ⊗ WᵀW. Source: Welling & Teh (2011), §5.3.1: 1000 observations in six channels, three
//! sources of high kurtosis and three normal ones, minibatches of 100, h = (4/N) t^−0.55, draws from the sampling threshold α = 0.1 on; then
//! “corrected Langevin”, the same proposal with all observations, h = 0.1/N and a Metropolis step, from where the first chain ended. Here Γ = (d+1) W
//! is added to the drift of the first, which the paper leaves out, and the first chain starts at a tenth of a matrix that whitens the channels,
//! from where its long first steps lead up to the right size; from larger matrices they overshoot, without end.
//!
//! Claim: the most stable components (least Σⱼ var(Wᵢⱼ) var(xⱼ)) are the three sources of high kurtosis, in both samplers; normal sources cannot be told apart.
//!
//! ```text
//! cargo run --release --example ica
//! ```

#[path = "../shared/figure.rs"]
mod figure;
#[path = "../shared/flags.rs"]
mod flags;

mod draws;
mod model;

use draws::Draws;
use model::{Ica, K, MINIBATCH, N, Simulated, natural, threshold};
use sgmcmc::prelude::*;

type Failure = Box<dyn std::error::Error>;

/// Iterations between looks at the sampling threshold.
const LOOK_EVERY: u64 = 500;

fn main() -> Result<(), Failure> {
    let mut flags = flags::Flags::read("Bayesian independent component analysis with the natural gradient.")?;
    let iterations: u64 = flags.get("iterations", 500_000, "iterations of stochastic Langevin dynamics")?;
    let corrected: u64 = flags.get("corrected", 100_000, "iterations of corrected Langevin dynamics")?;
    let seed = flags.get("seed", 1, "seed of data and chains")?;
    let figure = flags.get("figure", "ica.svg".to_owned(), "where the figure is saved")?;
    flags.finish()?;
    println!("{N} SIMULATED observations: {K} channels mixed from 3 sources of high kurtosis and 3 normal ones\n");
    let data = Simulated::new(seed);
    let target = Analytic::<Tensor<2>>::new(Ica(data.x.clone().into()));
    let start = array(data.whitening()?.iter().map(|w| 0.1 * w).collect(), [K, K])?;

    let steps = Polynomial { a: 4.0 / N as f64, b: 1.0, gamma: 0.55 };
    let gradient = MinibatchGradient::new(WithoutReplacement::new(MINIBATCH));
    let mut sampler = Builder::new(target.clone(), Sgrld::new(natural()), gradient, steps).seed(seed).start(&start)?;
    let mut stochastic = Draws::default();
    let (mut pace, mut passed) = (None, 0.0);
    for iteration in 1..=iterations {
        sampler.step()?;
        let h = sampler.info().step_size;
        match pace {
            None if iteration % LOOK_EVERY == 0 => {
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
                passed += h;
                if passed >= distance {
                    passed -= distance;
                    stochastic.push(sampler.coordinates(), &data);
                }
            }
        }
    }
    if stochastic.is_empty() {
        return Err("the sampling threshold was not reached: give more --iterations".into());
    }
    let first = stochastic.report("stochastic Langevin", &data);

    // From where the first chain ended, so that both are in the same maximum.
    let last = array(sampler.coordinates().to_vec(), [K, K])?;
    let proposals = CorrectedLangevin { gamma: false, ..CorrectedLangevin::new(natural()) };
    let mut sampler = Builder::new(target, proposals, FullGradient, 0.1 / N as f64).seed(seed).start(&last)?;
    let (mut exact, mut accepted, mut stats) = (Draws::default(), 0.0, [0.0; 2]);
    for _ in 0..corrected {
        sampler.step()?;
        sampler.kernel().stats(&mut stats);
        accepted += stats[0] / corrected as f64;
        exact.push(sampler.coordinates(), &data);
    }
    println!("\ncorrected Langevin accepts {accepted:.2} of its proposals");
    let second = exact.report("corrected Langevin", &data);
    println!();
    let panels = [stochastic.panels("stochastic Langevin", &data), exact.panels("corrected Langevin", &data)];
    figure::save(&figure, &panels.into_iter().flatten().collect::<Vec<_>>())?;
    let mut failed = 0;
    for (name, holds) in [("stochastic Langevin", first), ("corrected Langevin", second)] {
        failed += usize::from(!holds);
        println!(
            "{name}: the stable components are the sources of high kurtosis: {}",
            if holds { "pass" } else { "FAIL" }
        );
    }
    if failed == 0 { Ok(()) } else { Err(format!("{failed} claims do not hold").into()) }
}

//! Bayesian independent component analysis with the natural gradient: Langevin dynamics with a matrix M that depends on
//! the parameters.
//!
//! The model is p(x | W) = |det W| Πᵢ p(wᵢᵀx), p(y) = 1/(4 cosh²(y/2)), Wᵢⱼ ~ N(0, 1), with M = I ⊗ WᵀW. Source:
//! Welling & Teh (2011), §5.3.1: 1000 observations of six channels, three sources of high kurtosis and three normal
//! ones, minibatches of 100, h = (4/N) t^−0.55, draws after the sampling threshold α = 0.1. The second sampler is
//! “corrected Langevin”: the same proposal with all observations, h = 0.1/N and a Metropolis step, started at the end
//! of the first chain.
//!
//! Two details differ from the paper. The drift of the first sampler includes Γ = (d + 1) W, which the paper omits. Its
//! chain starts at 0.1 times a matrix that whitens the channels; from larger matrices the first, long steps diverge.
//!
//! Claim: the most stable components (smallest Σⱼ var(Wᵢⱼ) var(xⱼ)) are the three sources of high kurtosis, in both
//! samplers. Normal sources cannot be separated.
//!
//! ```text
//! cargo run --release -p lab -- ica
//! ```

mod draws;
mod model;

use draws::Draws;
use model::{Ica, K, MINIBATCH, N, Simulated, natural, threshold};
use sgmcmc::AnalyticTree;
use sgmcmc::algorithms::{RiemannianMala, Sgrld};
use sgmcmc::gradient::{FullGradient, MinibatchGradient};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::schedule::Polynomial;

use crate::Result;
use crate::papers::figure;
use crate::papers::flags::Flags;
use crate::papers::stages::Stages;

/// The number of iterations between evaluations of the sampling threshold.
const THRESHOLD_INTERVAL: u64 = 500;

/// Runs the replication.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut flags = Flags::parse(arguments, "Bayesian independent component analysis with the natural gradient.")?;
    let iterations: u64 = flags.get("iterations", 500_000, "iterations of stochastic Langevin dynamics")?;
    let corrected: u64 = flags.get("corrected", 100_000, "iterations of corrected Langevin dynamics")?;
    let seed = flags.get("seed", 1, "seed of data and chains")?;
    let figure = flags.get("figure", "target/ica.svg".to_owned(), "file of the figure")?;
    let stages = Stages::new(&flags.finish()?);
    println!("{N} SIMULATED observations: {K} channels mixed from 3 sources of high kurtosis and 3 normal ones\n");
    let data = Simulated::new(seed);
    let target = AnalyticTree::<Tensor<2>>::new(Ica(data.x.clone().into()));
    let start = array(data.whitening()?.iter().map(|w| 0.1 * w).collect(), [K, K])?;

    stages.begin(&format!("{iterations} iterations of stochastic Langevin dynamics"));
    let steps = Polynomial { a: 4.0 / N as f64, b: 1.0, gamma: 0.55 };
    let gradient = MinibatchGradient::new(WithoutReplacement::new(MINIBATCH));
    let mut sampler = Builder::new(target.clone(), Sgrld::new(natural()), gradient, steps).seed(seed).start(&start)?;
    let mut stochastic = Draws::default();
    let (mut threshold_step, mut elapsed) = (None, 0.0);
    for iteration in 1..=iterations {
        sampler.step()?;
        let h = sampler.info().step_size;
        match threshold_step {
            None if iteration % THRESHOLD_INTERVAL == 0 => {
                let w = sampler.coordinates().to_vec();
                let alpha = threshold(sampler.chain().evaluator(), &w, h)?;
                if alpha < 0.1 {
                    println!("sampling threshold: alpha = {alpha:.3} at iteration {iteration}");
                    threshold_step = Some(h);
                }
            }
            None => {}
            // Keep a draw whenever the step sizes add up to the step size at the threshold.
            Some(distance) => {
                elapsed += h;
                if elapsed >= distance {
                    elapsed -= distance;
                    stochastic.push(sampler.coordinates(), &data);
                }
            }
        }
    }
    if stochastic.is_empty() {
        return Err("the sampling threshold was not reached: increase --iterations".into());
    }
    let first = stochastic.report("stochastic Langevin", &data);

    stages.begin(&format!("{corrected} iterations of corrected Langevin dynamics"));
    // Start at the end of the first chain, so that both chains are in the same mode.
    let last = array(sampler.coordinates().to_vec(), [K, K])?;
    let proposals = RiemannianMala { gamma: false, ..RiemannianMala::new(natural()) };
    let mut sampler = Builder::new(target, proposals, FullGradient, 0.1 / N as f64).seed(seed).start(&last)?;
    let (mut exact, mut accepted, mut stats) = (Draws::default(), 0.0, [0.0; 2]);
    for _ in 0..corrected {
        sampler.step()?;
        sampler.chain().stats(&mut stats);
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

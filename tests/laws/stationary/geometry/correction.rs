//! The correction Γ of SGRLD and pSGLD on a banana-shaped density.

use sgmcmc_testkit::models::banana::{BEND, Banana};

use super::*;

/// E v, E v² − 1 and E u² − 1 over a long run on the banana: all zero under the target.
fn banana_bias<D>(dynamics: D, h: f64, steps: usize) -> [f64; 3]
where
    D: Dynamics<FullGradient> + std::fmt::Debug,
{
    let evaluator = Banana.target().evaluator(&zeros([2])).unwrap();
    let recipe = recipe(dynamics, FullGradient, h, 1.0);
    let mut chain = recipe.start(evaluator, &[0.1, 0.1], ChainRng::new(1, 0)).unwrap();
    let mut sums = [0.0; 3];
    for _ in 0..steps {
        chain.step().unwrap();
        let [u, v] = Banana::straightened(chain.position());
        sums[0] += v;
        sums[1] += v * v - 1.0;
        sums[2] += u * u - 1.0;
    }
    sums.map(|sum| sum / steps as f64)
}

/// M = J Jᵀ with J the derivative of (x, y) by (u, v): Γ = (0, 2b), and without it v is centered at −2b.
fn bent_metric() -> Metric {
    Metric::dense(|theta, m| {
        let slope = 2.0 * BEND * theta[0];
        m.copy_from_slice(&[1.0, slope, slope, 1.0 + slope * slope]);
    })
}

#[test]
fn sgrld_needs_gamma_on_a_banana() {
    let given = bent_metric().with_gamma(|_, gamma| gamma.copy_from_slice(&[0.0, 2.0 * BEND]));
    for metric in [bent_metric(), given] {
        let [mean, spread, other] = banana_bias(Sgrld::new(metric), 0.05, 400_000);
        assert!(mean.abs() < 0.05 && spread.abs() < 0.1 && other.abs() < 0.1, "{mean} {spread} {other}");
    }
    let [mean, ..] = banana_bias(Sgrld { metric: bent_metric(), gamma: false }, 0.05, 400_000);
    assert!((mean + 2.0 * BEND).abs() < 0.1, "{mean} without the correction");
}

/// The same for pSGLD, whose Γ is estimated.
#[test]
fn psgld_needs_gamma_on_a_banana() {
    let psgld = |gamma| Psgld { alpha: 0.5, lambda: 0.5, gamma };
    let size = |bias: [f64; 3]| bias.iter().fold(0.0_f64, |largest, bias| largest.max(bias.abs()));
    let with = size(banana_bias(psgld(true), 0.02, 1_500_000));
    let without = size(banana_bias(psgld(false), 0.02, 1_500_000));
    assert!(with < 0.06, "off by {with} with the correction");
    assert!(without > 1.0, "off by {without} without it");
}

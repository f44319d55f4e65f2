//! The laws of SGRLD tend to the Dirichlet posterior with the step size.

use sgmcmc_diagnostics::distance::dirichlet_ks;
use sgmcmc_gradient::{FullGradient, GradientEstimator, MinibatchGradient, WithoutReplacement};

use super::{categorical, start};
use crate::chain::Chain;
use crate::dynamics::Dynamics;
use crate::simplex::{ExpandedMean, ExpandedNatural, ReducedMean, ReducedNatural, Scir};

const A: [f64; 3] = [10.0, 7.0, 9.0];

/// Returns the KS distance of a chain that runs for a time of `steps` · `h`, with 4000 draws.
fn distance<D, G>(dynamics: D, gradient: G, h: f64, steps: usize) -> f64
where
    D: Dynamics<G> + std::fmt::Debug,
    G: GradientEstimator + std::fmt::Debug,
{
    let target = categorical(4.0, &[6, 3, 5]);
    let mut chain = start(&target, dynamics, gradient, h, &A.map(f64::ln), 1);
    let mut draws = Vec::new();
    for step in 0..steps {
        chain.step().unwrap();
        if step % (steps / 4000) == 0 {
            draws.extend(chain.layout().values(chain.position()).unwrap());
        }
    }
    dirichlet_ks(&draws, &A).unwrap()
}

/// The KS distance of 4000 independent draws is about 0.014 ± 0.004; 0.035 and 0.045 are five and eight standard
/// deviations above it. Draws here are nearly independent, and the second time is long enough for the same precision.
#[test]
fn the_distance_from_the_posterior_vanishes_with_the_step_size() {
    let minibatch = || MinibatchGradient::new(WithoutReplacement::new(7));
    let check = |name: &str, coarse: f64, fine: f64| {
        assert!(coarse > 0.045 && fine < 0.035, "{name}: {coarse} and {fine}");
    };
    // Steps of a fifth and of a fiftieth of the relaxation time; the last argument is the number of steps.
    check("mean", distance(ExpandedMean, FullGradient, 0.8, 8000), distance(ExpandedMean, FullGradient, 0.04, 400_000));
    check(
        "minibatch",
        distance(ExpandedMean, minibatch(), 0.8, 8000),
        distance(ExpandedMean, minibatch(), 0.02, 400_000),
    );
    check(
        "natural",
        distance(ExpandedNatural, FullGradient, 4.0, 8000),
        distance(ExpandedNatural, FullGradient, 0.05, 400_000),
    );
    check(
        "reduced mean",
        distance(ReducedMean, FullGradient, 0.1, 8000),
        distance(ReducedMean, FullGradient, 0.003, 400_000),
    );
    // Longer steps of this parameterization diverge.
    check(
        "reduced natural",
        distance(ReducedNatural, FullGradient, 0.04, 8000),
        distance(ReducedNatural, FullGradient, 0.001, 400_000),
    );
    check("scir", distance(Scir, minibatch(), 3.0, 8000), distance(Scir, minibatch(), 0.02, 400_000));
    assert!(distance(Scir, FullGradient, 3.0, 8000) < 0.035, "exact at every step size");
}

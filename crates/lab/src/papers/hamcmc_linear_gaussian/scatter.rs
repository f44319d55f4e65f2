//! Scatter plots of draws over contours of a two-dimensional posterior.

use sgmcmc::Sampler;
use sgmcmc::algorithms::{Psgld, Sgld, Sgrld};
use sgmcmc::numerics::Cholesky;
use sgmcmc::prelude::*;

use super::problem::{Design, Problem, fisher, grid, hamcmc};
use crate::Result;
use crate::papers::figure::{self, Axis, Panel, Series};

/// Saves figure 1: the draws of four methods over contours of a two-dimensional posterior.
pub fn scatter(steps: usize, out: &str) -> Result<()> {
    let problem = Problem::simulate(1000, 2, Design { sd: 1.0, correlation: 0.9 }, 8)?;
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
    macro_rules! add {
        ($name:expr, $dynamics:expr) => {
            // The step size whose draws are closest to the posterior: smallest ‖S Σ⁻¹ − I‖, where S is their
            // covariance.
            let mut closest: Option<(f64, f64, HalfRun)> = None;
            for c in grid() {
                let Some(draws) = second_half(problem.sampler($dynamics, c, 2)?, steps) else { continue };
                let error = distance(&covariance_of(&draws.points), &problem.precision);
                if closest.as_ref().is_none_or(|(least, ..)| error < *least) {
                    closest = Some((error, c, draws));
                }
            }
            let (_, c, draws) = closest.ok_or("no step of the grid is stable")?;
            show($name, Some(c), covariance_of(&draws.points));
            panels.push(panel($name, draws, &problem.mean, &factor));
        };
    }
    add!("SGLD", Sgld);
    add!("pSGLD", Psgld::default());
    add!("SGRLD", Sgrld::new(fisher(&problem)));
    add!("HAMCMC M = 2", hamcmc(2, &problem));
    figure::save(out, &panels)
}

/// Returns a panel of about a thousand draws over the named contours that contain 39 %, 86 % and 99 % of the posterior.
/// Thinning keeps the same number of draws of each interleaved chain.
fn panel(name: &str, draws: HalfRun, mean: &[f64], factor: &Cholesky) -> Panel {
    let HalfRun { points, interleaved } = draws;
    let thin = (points.len() / 1000).max(1);
    let points = points.chunks(interleaved).step_by(thin).flatten().map(|draw| (draw[0], draw[1])).collect();
    let mut series = vec![Series { name: "draws".into(), color: 0, dots: true, points }];
    for (color, (radius, share)) in [(1.0, "39 %"), (2.0, "86 %"), (3.0, "99 %")].into_iter().enumerate() {
        let points = (0..=100).map(|k| {
            let angle = std::f64::consts::TAU * f64::from(k) / 100.0;
            let mut point = [radius * angle.cos(), radius * angle.sin()];
            factor.solve_upper(&mut point);
            (mean[0] + point[0], mean[1] + point[1])
        });
        series.push(Series { name: share.into(), color: color + 1, dots: false, points: points.collect() });
    }
    let axis = |label| Axis { label, log: false };
    Panel { title: name.into(), x: axis("θ₁"), y: axis("θ₂"), series }
}

/// The draws of the second half of a run.
struct HalfRun {
    points: Vec<[f64; 2]>,
    /// The number of interleaved chains.
    interleaved: usize,
}

/// Returns the draws of the second half of a run, or `None` if it diverges.
fn second_half(mut sampler: Sampler<Tensor<1>>, steps: usize) -> Option<HalfRun> {
    let mut points = Vec::new();
    for iteration in 0..steps {
        sampler.step().ok()?;
        if iteration >= steps / 2 {
            points.push([sampler.coordinates()[0], sampler.coordinates()[1]]);
        }
    }
    Some(HalfRun { points, interleaved: sampler.interleaved_chains() })
}

/// Returns ‖S A − I‖.
fn distance(s: &[f64; 4], a: &[f64]) -> f64 {
    let entry = |i: usize, j: usize| s[2 * i] * a[j] + s[2 * i + 1] * a[2 + j] - f64::from(u8::from(i == j));
    [entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)].iter().map(|entry| entry * entry).sum::<f64>().sqrt()
}

/// Returns the covariance of the draws.
fn covariance_of(draws: &[[f64; 2]]) -> [f64; 4] {
    let n = draws.len() as f64;
    let mean = [0, 1].map(|j| draws.iter().map(|draw| draw[j]).sum::<f64>() / n);
    [(0, 0), (0, 1), (1, 0), (1, 1)]
        .map(|(i, j)| draws.iter().map(|draw| (draw[i] - mean[i]) * (draw[j] - mean[j])).sum::<f64>() / n)
}

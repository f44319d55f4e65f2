//! The programs against the eager engine, before they are trusted.
//!
//! Value and gradient of prior and likelihood are compared at random points near the start and on random rows, at several row
//! counts. The eager engine in double precision is the measure; a program in single precision may be as far from it as the
//! eager engine in single precision is, times [`SLACK`], or as rounding explains.

use rand::{RngExt, SeedableRng};
use sgmcmc_compiler::program::{Real, Sink};

use super::super::eager::Eager;
use super::super::{Evaluator, Posterior};
use super::reason::Reason;
use super::sheet::Sheet;
use crate::data::{Dataset, Precision, Rows};
use crate::rng::StreamRng;
use crate::tree::TensorTree;

/// How many times the eager engine's own rounding error is allowed.
const SLACK: f64 = 16.0;
/// Relative errors that rounding explains. In double precision it is Burn's: it differentiates x/c with c rounded to single
/// precision.
const SINGLE: f64 = 1e-4;
const DOUBLE: f64 = 1e-6;
/// Gradients that are smaller than this everywhere are compared as if one of them were this large: what is left of a gradient at a
/// mode is rounding.
const SMALLEST: f64 = 0.1;
/// Rows per comparison.
const ROW_COUNTS: [usize; 3] = [1, 2, 13];
/// How far from the start the points lie. At a start of zeros or ones functions with kinks often have theirs, where one engine may take
/// the slope of one side and the other that of the other; the start itself is compared only if there is no number anywhere else.
const SPREADS: [f64; 3] = [0.02, 0.3, 0.0];

/// What is compared: a value and its gradient.
struct Evaluated {
    value: f64,
    gradient: Vec<f64>,
}

/// # Errors
///
/// Where the two disagree.
pub(super) fn check<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    sheet: &Sheet,
) -> std::result::Result<(), Reason> {
    match eager.precision() {
        Precision::Single => check_in::<P, D, f32>(posterior, eager, sheet),
        Precision::Double => check_in::<P, D, f64>(posterior, eager, sheet),
    }
}

fn check_in<P: TensorTree, D: TensorTree, T: Real>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    sheet: &Sheet,
) -> std::result::Result<(), Reason> {
    let mut rng = StreamRng::seed_from_u64(0x0005_9c3c);
    let observations = posterior.data().observations();
    let (mut likelihood, mut prior) = (sheet.program::<T>(&sheet.likelihood)?, sheet.program::<T>(&sheet.prior)?);
    let mut together = sheet.program::<T>(&sheet.posterior)?;
    let start = eager.coordinates();
    for n in ROW_COUNTS {
        let rows: Vec<usize> = match observations {
            0 => vec![],
            all => (0..n).map(|_| rng.random_range(0..all)).collect(),
        };
        let mut compared = false;
        for spread in SPREADS {
            if spread.abs() == 0.0 && compared {
                break;
            }
            let theta: Vec<f64> = start.iter().map(|x| x + spread * (rng.random::<f64>() - 0.5)).collect();
            let columns = posterior.data().columns();
            let (power, _) = posterior.model().powers();
            let apart = vec![(&mut likelihood, rows.as_slice()), (&mut prior, &[])];
            for programs in [apart, vec![(&mut together, &rows)]] {
                let mut ours = Evaluated { value: 0.0, gradient: vec![0.0; theta.len()] };
                let mut any = false;
                for (program, rows) in programs {
                    let Some(program) = program else { continue };
                    let sink = Sink::Gradient(&mut ours.gradient);
                    let value = super::run(program, columns, &theta, Rows::list(rows), power, sink);
                    ours.value += value.map_err(|error| Reason::new(error.to_string()))?;
                    any = true;
                }
                if any {
                    agree(posterior, eager, &theta, &rows, &ours)?;
                    compared |= ours.value.is_finite();
                }
            }
        }
    }
    Ok(())
}

/// Whether `ours` is what the eager engine gives.
fn agree<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    theta: &[f64],
    rows: &[usize],
    ours: &Evaluated,
) -> std::result::Result<(), Reason> {
    let data = match rows {
        [] => posterior.data().clone(),
        rows => posterior.data().take(Rows::list(rows)).map_err(|error| Reason::new(error.to_string()))?,
    };
    let own = evaluate(posterior, eager, data.clone(), eager.precision(), theta)?;
    let single = eager.precision() == Precision::Single;
    let exact = if single {
        evaluate(posterior, eager, data, Precision::Double, theta)?
    } else {
        Evaluated { value: own.value, gradient: own.gradient.clone() }
    };
    let rounding = if single { SINGLE } else { DOUBLE };
    let scale = exact.gradient.iter().fold(SMALLEST, |largest, g| largest.max(g.abs()));
    let near = |ours: f64, own: f64, exact: f64, scale: f64| {
        let alike = (ours.is_nan() && own.is_nan()) || ours.to_bits() == own.to_bits();
        alike || (ours - exact).abs() <= SLACK * (own - exact).abs() + rounding * (exact.abs() + scale)
    };
    if !near(ours.value, own.value, exact.value, 1.0) {
        let (found, expected) = (ours.value, own.value);
        return Err(Reason::new(format!("the compiled log density is {found} where the eager one is {expected}")));
    }
    for (index, (g, (own, exact))) in ours.gradient.iter().zip(own.gradient.iter().zip(&exact.gradient)).enumerate() {
        if !near(*g, *own, *exact, scale) {
            let element = eager.layout().coordinate(index);
            return Err(Reason::new(format!("the compiled gradient of {element} is {g} where the eager one is {own}")));
        }
    }
    Ok(())
}

fn evaluate<P: TensorTree, D: TensorTree>(
    posterior: &Posterior<P, D>,
    eager: &Eager<P, D>,
    data: Dataset<D>,
    precision: Precision,
    theta: &[f64],
) -> std::result::Result<Evaluated, Reason> {
    let mut engine = eager.on(posterior, data.with_precision(precision), precision);
    let mut gradient = vec![0.0; theta.len()];
    let rows = engine.all_rows();
    let value = engine.posterior(theta, rows, &mut gradient).map_err(|error| Reason::new(error.to_string()))?;
    Ok(Evaluated { value, gradient })
}

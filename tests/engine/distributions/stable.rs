//! Draws from stable distributions against their characteristic function.

use sgmcmc::array;
use sgmcmc::distributions::Stable;
use sgmcmc_testkit::rng;

use crate::distributions::host;

const DRAWS: usize = 20_000;

/// The mean of cos tX and of sin tX, whose standard errors are below 1/√(2 n) · √2.
#[test]
fn draws_have_the_characteristic_function() {
    let cases = [[2.0, 0.0], [1.5, 0.0], [1.5, 0.8], [1.0, 0.0], [1.0, -0.6], [0.5, 1.0], [0.7, -0.3], [1.9, 1.0]];
    for (seed, [index, skewness]) in cases.into_iter().enumerate() {
        let (loc, scale) = (0.4, 1.3);
        let drawn = host(&Stable::new(index, skewness, loc, scale).sample([DRAWS], &mut rng(seed as u64 + 40)));
        for t in [0.3_f64, -0.8, 2.0] {
            let w = if (index - 1.0_f64).abs() < f64::EPSILON {
                -std::f64::consts::FRAC_2_PI * t.abs().ln()
            } else {
                (std::f64::consts::FRAC_PI_2 * index).tan()
            };
            let size = (scale * t).abs().powf(index);
            let (modulus, phase) = ((-size).exp(), t * loc + size * skewness * t.signum() * w);
            let n = DRAWS as f64;
            let cosine = drawn.iter().map(|x| (t * x).cos()).sum::<f64>() / n;
            let sine = drawn.iter().map(|x| (t * x).sin()).sum::<f64>() / n;
            let error = (cosine - modulus * phase.cos()).hypot(sine - modulus * phase.sin());
            assert!(error < 5.0 / n.sqrt(), "index {index}, skewness {skewness}, t = {t}: {error}");
        }
    }
}

#[test]
fn parameters_out_of_range_are_refused_or_give_nan() {
    assert!(std::panic::catch_unwind(|| Stable::<1>::new(2.5, 0.0, 0.0, 1.0)).is_err());
    assert!(std::panic::catch_unwind(|| Stable::<1>::new(1.5, 1.5, 0.0, 1.0)).is_err());
    assert!(std::panic::catch_unwind(|| Stable::<1>::new(1.5, 0.0, 0.0, 0.0)).is_err());
    let index = array(vec![1.5, 0.0, 2.5, f64::NAN], [4]).unwrap();
    let drawn = host(&Stable::new(index, 0.5, 0.0, 1.0).sample([4], &mut rng(1)));
    assert!(drawn[0].is_finite() && drawn[1..].iter().all(|x| x.is_nan()), "{drawn:?}");
}

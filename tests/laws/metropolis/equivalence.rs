//! Methods that draw the same for special settings.

use super::*;

/// A matrix that is the same everywhere makes it MALA, but for rounding.
#[test]
fn corrected_langevin_with_a_constant_matrix_is_mala() {
    let [_, diagonal, dense] = covariances();
    let variances = [0.5, 1.0, 1.5, 0.7, 0.8, 1.2];
    let same = Metric::diagonal(move |_, m| m.copy_from_slice(&variances));
    let covaries = Metric::dense(|_, m| (0..36).for_each(|k| m[k] = if k / 6 == k % 6 { 1.0 } else { 0.3 }));
    for (covariance, metric) in [(diagonal, same), (dense, covaries)] {
        let mala = path(&mut logistic(Mala { covariance, ..Mala::default() }, 5), 200);
        let corrected = path(&mut logistic(RiemannianMala::new(metric), 5), 200);
        let off = mala.concat().iter().zip(corrected.concat()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{off:e}");
    }
}

/// An ensemble that has not parted has the identity for a covariance: its first move is that of HMC.
#[test]
fn hmc_bfgs_begins_as_hmc() {
    let ensemble = HmcBfgs { steps: 3, ..HmcBfgs::default() };
    let hmc = Hmc { steps: 3, ..Hmc::default() };
    let (mut ensemble, mut hmc) = (logistic(ensemble, 7), logistic(hmc, 7));
    assert_eq!(path(&mut ensemble, 1), path(&mut hmc, 1));
}

/// One leapfrog step is a Langevin proposal, h = ε², and both accept alike: the same draws, bit for bit.
#[test]
fn hmc_with_one_step_is_mala() {
    for covariance in covariances() {
        let adapt = Some(DualAveraging { iterations: 100, acceptance: 0.6 });
        for adapt in [None, adapt] {
            let mala = Mala { covariance: covariance.clone(), adapt, ..Mala::default() };
            let mala = path(&mut logistic(mala, 5), 400);
            let hmc = Hmc { steps: 1, covariance: covariance.clone(), adapt, ..Hmc::default() };
            assert!(mala == path(&mut logistic(hmc, 5), 400), "{covariance:?}, {adapt:?}");
            let moved = mala.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!((100..390).contains(&moved), "{moved} of 400 proposals accepted under {covariance:?}");
        }
    }
}

//! The concentration against numerical integration over its posterior.

use sgmcmc_diagnostics::mcse_mean;

use super::exact::{Partitions, TOLERANCE, assert_agreement, average, compare, run};
use super::{counts, multinomial};
use crate::mixture::{Concentration, DirichletProcess, Multinomial};

const SHAPE: f64 = 1.5;
const RATE: f64 = 0.8;

fn check(process: &DirichletProcess<Multinomial>, seed: u64) {
    let partitions = Partitions::new(&multinomial(), &counts());
    let (exact, first, second) = partitions.integrated(SHAPE, RATE);
    let process = process.clone().concentration(Concentration::Gamma { shape: SHAPE, rate: RATE });
    let draws = run(&process, &counts(), 60_000, seed);
    assert_agreement(&compare(&partitions.labels, &exact, &draws.partitions));
    let squares: Vec<f64> = draws.concentrations.iter().map(|alpha| alpha * alpha).collect();
    let (mean, square) = (SHAPE / RATE, SHAPE * (SHAPE + 1.0) / (RATE * RATE));
    for (series, exact, prior) in [(&draws.concentrations, first, mean), (&squares, second, square)] {
        let (estimate, error) = (average(series), mcse_mean(&[series]));
        assert!((estimate - exact).abs() < TOLERANCE * error, "{estimate} ± {error}, exact {exact}");
        // The data must say something about α, or the prior alone would pass.
        assert!((estimate - prior).abs() > TOLERANCE * error, "{estimate} ± {error}, prior {prior}");
    }
}

#[test]
fn draws_given_the_clusters_have_the_exact_distribution() {
    check(&DirichletProcess::new(|_| Ok(multinomial())), 1);
}

#[test]
fn draws_given_the_sticks_have_the_exact_distribution() {
    check(&DirichletProcess::new(|_| Ok(multinomial())).scir(1.0), 2);
}

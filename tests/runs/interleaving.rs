//! Algorithms that interleave chains are recorded chain by chain, so that effective sample sizes and Monte Carlo errors are right.

use std::fmt::Debug;

use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use sgmcmc::AnalyticTree;
use sgmcmc::algorithms::StepContext;
use sgmcmc::algorithms::Values;
use sgmcmc::algorithms::{DualAveraging, Hamcmc, HmcBfgs, InitialScale, Sgld};
use sgmcmc::algorithms::{Dynamics, HasPosition};
use sgmcmc::fit::ChainOutcome;
use sgmcmc::fit::RunInfo;
use sgmcmc::fit::Severity;
use sgmcmc::gradient::{FullGradient, GradientEstimator, MinibatchGradient};
use sgmcmc::gradient::{Oracle, Result};
use sgmcmc::minibatch::WithoutReplacement;
use sgmcmc::prelude::*;
use sgmcmc::rng::StreamRng;
use sgmcmc::run::ProgressOption;
use sgmcmc::run::{CheckpointInterval, Progress};
use sgmcmc::sink::Memory;
use sgmcmc::storage::FileCheckpoints;
use sgmcmc::storage::fits;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::normal_mean::NormalMean;

/// `chains` independent autoregressions x ← ρx + √(1 − ρ²) z that take turns. The first `silent` iterations do not count.
#[derive(Clone, Copy, Debug)]
struct Autoregressions {
    chains: usize,
    rho: f64,
    silent: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    chains: Vec<Vec<f64>>,
    moved: usize,
    iterations: u64,
}

impl HasPosition for State {
    fn position(&self) -> &[f64] {
        &self.chains[self.moved]
    }

    fn position_mut(&mut self) -> &mut [f64] {
        &mut self.chains[self.moved]
    }
}

impl<G: GradientEstimator> Dynamics<G> for Autoregressions {
    type State = State;

    fn init(&self, theta: &[f64], _context: StepContext<'_>, _oracle: &mut Oracle<G>) -> Result<State> {
        Ok(State { chains: vec![theta.to_vec(); self.chains], moved: self.chains - 1, iterations: 0 })
    }

    fn step(&self, state: &mut State, _context: StepContext<'_>, oracle: &mut Oracle<G>) -> Result<f64> {
        state.moved = (state.moved + 1) % self.chains;
        state.iterations += 1;
        let scale = (1.0 - self.rho * self.rho).sqrt();
        for x in &mut state.chains[state.moved] {
            let z: f64 = oracle.noise().sample(StandardNormal);
            *x = self.rho * *x + scale * z;
        }
        Ok(0.0)
    }

    fn interleaved_chains(&self) -> usize {
        self.chains
    }

    fn keeps_draw(&self, state: &State) -> bool {
        state.iterations > self.silent
    }
}

fn autoregressions(chains: usize, rho: f64) -> Autoregressions {
    Autoregressions { chains, rho, silent: 0 }
}

/// A run on the posterior of a normal mean given `N` observations.
fn run<D, G>(dynamics: D, gradient: G, h: f64) -> Builder<AnalyticTree<Tensor<1>>, D, G> {
    Builder::new(NormalMean::simulate(N, 1).by_hand, dynamics, gradient, h).seed(1)
}

const N: usize = 20;

/// The precision of the posterior.
const PRECISION: f64 = N as f64 + 0.01;

/// (1 + ρ)/(1 − ρ): draws of an autoregression per effective draw.
fn cost(rho: f64) -> f64 {
    (1.0 + rho) / (1.0 - rho)
}

/// Asserts that the reported effective size and Monte Carlo error are those of autoregressions with correlation `rho` between the
/// recorded draws of each chain.
///
/// With an effective size E the estimate has a relative standard deviation of about √(2(2W + 1)/(E τ)), τ = (1 + ρ)/(1 − ρ) and W
/// the number of lags that are summed, about 2τ to 3τ (Sokal 1997): 4 to 5 % for E = 6000. The tolerance is four of them. The Monte
/// Carlo error has half this relative error.
fn assert_sizes(fit: &Fit, rho: f64, what: &str) {
    let draws: usize = fit.chains().iter().map(|chain| chain.len()).sum();
    let expected = draws as f64 / cost(rho);
    let row = *fit.summary().row("theta").unwrap();
    let (size, error) = (row.ess_bulk / expected, row.mcse_mean / (row.sd / expected.sqrt()));
    let found = row.ess_bulk;
    assert!((size - 1.0).abs() < 0.2, "{what}: the effective size is {found:.0}, {size:.3} of the truth");
    assert!((error - 1.0).abs() < 0.1, "{what}: {error:.3} of the true Monte Carlo error");
}

/// Asserts that `fit` has `runs` runs of `interleaved` chains of equal length, each with its own iterations.
fn assert_apart(fit: &Fit, runs: usize, interleaved: usize) {
    assert_eq!(fit.chains().len(), runs * interleaved);
    assert_eq!(fit.info().interleaved, interleaved);
    for (number, chain) in fit.chains().iter().enumerate() {
        assert_eq!(chain.len(), fit.chains()[0].len());
        let turn = (number % interleaved) as u64;
        assert!(chain.iterations().iter().all(|iteration| (iteration - 1) % interleaved as u64 == turn));
    }
}

/// The effective draws that a run should have.
const EFFECTIVE: f64 = 6000.0;

#[test]
fn effective_sizes_of_interleaved_autoregressions_are_right() {
    for interleaved in 2..=5 {
        let thin_by_all = interleaved as u64;
        // Ten times as many iterations with 0.99: fewer cases.
        let weak: &[(usize, u64)] = &[(1, 1), (4, 1), (1, thin_by_all), (4, 2)];
        for (rho, cases) in [(0.9_f64, weak), (0.99, &weak[1..3])] {
            for (runs, thin) in cases.iter().copied() {
                let kept = rho.powi(thin as i32);
                let draws = (EFFECTIVE * cost(kept)) as usize / runs;
                let burn_in = (10.0 * interleaved as f64 / (1.0 - rho)) as u64;
                let run = run(autoregressions(interleaved, rho), FullGradient, 1.0).chains(runs);
                let fit = run.burn_in(burn_in).thin(thin).sample(&zeros([1]), draws).unwrap();
                assert_sizes(&fit, kept, &format!("ρ = {rho}, M = {interleaved}, {runs} runs, thin {thin}"));
                assert_apart(&fit, runs, interleaved);
            }
        }
    }
}

/// On a normal mean the L-BFGS matrix is 1/(A + λ), A the precision, as soon as there is a pair: each of the M chains is an
/// autoregression with ρ = 1 − (h/2) A/(A + λ), whatever the noise of the gradient.
#[test]
fn effective_sizes_of_hamcmc_are_right() {
    let (h, lambda) = (0.2, 1.0);
    let rho = 1.0 - 0.5 * h * PRECISION / (PRECISION + lambda);
    for memory in 2..=5 {
        let dynamics = Hamcmc { memory, lambda, gamma: InitialScale::Fixed(1.0 / PRECISION) };
        let gradient = MinibatchGradient::new(WithoutReplacement::new(5));
        let draws = (EFFECTIVE * cost(rho)) as usize;
        let fit = run(dynamics, gradient, h).burn_in(1000).sample(&zeros([1]), draws).unwrap();
        assert_sizes(&fit, rho, &format!("M = {memory}"));
        assert_apart(&fit, 1, memory);
    }
}

/// On a normal mean the metric is the exact one: L leapfrog steps of size ε turn each chain by L arccos(1 − ε²/2), and nearly all
/// proposals are accepted.
#[test]
fn effective_sizes_of_hmc_bfgs_are_right() {
    let (steps, epsilon) = (4_u32, 0.1_f64);
    let rho = (f64::from(steps) * (1.0 - 0.5 * epsilon * epsilon).acos()).cos();
    for chains in [3, 5] {
        let dynamics = HmcBfgs { chains, steps, ..HmcBfgs::default() };
        let draws = (EFFECTIVE * cost(rho)) as usize;
        let fit = run(dynamics, FullGradient, epsilon * epsilon).burn_in(1000).sample(&zeros([1]), draws).unwrap();
        assert_sizes(&fit, rho, &format!("K = {chains}"));
        assert_apart(&fit, 1, chains);
    }
}

/// Whatever the burn-in, the thinning and the iterations that do not count, all chains have the same number of draws, and every
/// chain is thinned by the same number.
#[test]
fn interleaved_chains_are_of_equal_length() {
    for interleaved in 1..=5_usize {
        for (burn_in, silent) in [(0, 0), (7, 0), (0, 8), (3, 11), (4, 13)] {
            for thin in 1..=6 {
                let dynamics = Autoregressions { silent, ..autoregressions(interleaved, 0.5) };
                let run = run(dynamics, FullGradient, 1.0).chains(2).burn_in(burn_in).thin(thin);
                let fit = run.sample(&zeros([1]), 13).unwrap();
                assert_apart(&fit, 2, interleaved);
                assert_eq!(fit.chains()[0].len(), 13_usize.div_ceil(interleaved));
                for chain in fit.chains() {
                    let iterations = chain.iterations();
                    assert!(iterations[0] > burn_in.max(silent));
                    let stride = thin * interleaved as u64;
                    assert!(iterations.windows(2).all(|pair| pair[1] - pair[0] == stride), "{iterations:?}");
                }
                if silent == 0 {
                    let rounded = 13_usize.next_multiple_of(interleaved) as u64;
                    let last = fit.chains().iter().filter_map(|chain| chain.iterations().last()).max().unwrap();
                    assert_eq!(*last, burn_in + thin * rounded);
                }
            }
        }
    }
}

/// The search for the step size of HMC-BFGS ends in the middle of a round.
#[test]
fn a_search_for_the_step_size_leaves_chains_of_equal_length() {
    let dynamics = HmcBfgs { steps: 2, adapt: Some(DualAveraging::new(17)), ..HmcBfgs::default() };
    for thin in [1, 3, 5] {
        let fit = run(dynamics, FullGradient, 0.01).thin(thin).sample(&zeros([1]), 32).unwrap();
        assert_apart(&fit, 1, 5);
        assert_eq!(fit.chains()[0].len(), 7);
    }
}

fn hamcmc() -> Builder<AnalyticTree<Tensor<1>>, Hamcmc, MinibatchGradient> {
    let dynamics = Hamcmc { gamma: InitialScale::Fixed(1.0 / PRECISION), ..Hamcmc::default() };
    run(dynamics, MinibatchGradient::new(WithoutReplacement::new(5)), 0.2).chains(2).burn_in(5).thin(2)
}

#[test]
fn the_cost_of_a_run_is_shared_by_its_chains() {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let held = seen.clone();
    let watch = ProgressOption::by(move |progress: &Progress| held.lock().unwrap().push(*progress));
    let fit = hamcmc().progress(watch).sample(&zeros([1]), 20).unwrap();
    let info = fit.info();
    // 21 draws of two iterations each after the burn-in.
    assert_eq!(info.iterations, [16, 16, 15, 16, 16, 15]);
    let mut sampler = hamcmc().start(&zeros([1])).unwrap();
    assert_eq!(sampler.interleaved_chains(), 3);
    (0..47).for_each(|_| sampler.step().unwrap());
    assert_eq!(info.gradients.iter().sum::<u64>(), 2 * sampler.chain().cost().gradients);
    let run: f64 = info.seconds[..3].iter().sum();
    assert!(run > 0.0 && (info.longest_run() / run.max(info.seconds[3..].iter().sum()) - 1.0).abs() < 1e-12);
    let seen = seen.lock().unwrap();
    assert!(seen.iter().all(|progress| progress.chain < 2 && progress.total == 47));
    assert_eq!(seen.iter().filter(|progress| progress.stage.has_ended() && progress.iteration == 47).count(), 2);
}

#[test]
fn a_fit_knows_its_runs() {
    let fit = hamcmc().sample(&zeros([1]), 21).unwrap();
    assert_eq!(fit.describe_chains(), "6 chains (2 runs of 3 interleaved chains)");
    let second = fit.only_chains(&[3, 4, 5]).unwrap();
    assert_eq!(second.describe_chains(), "3 chains (1 run of 3 interleaved chains)");
    let note = |fit: &Fit| {
        let found = fit.check().findings().iter().find(|finding| finding.severity == Severity::Note).cloned();
        found.map(|finding| finding.what).unwrap_or_default()
    };
    assert!(note(&second).contains("one run of 3 interleaved chains only"), "{}", note(&second));
    assert_eq!(note(&fit), "");
    for some in [&[0, 3][..], &[0, 3, 1], &[1, 2, 3], &[0, 1, 2, 3]] {
        assert_eq!(fit.only_chains(some).unwrap().describe_chains(), format!("{} chains", some.len()));
    }
    // Two draws of each of three chains, two iterations each.
    assert_eq!(fit.without_first(2).info().burn_in, 5 + 12);
    assert_eq!(run(Sgld, FullGradient, 0.01).sample(&zeros([1]), 5).unwrap().describe_chains(), "1 chain");
    assert_eq!(serde_json::from_str::<RunInfo>("{}").unwrap().interleaved, 1);
}

/// In memory, in pairs of sinks, in native files and as text: one sink and one file per chain, all with the same draws.
#[test]
fn every_chain_has_its_own_sink_and_file() {
    fn check<D, G>(run: &Builder<AnalyticTree<Tensor<1>>, D, G>, chains: usize)
    where
        D: Dynamics<G> + Debug + Clone + 'static,
        G: GradientEstimator + Debug + Clone + 'static,
    {
        let fit = run.sample(&zeros([1]), 50).unwrap();
        assert_eq!(fit.chains().len(), chains);
        let folder = tempfile::tempdir().unwrap();
        let (native, text) = (folder.path().join("native"), folder.path().join("text"));
        [&native, &text].iter().for_each(|path| std::fs::create_dir(path).unwrap());
        let sinks = |chain: usize| {
            let file = fits::native::NativeDraws::new(native.join(format!("chain-{chain}.sgmcmc")));
            (Memory::default(), (file, CsvDraws::new(text.join(format!("chain-{chain}.csv")))))
        };
        let outcome = run.sample_into(&zeros([1]), 50, sinks).unwrap();
        assert_eq!(outcome.len(), chains);
        for (((memory, (_, path)), ending), chain) in outcome.iter().zip(fit.chains()) {
            assert_eq!((memory, ending), (chain, &ChainOutcome::Complete));
            let text = std::fs::read_to_string(path).unwrap();
            let columns = text.lines().next().unwrap().split(',').count();
            let number = |line: &str, place: usize| line.split(',').nth(place).unwrap().to_owned();
            let lines = text.lines().skip(1);
            let read: Vec<(u64, f64)> = lines
                .map(|line| (number(line, 0).parse().unwrap(), number(line, columns - 1).parse().unwrap()))
                .collect();
            let drawn: Vec<(u64, f64)> = chain.iterations().iter().copied().zip(chain.element(0)).collect();
            assert_eq!(read, drawn);
        }
        let read = fits::open(&native).unwrap();
        assert_eq!(read.chains(), fit.chains());
        // Saved whole, the number of interleaved chains goes with it.
        let whole = folder.path().join("fit.sgmcmc");
        fits::save(&fit, &whole).unwrap();
        assert_eq!(fits::open(&whole).unwrap(), fit);
    }
    check(&hamcmc(), 6);
    check(&run(HmcBfgs { steps: 3, ..HmcBfgs::default() }, FullGradient, 0.01).chains(2), 10);
    check(&run(Sgld, FullGradient, 0.01).chains(2), 2);
}

/// A run is made longer from its checkpoint; one with another number of chains is refused.
#[test]
fn a_checkpoint_belongs_to_its_number_of_chains() {
    let folder = tempfile::tempdir().unwrap();
    let kept = |run: Builder<AnalyticTree<Tensor<1>>, Hamcmc, MinibatchGradient>| {
        run.checkpoint(FileCheckpoints::new(folder.path()).unwrap(), CheckpointInterval::Steps(7))
    };
    let first = kept(hamcmc()).sample(&zeros([1]), 20).unwrap();
    let longer = kept(hamcmc()).sample(&zeros([1]), 40).unwrap();
    let whole = hamcmc().sample(&zeros([1]), 40).unwrap();
    assert_eq!(longer.chains(), whole.chains());
    assert!(first.chains().iter().zip(whole.chains()).all(|(a, b)| a.rows().zip(b.rows()).all(|(a, b)| a == b)));
    let dynamics = Hamcmc { memory: 4, gamma: InitialScale::Fixed(1.0 / PRECISION), ..Hamcmc::default() };
    let error = kept(hamcmc().dynamics(dynamics)).sample(&zeros([1]), 40).unwrap_err().to_string();
    assert!(error.contains("algorithm"), "{error}");
}

#[test]
fn a_gibbs_step_keeps_chains_apart() {
    let nothing = |_: &mut Values<'_>, _: &mut StreamRng| Ok(());
    let fit = hamcmc().gibbs(move |_| nothing).sample(&zeros([1]), 20).unwrap();
    assert_apart(&fit, 2, 3);
    assert_eq!(fit.chains(), hamcmc().sample(&zeros([1]), 20).unwrap().chains());
}

#[test]
fn the_memory_limit_counts_all_chains() {
    // 4 numbers of 8 bytes per draw, 21 draws per run, 2 runs.
    let bytes = 21 * 4 * 8 * 2;
    assert!(hamcmc().memory_limit(bytes).sample(&zeros([1]), 19).is_ok());
    let error = hamcmc().memory_limit(bytes - 1).sample(&zeros([1]), 19).unwrap_err().to_string();
    assert!(error.contains("21 draws"), "{error}");
}

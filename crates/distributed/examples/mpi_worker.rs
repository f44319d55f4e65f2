//! The program of the tests in `tests/mpi`, which start it as several ranks.
//!
//! ```text
//! mpi_worker draws              every distributed algorithm: the draws over MPI are those of threads
//! mpi_worker job DIR            a run with checkpoints in DIR, which the tests kill and resume; writes DIR/draws
//! mpi_worker fail KIND          rank 1 fails: diverge, panic or error
//! mpi_worker shards DIR         opens DIR/shard-<rank>.mapped
//! mpi_worker write-shards DIR N writes N of them
//! ```

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sgmcmc_distributed::chains::{chains_of_rank, gather_combined, gather_fit};
use sgmcmc_distributed::checkpoint::{EpochCheckpoints, RunCheckpoints};
use sgmcmc_distributed::collective::{Collective, Error, Result, launch, on_threads};
use sgmcmc_distributed::combine::{CombineOptions, Consensus};
use sgmcmc_distributed::data_parallel::DataParallel;
use sgmcmc_distributed::dsgld::{ApproximationShape, Dsgld};
use sgmcmc_distributed::factorization::{BlockAlgorithm, BlockRun, BlockedEntries, BlockedFactorization, Grid};
use sgmcmc_distributed::input::mapped_shard;
use sgmcmc_distributed::shards::Shard;
use sgmcmc_fit::{Fit, Tempering};
use sgmcmc_gradient::{Analytic, AnalyticModel, Columns, FullGradient, MinibatchGradient, WithoutReplacement};
use sgmcmc_models::factorization::{Entries, Entry};
use sgmcmc_numerics::InitialScale;
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::langevin::Sgld;
use sgmcmc_samplers::metropolis::Hmc;
use sgmcmc_storage::mapped;

/// Observations xᵢ ~ N(θ, I) in a plane.
struct NormalMean(Vec<[f64; 2]>);

impl AnalyticModel for NormalMean {
    fn observations(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        2
    }

    fn observation(&self, theta: &[f64], row: usize, weight: f64, grad: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for k in 0..2 {
            let residual = self.0[row][k] - theta[k];
            grad[k] += weight * residual;
            value -= 0.5 * residual * residual;
        }
        value
    }
}

/// Returns the observations of a rank.
fn shard(rank: usize) -> Analytic {
    let x = |k: usize| [(k as f64 * 12.9898).sin() + rank as f64, (k as f64 * 78.233).sin()];
    Analytic::new(NormalMean((0..30 + 10 * rank).map(x).collect()))
}

const ALGORITHMS: [BlockAlgorithm; 3] = [
    BlockAlgorithm::Sgld,
    BlockAlgorithm::Psgld { alpha: 0.99, lambda: 1.0 },
    BlockAlgorithm::Hamcmc { memory: 2, lambda: 10.0, gamma: InitialScale::Fixed(0.05) },
];

fn minibatch() -> MinibatchGradient<WithoutReplacement> {
    MinibatchGradient::new(WithoutReplacement::new(5))
}

/// Runs data-parallel HMC, chains on all ranks, DSGLD, subposteriors, and the three factorizations. Returns the draws on
/// rank 0.
fn draws(ranks: &Arc<dyn Collective>) -> Result<Vec<Vec<f64>>> {
    let start = vec![0.0; 2];
    let mut fits = Vec::new();
    let target = DataParallel::new(shard(ranks.rank()), ranks.clone());
    fits.push(Some(Builder::new(target, Hmc::default(), FullGradient, 5e-3).sample(&start, 200)?));
    let chains = chains_of_rank(2 * ranks.size(), &**ranks)?;
    let run = Builder::new(shard(0), Sgld, minibatch(), 1e-3).chains(2 * ranks.size()).chain_range(chains);
    fits.push(gather_fit(&**ranks, run.sample(&start, 100)?)?);
    let run = Dsgld::new(ranks.clone(), shard(ranks.rank()), Sgld, minibatch(), 1e-3).visit(10);
    fits.push(run.conducive(vec![0.5, 0.0], ApproximationShape::Dense).sample(&start, 200, None)?);
    let own = shard(ranks.rank());
    let part = Shard::of_rank(&**ranks, 30 + 10 * ranks.rank(), Tempering::default())?;
    let fit = part.run(|part| {
        Builder::new(part.target(own.clone()), Hmc::default(), FullGradient, 5e-3)
            .seed(part.seed(1))
            .sample(&start, 200)
    })?;
    fits.push(gather_combined(&**ranks, fit, &Consensus::default(), CombineOptions::default())?);
    for algorithm in ALGORITHMS {
        let run = BlockRun { draws: 40, burn_in: 20, thin: 1 };
        fits.push(factorization(ranks, algorithm)?.sample(&run, None)?);
    }
    let values = |fit: &Fit| fit.chains().iter().flat_map(|chain| chain.values().to_vec()).collect();
    Ok(fits.iter().flatten().map(values).collect())
}

type Sampler = sgmcmc_distributed::factorization::BlockSampler<sgmcmc_distributed::factorization::GaussianEntries>;

fn factorization(ranks: &Arc<dyn Collective>, algorithm: BlockAlgorithm) -> Result<Sampler> {
    let entries = Entries::simulate_ratings(40, 60, 800, 2, 1)?;
    let own: Vec<Entry> = entries.iter().skip(ranks.rank()).step_by(ranks.size()).collect();
    let entries = BlockedEntries::distribute(ranks.clone(), Arc::new(Grid::new(40, 60, 4, 1)?), own)?;
    BlockedFactorization::new(3).algorithm(algorithm).step_size(1e-3).sampler(entries)
}

/// Compares the draws over MPI with those of threads.
fn compare(ranks: &Arc<dyn Collective>) -> Result<()> {
    let over_mpi = draws(ranks)?;
    if ranks.rank() == 0 {
        let on_threads = on_threads(ranks.size(), |ranks| draws(&ranks))?.swap_remove(0);
        let names = [
            "data-parallel HMC",
            "chains",
            "DSGLD",
            "subposteriors",
            "blocked SGLD",
            "blocked PSGLD",
            "blocked HAMCMC",
        ];
        for ((name, mpi), threads) in names.iter().zip(&over_mpi).zip(&on_threads) {
            if mpi != threads || mpi.is_empty() {
                return Err(Error::Launch { reason: format!("{name}: the draws over MPI are not those of threads") });
            }
            println!("{name} on {} ranks: the same {} numbers as threads", ranks.size(), mpi.len());
        }
    }
    ranks.barrier()
}

/// Runs DSGLD and a factorization with checkpoints, slowly enough to be killed.
fn job(ranks: &Arc<dyn Collective>, directory: &Path) -> Result<()> {
    let io = |error: std::io::Error| Error::Launch { reason: error.to_string() };
    fs::create_dir_all(directory).map_err(io)?;
    let process = directory.join(format!("process-{}", ranks.rank()));
    fs::write(process, std::process::id().to_string()).map_err(io)?;
    let start = vec![0.0; 2];
    let run = Dsgld::new(ranks.clone(), shard(ranks.rank()), Sgld, minibatch(), 1e-3).visit(5);
    let mut store = EpochCheckpoints::in_directory(directory.join("dsgld"), ranks.clone(), &run.identity(&start)?)?;
    let visits = run.sample(&start, 300, Some(RunCheckpoints { store: &mut store, every: 3 }))?;
    let mut sampler = factorization(ranks, ALGORITHMS[2])?;
    let mut store = EpochCheckpoints::in_directory(directory.join("blocks"), ranks.clone(), &sampler.identity()?)?;
    let mut factors = None;
    for draws in (20..=100).step_by(20) {
        let checkpoints = RunCheckpoints { store: &mut store, every: 7 };
        let run = BlockRun { draws, burn_in: 0, thin: 1 };
        factors = sampler.sample(&run, Some(checkpoints))?;
        std::thread::sleep(Duration::from_millis(30));
        sampler = factorization(ranks, ALGORITHMS[2])?;
        drop(store);
        store = EpochCheckpoints::in_directory(directory.join("blocks"), ranks.clone(), &sampler.identity()?)?;
    }
    if let (Some(visits), Some(factors)) = (visits, factors) {
        let text = format!("{:?}\n{:?}\n", visits.chains(), factors.chains());
        fs::write(directory.join("draws"), text).map_err(io)?;
    }
    ranks.barrier()
}

/// Fails on rank 1, while the other ranks wait for it.
fn fail(ranks: &Arc<dyn Collective>, kind: &str) -> Result<()> {
    if kind == "diverge" {
        let step_size = 50.0;
        let run = Dsgld::new(ranks.clone(), shard(ranks.rank()), Sgld, FullGradient, step_size).visit(200);
        return run.sample(&vec![0.0; 2], 1000, None).map(|_| ());
    }
    if ranks.rank() == 1 {
        match kind {
            "panic" => panic!("this rank panics"),
            _ => return Err(Error::Launch { reason: "this rank has an error".into() }),
        }
    }
    ranks.barrier()
}

fn run(ranks: &Arc<dyn Collective>, arguments: &[&str]) -> Result<()> {
    match arguments {
        ["draws"] => compare(ranks),
        ["job", directory] => job(ranks, Path::new(directory)),
        ["fail", kind] => fail(ranks, kind),
        ["shards", directory] => {
            let path = |rank: usize| Path::new(directory).join(format!("shard-{rank}.mapped"));
            let columns = mapped_shard(&**ranks, path)?;
            println!("rank {} has {} observations", ranks.rank(), columns.observations());
            Ok(())
        }
        ["write-shards", directory, count] => {
            for rank in 0..count.parse::<usize>().unwrap_or(0) {
                let path = Path::new(directory).join(format!("shard-{rank}.mapped"));
                let columns = Columns::new().leaf("x", vec![rank as f64; 6], [3, 2])?;
                mapped::create(path, columns.as_slice()).map_err(Error::from)?;
            }
            Ok(())
        }
        _ => Err(Error::Launch { reason: format!("`{}` is not a command", arguments.join(" ")) }),
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    launch(|ranks| run(&ranks, &arguments))
}

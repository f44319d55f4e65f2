//! The program of the tests in `tests/mpi`, which start it as several ranks.
//!
//! ```text
//! mpi_worker draws              every distributed algorithm: the draws over MPI are those of threads
//! mpi_worker job DIR            runs with checkpoints in DIR, which the tests kill and resume; writes DIR/draws
//! mpi_worker fail KIND          rank 1 fails: diverge, panic or error
//! mpi_worker shards DIR         opens DIR/shard-<rank>.mapped
//! mpi_worker write-shards DIR N writes N of them
//! ```

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sgmcmc_distributed::chains::{chains_of_rank, gather_fit, part};
use sgmcmc_distributed::checkpoint::{EpochCheckpoints, RootCheckpoints, RunCheckpoints};
use sgmcmc_distributed::collective::{Collective, Error, Result, launch, on_threads};
use sgmcmc_distributed::data_parallel::DataParallel;
use sgmcmc_distributed::dsgld::Dsgld;
use sgmcmc_distributed::factorization::{BlockAlgorithm, BlockRun, BlockedEntries, BlockedFactorization, Grid};
use sgmcmc_distributed::input::mapped_shard;
// The modules of the library under the paths that `testing` has in the library.
use sgmcmc_distributed::{chains, collective, combine, data_parallel, dsgld, factorization, shards};
use sgmcmc_fit::Fit;
use sgmcmc_gradient::{Columns, FullGradient, MinibatchGradient, WithoutReplacement};
use sgmcmc_models::factorization::{Entries, Entry};
use sgmcmc_numerics::InitialScale;
use sgmcmc_samplers::Builder;
use sgmcmc_samplers::langevin::Sgld;
use sgmcmc_samplers::run::CheckpointInterval;
use sgmcmc_storage::{FileCheckpoints, mapped};

use testing::algorithms::{RUNS, Run};
use testing::normal_mean::{all_shards, shard, target};

/// The algorithms and the model of the tests on threads.
#[path = "../src/testing"]
mod testing {
    pub(crate) mod algorithms;
    pub(crate) mod normal_mean;
}

fn minibatch() -> MinibatchGradient<WithoutReplacement> {
    MinibatchGradient::new(WithoutReplacement::new(5))
}

/// Returns the draws of all chains of a fit.
fn values(fit: &Fit) -> Vec<Vec<f64>> {
    fit.chains().iter().map(|chain| chain.values().to_vec()).collect()
}

/// Compares the draws over MPI with those of threads.
fn compare(ranks: &Arc<dyn Collective>) -> Result<()> {
    for (name, run) in RUNS {
        let over_mpi = draws(run, ranks.clone())?;
        if ranks.rank() == 0 {
            let on_threads = on_threads(ranks.size(), |ranks| draws(run, ranks))?.swap_remove(0);
            if over_mpi != on_threads || over_mpi.is_empty() {
                return Err(Error::Launch { reason: format!("{name}: the draws over MPI are not those of threads") });
            }
            let count: usize = over_mpi.iter().map(Vec::len).sum();
            println!("{name} on {} ranks: the same {count} numbers as threads", ranks.size());
        }
        ranks.barrier()?;
    }
    Ok(())
}

/// Returns the draws of an algorithm on rank 0.
fn draws(run: Run, ranks: Arc<dyn Collective>) -> Result<Vec<Vec<f64>>> {
    Ok(run(ranks, 5)?.as_ref().map(values).unwrap_or_default())
}

/// Runs every algorithm that has checkpoints, slowly enough to be killed.
fn job(ranks: &Arc<dyn Collective>, directory: &Path) -> Result<()> {
    let io = |error: std::io::Error| Error::Launch { reason: error.to_string() };
    fs::create_dir_all(directory).map_err(io)?;
    let process = directory.join(format!("process-{}", ranks.rank()));
    fs::write(process, std::process::id().to_string()).map_err(io)?;
    let fits = [
        visits(ranks, &directory.join("dsgld"))?,
        factors(ranks, &directory.join("blocks"))?,
        data_parallel_chain(ranks, &directory.join("data-parallel"))?,
        chains_of_all(ranks, &directory.join("chains"))?,
    ];
    if ranks.rank() == 0 {
        let draws: Vec<_> = fits.iter().flatten().map(values).collect();
        fs::write(directory.join("draws"), format!("{draws:?}\n")).map_err(io)?;
    }
    ranks.barrier()
}

fn visits(ranks: &Arc<dyn Collective>, directory: &Path) -> Result<Option<Fit>> {
    let start = vec![0.0; 2];
    let run = Dsgld::new(ranks.clone(), target(shard(ranks.rank())), Sgld, minibatch(), 1e-3).visit(5);
    let mut store = EpochCheckpoints::in_directory(directory, ranks.clone(), &run.identity(&start)?)?;
    run.sample(&start, 300, Some(RunCheckpoints { store: &mut store, every: 3 }))
}

fn factors(ranks: &Arc<dyn Collective>, directory: &Path) -> Result<Option<Fit>> {
    let algorithm = BlockAlgorithm::Hamcmc { memory: 2, lambda: 10.0, gamma: InitialScale::Fixed(0.05) };
    let mut fit = None;
    for draws in (20..=100).step_by(20) {
        let entries = Entries::simulate_ratings(40, 60, 800, 2, 1)?;
        let own: Vec<Entry> = entries.iter().skip(ranks.rank()).step_by(ranks.size()).collect();
        let entries = BlockedEntries::distribute(ranks.clone(), Arc::new(Grid::new(40, 60, 4, 1)?), own)?;
        let mut sampler = BlockedFactorization::new(3).algorithm(algorithm).step_size(1e-3).sampler(entries)?;
        let mut store = EpochCheckpoints::in_directory(directory, ranks.clone(), &sampler.identity()?)?;
        let checkpoints = RunCheckpoints { store: &mut store, every: 7 };
        fit = sampler.sample(&BlockRun { draws, burn_in: 0, thin: 1 }, Some(checkpoints))?;
        std::thread::sleep(Duration::from_millis(30));
    }
    Ok(fit)
}

/// The checkpoints are those of rank 0.
fn data_parallel_chain(ranks: &Arc<dyn Collective>, directory: &Path) -> Result<Option<Fit>> {
    let own = part(4, ranks.rank(), ranks.size()).flat_map(shard).collect();
    let density = DataParallel::new(target(own), ranks.clone());
    let store = RootCheckpoints::new(FileCheckpoints::new(directory)?, ranks.clone());
    let run = Builder::new(density, Sgld, minibatch(), 1e-3).checkpoint(store, CheckpointInterval::Steps(50));
    Ok(Some(run.sample(&vec![0.0; 2], 2000)?))
}

/// Each rank has a directory of its own.
fn chains_of_all(ranks: &Arc<dyn Collective>, directory: &Path) -> Result<Option<Fit>> {
    let chains = 2 * ranks.size();
    let store = FileCheckpoints::new(directory.join(format!("rank-{}", ranks.rank())))?;
    let run = Builder::new(target(all_shards(4)), Sgld, FullGradient, 1e-3).chains(chains);
    let run = run.chain_range(chains_of_rank(chains, &**ranks)?).checkpoint(store, CheckpointInterval::Steps(50));
    gather_fit(&**ranks, run.sample(&vec![0.0; 2], 2000)?)
}

/// Fails on rank 1, while the other ranks wait for it.
fn fail(ranks: &Arc<dyn Collective>, kind: &str) -> Result<()> {
    if kind == "diverge" {
        let step_size = 50.0;
        let run = Dsgld::new(ranks.clone(), target(shard(ranks.rank())), Sgld, FullGradient, step_size).visit(200);
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

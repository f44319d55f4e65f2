//! Writes one fit in every format that is built in, whole and as a run would, and what this library says of it.
//!
//! For `tests/python/files.py`, which makes the same numbers and looks what other tools read:
//! `cargo run -p sgmcmc-storage --features parquet,zarr --example write_fit -- DIRECTORY`. With `endless` behind the directory it
//! writes as a run would until it is killed, and says how many draws of each chain are flushed.

use std::error::Error;
use std::path::Path;

use sgmcmc_core::Layout;
use sgmcmc_samplers::run::Fit;
use sgmcmc_samplers::sink::{Draw, Memory, Schema, Sink};
use sgmcmc_storage::fits;

const CHAINS: usize = 4;
const DRAWS: usize = 500;

fn layout() -> Result<Layout, sgmcmc_core::Error> {
    let shapes: [(&str, &[usize]); 4] = [("mu", &[1]), ("W", &[2, 3]), ("layer.bias", &[4]), ("cube", &[2, 1, 2])];
    Layout::new(shapes.map(|(name, shape)| (name.to_owned(), shape.to_vec(), None)))
}

/// A number in [0, 1) that every language computes alike.
fn uniform(chain: usize, draw: usize, element: usize) -> f64 {
    ((chain * 7919 + draw * 104_729 + element * 1_299_709 + draw * draw * 31 + chain * draw * 17) % 1_000_003) as f64
        / 1_000_003.0
}

/// xₜ = xₜ₋₁/2 + uₜ, element by element.
fn advance(values: &mut [f64], chain: usize, draw: usize) {
    for (element, value) in values.iter_mut().enumerate() {
        *value = 0.5 * *value + uniform(chain, draw, element);
    }
}

/// Hands one draw to a sink.
fn record<S: Sink>(sink: &mut S, chain: usize, draw: usize, values: &[f64]) -> Result<(), sgmcmc_core::Error> {
    let [alpha, log_posterior] = [100, 101].map(|element| uniform(chain, draw, element));
    sink.record(&Draw { iteration: 11 + draw as u64, values, weight: 0.125, log_posterior, stats: &[alpha] })
}

/// Hands a chain to a sink as a run does, up to its end.
fn stream<S: Sink>(mut sink: S, number: usize) -> Result<S::Output, Box<dyn Error>> {
    sink.begin(&Schema { layout: layout()?, draws: DRAWS, chain: number, stats: vec!["alpha".into()] })?;
    let mut values = vec![0.0; layout()?.value_count()];
    for draw in 0..DRAWS {
        advance(&mut values, number, draw);
        record(&mut sink, number, draw, &values)?;
    }
    sink.flush()?;
    Ok(sink.finish())
}

/// Writes to all streaming formats at once, without end.
#[cfg(all(feature = "parquet", feature = "zarr"))]
fn endless(directory: &Path) -> Result<(), Box<dyn Error>> {
    use fits::{native::NativeDraws, parquet::ParquetDraws, stan_csv::StanCsvDraws, zarr::ZarrFit};
    std::fs::create_dir_all(directory.join("run.csv"))?;
    std::fs::create_dir_all(directory.join("run.sgmcmc"))?;
    let zarr = ZarrFit::new(directory.join("run.zarr"))?;
    let mut sinks = Vec::new();
    for chain in 0..CHAINS {
        let native = NativeDraws::new(directory.join(format!("run.sgmcmc/chain-{chain}.sgmcmc")));
        let stan = StanCsvDraws::new(directory.join(format!("run.csv/chain-{}.csv", chain + 1)));
        let parquet = ParquetDraws::new(directory.join("run.parquet"));
        let mut sink = ((native, stan), (parquet, zarr.chain()));
        sink.begin(&Schema { layout: layout()?, draws: 1 << 40, chain, stats: vec!["alpha".into()] })?;
        sinks.push((sink, vec![0.0; layout()?.value_count()]));
    }
    for draw in 0_usize.. {
        for (number, (sink, values)) in sinks.iter_mut().enumerate() {
            advance(values, number, draw);
            record(sink, number, draw, values)?;
            if draw % 50 == 49 {
                sink.flush()?;
            }
        }
        if draw % 50 == 49 {
            // Under another name first: a kill must not leave half a number.
            std::fs::write(directory.join("flushing"), (draw + 1).to_string())?;
            std::fs::rename(directory.join("flushing"), directory.join("flushed"))?;
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("give the directory to write to")?;
    let directory = Path::new(&directory);
    #[cfg(all(feature = "parquet", feature = "zarr"))]
    if std::env::args().nth(2).as_deref() == Some("endless") {
        return endless(directory);
    }
    std::fs::create_dir_all(directory.join("run.csv"))?;
    let chains = (0..CHAINS).map(|chain| stream(Memory::default(), chain)).collect::<Result<Vec<_>, _>>()?;
    let fit = Fit::new(layout()?, chains)?;

    fits::save(&fit, directory.join("fit.sgmcmc"))?;
    fits::save(&fit, directory.join("fit.json"))?;
    fits::save(&fit, directory.join("fit.csv"))?;
    let json = fits::json::JsonFit::new(directory.join("run.json"))?;
    for number in 0..CHAINS {
        stream(json.chain(number), number)?;
        let name = format!("chain-{}.csv", number + 1);
        stream(fits::stan_csv::StanCsvDraws::new(directory.join("run.csv").join(name)), number)?;
    }
    json.finish()?;
    #[cfg(feature = "parquet")]
    {
        fits::save(&fit, directory.join("fit.parquet"))?;
        for number in 0..CHAINS {
            stream(fits::parquet::ParquetDraws::new(directory.join("run.parquet")).every(150), number)?;
        }
    }
    #[cfg(feature = "zarr")]
    {
        use fits::zarr::Variable;
        fits::save(&fit, directory.join("fit.zarr"))?;
        let zarr = fits::zarr::ZarrFit::new(directory.join("run.zarr"))?;
        for number in 0..CHAINS {
            stream(zarr.chain(), number)?;
        }
        let values = (0..CHAINS * DRAWS * 3).map(|i| -uniform(i, 0, 0)).collect();
        let dimensions = ["chain", "draw", "observation"].map(str::to_owned).to_vec();
        let pointwise = Variable { name: "y".into(), dimensions, shape: vec![CHAINS, DRAWS, 3], values };
        zarr.write_group("log_likelihood", &[pointwise])?;
        let dimensions = vec!["observation".to_owned()];
        let observed = Variable { name: "y".into(), dimensions, shape: vec![3], values: vec![1.0, 2.5, f64::NAN] };
        zarr.write_group("observed_data", &[observed])?;
    }
    // Read back from the native file, so that this too is compared.
    let fit = fits::open(directory.join("fit.sgmcmc"))?;
    println!("name,mean,sd,ess_bulk,ess_tail,r_hat,mcse_mean,mcse_sd");
    for name in fit.layout().elements() {
        let said = sgmcmc_diagnostics::describe(&fit.element(&name)?);
        let (mean, sd, r_hat) = (said.mean, said.sd, said.r_hat);
        let numbers = [mean, sd, said.ess_bulk, said.ess_tail, r_hat, said.mcse_mean, said.mcse_sd];
        println!("\"{name}\",{}", numbers.map(|number| number.to_string()).join(","));
    }
    Ok(())
}

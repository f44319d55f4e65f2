//! Writes one fit in every format that is compiled in, as a whole and with streaming sinks, and prints its summary.
//!
//! `tests/python/files.py` computes the same numbers and compares them with those that other tools read: `cargo run -p
//! sgmcmc-storage --features arrow,parquet,zarr --example write_fit -- DIRECTORY`. With the argument `endless` after the
//! directory, it streams draws until it is killed, and writes the number of flushed draws per chain to a file.

use std::error::Error;
use std::path::Path;

use sgmcmc_fit::sink::{Draw, Memory, Schema, Sink};
use sgmcmc_fit::{Fit, Group, Variable};
use sgmcmc_gradient::{Axis, Layout};
use sgmcmc_storage::fits;

const CHAINS: usize = 4;
const DRAWS: usize = 500;

fn layout() -> Result<Layout, sgmcmc_gradient::Error> {
    let shapes: [(&str, &[usize]); 4] = [("mu", &[1]), ("W", &[2, 3]), ("layer.bias", &[4]), ("cube", &[2, 1, 2])];
    Layout::new(shapes.map(|(name, shape)| (name.to_owned(), shape.to_vec(), None)))
}

/// Returns a deterministic number in [0, 1) that is the same in every language.
fn uniform(chain: usize, draw: usize, element: usize) -> f64 {
    ((chain * 7919 + draw * 104_729 + element * 1_299_709 + draw * draw * 31 + chain * draw * 17) % 1_000_003) as f64
        / 1_000_003.0
}

/// Updates the values with xₜ = xₜ₋₁/2 + uₜ for each element.
fn advance(values: &mut [f64], chain: usize, draw: usize) {
    for (element, value) in values.iter_mut().enumerate() {
        *value = 0.5 * *value + uniform(chain, draw, element);
    }
}

/// Records one draw.
fn record<S: Sink>(sink: &mut S, chain: usize, draw: usize, values: &[f64]) -> Result<(), sgmcmc_gradient::Error> {
    let [alpha, log_posterior] = [100, 101].map(|element| uniform(chain, draw, element));
    sink.record(&Draw { iteration: 11 + draw as u64, values, weight: 0.125, log_posterior, stats: &[alpha] })
}

/// Streams a whole chain to a sink.
fn stream<S: Sink>(mut sink: S, number: usize) -> Result<S::Output, Box<dyn Error>> {
    sink.begin(&Schema { layout: layout()?, draws: DRAWS, chain: number, chains: 0, stats: vec!["alpha".into()] })?;
    let mut values = vec![0.0; layout()?.value_count()];
    for draw in 0..DRAWS {
        advance(&mut values, number, draw);
        record(&mut sink, number, draw, &values)?;
    }
    sink.flush()?;
    Ok(sink.finish())
}

/// Streams to all formats at the same time, without end.
#[cfg(all(feature = "parquet", feature = "zarr"))]
fn endless(directory: &Path) -> Result<(), Box<dyn Error>> {
    use fits::{native::NativeDraws, parquet::ParquetDraws, stan_csv::StanCsvDraws, zarr::ZarrFit};
    std::fs::create_dir_all(directory.join("run.csv"))?;
    std::fs::create_dir_all(directory.join("run.sgmcmc"))?;
    let zarr = ZarrFit::new(directory.join("run.zarr"))?;
    let mut sinks = Vec::new();
    for chain in 0..CHAINS {
        let native = NativeDraws::new(directory.join(format!("run.sgmcmc/chain-{chain}.sgmcmc")));
        let stan = StanCsvDraws::new(directory.join(format!("run.csv/chain-{chain}.csv")));
        let parquet = ParquetDraws::new(directory.join("run.parquet"));
        let mut sink = ((native, stan), (parquet, zarr.chain()));
        sink.begin(&Schema { layout: layout()?, draws: 1 << 40, chain, chains: 0, stats: vec!["alpha".into()] })?;
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
            // The file is renamed, so that a kill cannot leave a part of the number.
            std::fs::write(directory.join("flushing"), (draw + 1).to_string())?;
            std::fs::rename(directory.join("flushing"), directory.join("flushed"))?;
        }
    }
    Ok(())
}

/// Adds the log-likelihoods of five observations, which depend on the first parameter, and the observed data.
fn with_groups(fit: Fit) -> Result<Fit, Box<dyn Error>> {
    let mut values = Vec::new();
    for (chain, draws) in fit.chains().iter().enumerate() {
        for (draw, row) in draws.rows().enumerate() {
            values.extend((0..5).map(|i| -0.5 * (row[0] - f64::from(i)).powi(2) - uniform(chain, draw, i as usize)));
        }
    }
    let dimensions = ["chain", "draw", "y_dim_0"].map(str::to_owned).to_vec();
    let variable = Variable { name: "y".into(), dimensions, shape: vec![CHAINS, DRAWS, 5], values };
    let fit = fit.with_group(Group { name: "log_likelihood".into(), variables: vec![variable] })?;
    Ok(fit.with_observed_data("y", &[0.0, 1.0, 2.0, 3.0, 4.0], &[5])?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("the argument DIRECTORY is missing")?;
    let directory = Path::new(&directory);
    #[cfg(all(feature = "parquet", feature = "zarr"))]
    if std::env::args().nth(2).as_deref() == Some("endless") {
        return endless(directory);
    }
    std::fs::create_dir_all(directory.join("run.csv"))?;
    let chains = (0..CHAINS).map(|chain| stream(Memory::default(), chain)).collect::<Result<Vec<_>, _>>()?;
    let fit = with_groups(Fit::new(layout()?, chains)?)?;
    let loo = fit.log_likelihood()?.loo()?;
    let loo = serde_json::json!({
        "elpd": loo.elpd, "se": loo.se, "p": loo.p, "good_k": loo.good_k, "pareto_k": loo.pareto_k, "elpd_i": loo.elpd_i,
    });
    std::fs::write(directory.join("loo.json"), loo.to_string())?;

    fits::save(&fit, directory.join("fit.sgmcmc"))?;
    fits::save(&fit, directory.join("fit.json"))?;
    fits::save(&fit, directory.join("fit.csv"))?;
    fits::save(&fit, directory.join("fit.nc"))?;
    #[cfg(feature = "arrow")]
    fits::save(&fit, directory.join("fit.arrow"))?;
    let labeled =
        fit.clone().with_axes("W", [Axis::new("county").labels(["Aitkin", "Koöchiching"]), Axis::new("year")])?;
    fits::save(&labeled, directory.join("labeled.nc"))?;
    let json = fits::json::JsonFit::new(directory.join("run.json"))?;
    for number in 0..CHAINS {
        stream(json.chain(number), number)?;
        let name = format!("chain-{number}.csv");
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
        fits::save(&fit, directory.join("fit.zarr"))?;
        fits::save(&labeled, directory.join("labeled.zarr"))?;
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
    // The fit is read from the native file, so that the comparison includes it.
    let fit = fits::open(directory.join("fit.sgmcmc"))?;
    println!("name,mean,sd,ess_bulk,ess_tail,r_hat,mcse_mean,mcse_sd");
    for name in fit.layout().value_names() {
        let row = sgmcmc_diagnostics::describe(&fit.element(&name)?);
        let numbers = [row.mean, row.sd, row.ess_bulk, row.ess_tail, row.r_hat, row.mcse_mean, row.mcse_sd];
        println!("\"{name}\",{}", numbers.map(|number| number.to_string()).join(","));
    }
    Ok(())
}

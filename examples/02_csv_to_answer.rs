//! From a CSV file to an answer: read, describe, sample, check, compare.
//!
//! The file has one line per apartment: its rent, size, age and district. Without `--data` a file with simulated
//! apartments is written first. Two models are compared by leave-one-out cross-validation, and the better one is checked
//! by its predictions. Coefficients have the names of the columns. The exit code is 1 if a check finds a problem.
//!
//! ```text
//! cargo run --release --example csv_to_answer
//! cargo run --release --example csv_to_answer -- --data rents.csv --out target/rents.html
//! ```

#[path = "shared/figure.rs"]
mod figure;
#[path = "shared/flags.rs"]
mod flags;
#[path = "shared/verdict.rs"]
mod verdict;

use std::path::PathBuf;
use std::process::ExitCode;

use flags::Flags;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use sgmcmc::Axis;
use sgmcmc::data::{Contrast, DesignMatrix, Levels};
use sgmcmc::distributions::*;
use sgmcmc::functions::linear;
use sgmcmc::predictive::PredictiveOptions;
use sgmcmc::prelude::*;
use sgmcmc::report::Report;
use sgmcmc::rng::StreamRng;
use sgmcmc::storage::read;
use verdict::verdict;

#[derive(TensorTree)]
struct Rent {
    #[tree(dims = "covariate", prior = Normal::new(0.0, 5.0))]
    beta: Tensor<1>,
    #[tree(prior = HalfNormal::new(5.0))]
    sigma: Tensor<1>,
}

#[derive(TensorTree)]
struct Apartments {
    x: Tensor<2>,
    rent: Tensor<1>,
}

fn main() -> sgmcmc::Result<ExitCode> {
    let mut flags = Flags::new("From a CSV file to an answer: a regression of rents on size, age and district.");
    let path: String =
        flags.get("data", String::new(), "CSV file with the columns rent, size, age, district; empty: simulated");
    let seed = flags.get("seed", 1, "seed of the random numbers");
    let out: String = flags.get("out", String::new(), "HTML report of the better model; empty: not written");
    let figure = figure::path(&mut flags);
    let progress = flags.finish();
    let path = if path.is_empty() { simulated()? } else { PathBuf::from(path) };

    let table = read::csv(&path)
        .float("rent", "rent")
        .float("size", "size")
        .float("age", "age")
        .codes("district", "district")
        .read_table()?;
    let column = |name: &str| -> sgmcmc::Result<Vec<f64>> { Ok(table.columns.get(name)?.numbers().collect()) };
    let (rent, size, age) = (column("rent")?, column("size")?, column("age")?);
    let names = table.levels("district").unwrap_or_default();
    let districts = Levels::from_column(column("district")?.iter().map(|code| names[*code as usize].clone()));
    println!("{} apartments in {} districts, from {}", rent.len(), names.len(), path.display());

    let small =
        DesignMatrix::new().intercept().numeric("size", &standardized(&size))?.numeric("age", &standardized(&age))?;
    let large = small.clone().categorical("district", &districts, Contrast::Sum)?;
    let model =
        Model::observe(|p: Rent, a: Apartments| Normal::new(linear(a.x, p.beta), p.sigma), |a: Apartments| a.rent);

    let mut candidates = Vec::new();
    for (name, design) in [("without districts", small), ("with districts", large)] {
        let data = Dataset::new(Apartments { x: design.matrix()?, rent: array(rent.clone(), [rent.len()])? })?;
        let start = Rent { beta: zeros([design.count()]), sigma: full([1], 1.0) };
        let fit = auto(&model, &data).seed(seed).progress(progress.clone()).sample(&start)?;
        let fit = fit.with_axes("beta", [Axis::new("covariate").labels(design.names().to_vec())])?;
        let loo = fit.loo(&model.with(&data), &start)?;
        println!("\n{name}:\n{}\n{loo}", fit.summary());
        candidates.push((name, fit, loo, data, start));
    }
    candidates.sort_by(|a, b| b.2.elpd.total_cmp(&a.2.elpd));
    let [(name, fit, best, data, start), (_, _, other, ..)] = &candidates[..] else { return Ok(ExitCode::FAILURE) };
    println!("\nthe model {name} predicts better: the elpd is larger by {:.1}", best.elpd - other.elpd);

    let predictive = model.with(data).predictive(fit, start, &PredictiveOptions::default())?;
    println!("{predictive}");
    if !out.is_empty() {
        Report::new(fit).title("Rents").predictive_check(&predictive).write(&out)?;
        println!("wrote {out}");
    }
    let coverage = predictive.coverage(0.89);
    let passed = candidates.iter().all(|(_, fit, ..)| fit.check().passed()) && (coverage - 0.89).abs() < 0.05;
    figure::write(&figure, || fit.plot().forest(&["beta"]))?;
    let claim =
        format!("the checks of both fits, and 89 % intervals that cover {:.0} % of the rents", 100.0 * coverage);
    Ok(verdict(passed, &claim))
}

/// Returns values with mean zero and standard deviation one.
fn standardized(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    values.iter().map(|x| (x - mean) / sd).collect()
}

/// Writes a file with simulated apartments.
fn simulated() -> sgmcmc::Result<PathBuf> {
    let path = std::env::temp_dir().join("sgmcmc-rents.csv");
    let mut rng = StreamRng::seed_from_u64(3);
    let mut text = "rent,size,age,district\n".to_owned();
    for _ in 0..600 {
        let [size, age, noise] = [(); 3].map(|()| rng.sample::<f64, _>(StandardNormal));
        let district = rng.random_range(0..3);
        let rent = 9.0 + 2.0 * size - 0.5 * age + [-0.8, 0.1, 0.7][district] + 0.9 * noise;
        let name = ["harbor", "center", "hills"][district];
        text += &format!("{rent:.3},{:.1},{:.1},{name}\n", 70.0 + 20.0 * size, 35.0 + 15.0 * age);
    }
    std::fs::write(&path, text)?;
    println!("SIMULATED data");
    Ok(path)
}

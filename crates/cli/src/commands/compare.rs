//! `sgmcmc compare`: models by their expected log predictive densities.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use sgmcmc_diagnostics::loo::{ComparedModel, Loo, ModelEstimates, ModelWeights, Waic, compare};
use sgmcmc_fit::PointwiseLogLikelihood;
use sgmcmc_gradient::text::{csv_cell, printable, printable_json};
use sgmcmc_storage::fits;

use super::print::{print, print_complete};
use super::summary::Format;
use crate::error::Error;

/// The criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Criterion {
    /// Leave-one-out cross-validation by Pareto-smoothed importance sampling
    Loo,
    /// The widely applicable information criterion
    Waic,
}

/// The weights of the models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Weights {
    /// The best mixture of the predictive distributions
    Stacking,
    /// Proportional to exp(elpd)
    PseudoBma,
}

const HELP: &str = "\
Each fit needs log-likelihoods of the same observations: `fit.with_log_likelihood(name, &fit.pointwise_log_likelihood(…)?)` adds them.
diff is the elpd of the best model minus that of the row, and diff_se its standard error. A difference of a few standard
errors or less is no evidence. Pareto k above the limit of a model mean that its elpd is not reliable.

Example: sgmcmc compare linear.sgmcmc spline.zarr";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The fits
    #[arg(required = true, num_args = 1.., value_name = "FIT")]
    fits: Vec<PathBuf>,
    /// The criterion
    #[arg(long, value_enum, default_value_t = Criterion::Loo)]
    criterion: Criterion,
    /// The weights of the models
    #[arg(long, value_enum, default_value_t = Weights::Stacking)]
    weights: Weights,
    /// The format of the table
    #[arg(long, short, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// The estimates of one fit.
struct Model {
    name: String,
    elpd: f64,
    se: f64,
    elpd_i: Vec<f64>,
    p: f64,
    loo: Option<Loo>,
    /// The text of the estimates of the model alone.
    text: String,
    /// The numbers of observations whose estimates are not reliable.
    unreliable: usize,
}

impl Model {
    fn new(
        name: String,
        pointwise: &PointwiseLogLikelihood,
        criterion: Criterion,
    ) -> Result<Self, sgmcmc_gradient::Error> {
        Ok(match criterion {
            Criterion::Loo => {
                let loo = pointwise.loo()?;
                let (text, elpd_i) = (loo.to_string(), loo.elpd_i.clone());
                let Loo { elpd, se, p, .. } = loo;
                Self { name, elpd, se, elpd_i, p, unreliable: loo.above, loo: Some(loo), text }
            }
            Criterion::Waic => {
                let waic = pointwise.waic()?;
                let text = waic.to_string();
                let Waic { elpd, se, elpd_i, p, above, .. } = waic;
                Self { name, elpd, se, elpd_i, p, unreliable: above, loo: None, text }
            }
        })
    }

    /// Returns the row of a model that is not compared with others.
    fn alone(&self) -> ComparedModel {
        let Self { elpd, se, p, .. } = *self;
        ComparedModel { index: 0, elpd, se, p, difference: 0.0, difference_se: 0.0, weight: 1.0 }
    }
}

/// Prints the comparison.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let mut models = Vec::new();
    for path in &arguments.fits {
        let fail = |source| Error::Parameter { path: path.clone(), source };
        let pointwise = fits::open(path)?.log_likelihood().map_err(fail)?;
        let name = path.file_stem().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
        models.push(Model::new(name, &pointwise, arguments.criterion).map_err(fail)?);
    }
    if models.iter().enumerate().any(|(index, model)| models[..index].iter().any(|other| other.name == model.name)) {
        let paths = arguments.fits.iter().map(|path| path.to_string_lossy().into_owned());
        models.iter_mut().zip(paths).for_each(|(model, path)| model.name = path);
    }
    if let [model] = &models[..] {
        let row = [model.alone()];
        return match arguments.format {
            Format::Csv => print_complete(&csv(&row, &models)),
            Format::Json => print_complete(&json(&row, &models)),
            Format::Table | Format::Markdown => print(&format!("{}\n{}", model.text, pareto_table(&models))),
        };
    }
    let estimates: Vec<ModelEstimates<'_>> =
        models.iter().map(|model| ModelEstimates { elpd_i: &model.elpd_i, p: model.p }).collect();
    let method = match arguments.weights {
        Weights::Stacking => ModelWeights::Stacking,
        Weights::PseudoBma => ModelWeights::PseudoBma,
    };
    let rows = compare(&estimates, method)?;
    match arguments.format {
        Format::Csv => print_complete(&csv(&rows, &models)),
        Format::Json => print_complete(&json(&rows, &models)),
        Format::Table => print(&table(&rows, &models, "", "  ", "")),
        Format::Markdown => print(&table(&rows, &models, "| ", " | ", " |")),
    }
}

const COLUMNS: [&str; 8] = ["elpd", "se", "p", "diff", "diff_se", "weight", "unreliable", "observations"];

/// Returns the numbers of a row in the order of the columns.
fn numbers(row: &ComparedModel, models: &[Model]) -> [f64; 8] {
    let ComparedModel { index, elpd, se, p, difference, difference_se, weight } = *row;
    let model = &models[index];
    [elpd, se, p, difference, difference_se, weight, model.unreliable as f64, model.elpd_i.len() as f64]
}

/// Returns the comparison as a table, followed by the Pareto k.
fn table(rows: &[ComparedModel], models: &[Model], start: &str, between: &str, end: &str) -> String {
    let decimals = [1, 1, 1, 1, 1, 3, 0, 0];
    let mut cells: Vec<Vec<String>> = vec![std::iter::once("").chain(COLUMNS).map(str::to_owned).collect()];
    for row in rows {
        let name = printable(&models[row.index].name).replace('|', "\\|");
        let numbers =
            numbers(row, models).into_iter().zip(decimals).map(|(number, digits)| format!("{number:.digits$}"));
        cells.push(std::iter::once(name).chain(numbers).collect());
    }
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=COLUMNS.len()).map(width).collect();
    let mut lines: Vec<String> = cells
        .iter()
        .map(|row| {
            let cell = |(column, (text, width)): (usize, (&String, &usize))| {
                if column == 0 { format!("{text:<width$}") } else { format!("{text:>width$}") }
            };
            let padded: Vec<String> = row.iter().zip(&widths).enumerate().map(cell).collect();
            format!("{start}{}{end}", padded.join(between))
        })
        .collect();
    if !start.is_empty() {
        lines.insert(1, format!("|---|{}", "---:|".repeat(COLUMNS.len())));
    }
    let second = &rows[1];
    let sentence = if second.difference < 4.0 || second.difference < 2.0 * second.difference_se {
        "\nthe two best models predict about equally well"
    } else {
        "\nthe best model predicts better than the others"
    };
    lines.push(sentence.to_owned());
    if models.iter().any(|model| model.unreliable > 0) {
        lines.push("some estimates are not reliable; with a high Pareto k, refit without the observation or use k-fold cross-validation".into());
    }
    format!("{}\n{}", lines.join("\n"), pareto_table(models))
}

/// Returns the numbers of observations by Pareto k. Empty if the criterion is WAIC.
fn pareto_table(models: &[Model]) -> String {
    let mut lines = Vec::new();
    for model in models {
        let Some(loo) = &model.loo else { continue };
        let number = |low: f64, high: f64| loo.pareto_k.iter().filter(|k| **k > low && **k <= high).count();
        let all = loo.pareto_k.len();
        let share = |count: usize| format!("{count} ({:.1} %)", 100.0 * count as f64 / all.max(1) as f64);
        lines.push(format!(
            "  {}: good (k ≤ {:.2}) {}, bad (k ≤ 1) {}, very bad {}; largest {:.2}",
            printable(&model.name),
            loo.good_k,
            share(number(f64::NEG_INFINITY, loo.good_k)),
            share(number(loo.good_k, 1.0)),
            share(number(1.0, f64::INFINITY)),
            loo.pareto_k.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        ));
    }
    if lines.is_empty() { String::new() } else { format!("\nPareto k\n{}", lines.join("\n")) }
}

/// Returns the comparison as CSV.
fn csv(rows: &[ComparedModel], models: &[Model]) -> String {
    let mut text = format!(",{}\n", COLUMNS.join(","));
    for row in rows {
        let numbers = numbers(row, models).map(|number| number.to_string()).join(",");
        text += &format!("{},{numbers}\n", csv_cell(&printable(&models[row.index].name)));
    }
    text
}

/// Returns the comparison as JSON, with the Pareto k of every observation.
fn json(rows: &[ComparedModel], models: &[Model]) -> String {
    let object = |row: &ComparedModel| {
        let model = &models[row.index];
        let mut object = serde_json::Map::new();
        object.insert("name".into(), model.name.clone().into());
        for (column, number) in COLUMNS.iter().zip(numbers(row, models)) {
            object.insert((*column).into(), number.into());
        }
        if let Some(loo) = &model.loo {
            object.insert("pareto_k".into(), loo.pareto_k.clone().into());
        }
        serde_json::Value::Object(object)
    };
    let rows: Vec<serde_json::Value> = rows.iter().map(object).collect();
    // Strings and numbers always serialize.
    printable_json(&serde_json::to_string_pretty(&rows).unwrap_or_default()).into_owned()
}

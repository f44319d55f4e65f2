//! `sgmcmc combine`: the fits of all shards as a fit of the posterior.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use sgmcmc_distributed::combine::{
    Bandwidth, Combination, CombineOptions, ComponentSampling, Consensus, GaussianProduct, GeometricMedian, Kdemc,
    METHODS, Method, SemiparametricKdemc, Weierstrass, Weights, combine_fits, method,
};
use sgmcmc_fit::{Fit, Tempering, count};
use sgmcmc_gradient::Constraint;
use sgmcmc_gradient::text::printable;
use sgmcmc_storage::fits;

use super::print::{note, print};
use crate::error::Error;
use crate::output;

/// Returns the text below the arguments of `combine`.
fn help() -> String {
    let list = |method: &Method| format!("  {:<21} {}", method.name, method.description);
    let methods: Vec<String> = METHODS.iter().map(list).collect();
    format!("Methods:\n{}\n\n{HELP}", methods.join("\n"))
}

const HELP: &str = "\
Examples:
  sgmcmc combine shard*.zarr --method consensus                      prints the summary of the combined fit
  sgmcmc combine shard*.zarr --output fit.sgmcmc                     and saves it
  sgmcmc combine shard*.csv --method kdemc --draws 5000 --constraint sigma=positive --output fit.zarr

Every FIT is the fit of one shard of the data, with the prior to the power 1/S for S shards. Fits of this library that
know their shard are checked: all shards must be there, once. Parameters are combined without their constraints, and
converted back. JSON, plain CSV and files of other programs do not say which parameters are constrained: name them with
--constraint.";

/// The weights of averages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AverageWeights {
    /// The inverse covariance of each shard
    Covariance,
    /// The inverse variances of each shard, which ignore correlations
    Variances,
    /// The same weight for every shard
    Equal,
}

#[derive(Args, Debug)]
#[command(after_help = help())]
pub(crate) struct Arguments {
    /// The fits of all shards
    #[arg(required = true, value_name = "FIT")]
    fits: Vec<PathBuf>,
    /// The file of the combined fit; its extension gives the format. Without it, the combined fit is not saved
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// The method, see below
    #[arg(long, short, default_value = "consensus")]
    method: String,
    /// Replace an existing fit
    #[arg(long, short, requires = "output")]
    force: bool,
    /// The seed of the methods that draw random numbers
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The number of draws of methods that make new ones [default: that of the shortest shard]
    #[arg(long, value_name = "COUNT")]
    draws: Option<usize>,
    /// The weights of `consensus` and `weierstrass` [default: covariance]
    #[arg(long, value_enum)]
    weights: Option<AverageWeights>,
    /// The bandwidth of `kdemc`, `semiparametric-kdemc` and `geometric-median` in standard deviations of the shards
    /// [default: annealed, or the median distance]
    #[arg(long)]
    bandwidth: Option<f64>,
    /// The share of accepted pairs of `weierstrass` [default: 0.1]
    #[arg(long)]
    acceptance: Option<f64>,
    /// The shards have the likelihood to the power S and the whole prior, for `swiss` and `geometric-median`; for fits
    /// that do not record it
    #[arg(long)]
    inflated: bool,
    /// A constraint that the files do not record: positive, unit-interval, simplex, ordered, positive-ordered, or
    /// cholesky-correlation
    #[arg(long = "constraint", value_name = "NAME=KIND")]
    constraints: Vec<String>,
}

/// The constraints that the command line can name.
const CONSTRAINTS: [(&str, Constraint); 6] = [
    ("positive", Constraint::Positive),
    ("unit-interval", Constraint::UnitInterval),
    ("simplex", Constraint::Simplex),
    ("ordered", Constraint::Ordered),
    ("positive-ordered", Constraint::PositiveOrdered),
    ("cholesky-correlation", Constraint::CholeskyCorrelation),
];

/// Combines the fits of all shards, and writes the result or prints its summary.
pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { fits: paths, output, force, seed, inflated, .. } = arguments;
    // Check the arguments before reading the fits, which can take long.
    let method = configured(arguments)?;
    let constraints = arguments.constraints.iter().map(|given| parse(given)).collect::<Result<Vec<_>, _>>()?;
    if let Some(output) = output {
        if fits::Format::from_name(output).is_none() {
            return Err(Error::UnknownExtension(output.clone()));
        }
        paths.iter().try_for_each(|path| output::check(path, output, *force))?;
    }
    let mut lines = Vec::new();
    let mut shards = Vec::with_capacity(paths.len());
    for path in paths {
        note(&format!("reading {} …", path.to_string_lossy()));
        let fit = fits::open(path)?;
        let fit = constrained(fit, &constraints).map_err(|source| Error::Parameter { path: path.clone(), source })?;
        if fit.info().version.is_empty() && !fit.layout().is_constrained() {
            let path = path.to_string_lossy();
            lines.push(format!(
                "note: `{}` does not say which parameters are constrained; all are combined as they are (see --constraint)",
                printable(&path)
            ));
        }
        shards.push(fit);
    }
    note(&format!("combining {} by {} …", count(shards.len(), "shard"), method.name()));
    let options = CombineOptions { seed: *seed, tempering: inflated.then_some(Tempering::Inflated) };
    let fit = combine_fits(&shards, method.as_ref(), options)?;
    match output {
        Some(output) if *force => fits::replace(&fit, output)?,
        Some(output) => fits::save(&fit, output)?,
        None => {}
    }
    let draws = fit.chains().iter().map(|chain| chain.len()).sum();
    let (shards, chains) = (count(shards.len(), "shard"), count(fit.chains().len(), "chain"));
    lines.push(format!("combined {shards} by {}: {chains}, {}", method.name(), count(draws, "draw")));
    match output {
        Some(output) => lines.push(format!("wrote {}", printable(&output.to_string_lossy()))),
        None => lines.push(format!("\n{}\nnot saved: give a file with --output", fit.summary())),
    }
    print(&lines.join("\n"))
}

/// Returns the method with the options of the command line.
fn configured(arguments: &Arguments) -> Result<Box<dyn Combination>, Error> {
    let Arguments { draws, weights, bandwidth, acceptance, .. } = *arguments;
    let default = method(&arguments.method)?;
    let name = default.name();
    let allowed: &[&str] = match name {
        "consensus" => &["weights"],
        "gaussian-product" => &["draws"],
        "kdemc" | "semiparametric-kdemc" | "geometric-median" => &["draws", "bandwidth"],
        "weierstrass" => &["draws", "weights", "acceptance"],
        _ => &[],
    };
    let given = [
        ("draws", draws.is_some()),
        ("weights", weights.is_some()),
        ("bandwidth", bandwidth.is_some()),
        ("acceptance", acceptance.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(option, given)| *given && !allowed.contains(option)) {
        return Err(Error::MethodOption { option, method: name });
    }
    let weights = weights.map_or(Weights::default(), |weights| match weights {
        AverageWeights::Covariance => Weights::Covariance,
        AverageWeights::Variances => Weights::Variances,
        AverageWeights::Equal => Weights::Equal,
    });
    let fixed = bandwidth.map_or(Bandwidth::default(), Bandwidth::Fixed);
    let sampling = ComponentSampling { draws, bandwidth: fixed, ..ComponentSampling::default() };
    Ok(match name {
        "consensus" => Box::new(Consensus { weights }),
        "gaussian-product" => Box::new(GaussianProduct { draws }),
        "kdemc" => Box::new(Kdemc { sampling }),
        "semiparametric-kdemc" => Box::new(SemiparametricKdemc { sampling }),
        "weierstrass" => {
            let sampler = Weierstrass { weights, draws, ..Weierstrass::default() };
            Box::new(Weierstrass { acceptance: acceptance.unwrap_or(sampler.acceptance), ..sampler })
        }
        "geometric-median" => Box::new(GeometricMedian { draws, bandwidth, ..GeometricMedian::default() }),
        _ => default,
    })
}

/// Reads a constraint such as `sigma=positive`.
fn parse(given: &str) -> Result<(&str, Constraint), Error> {
    let found = given.rsplit_once('=').and_then(|(name, kind)| {
        let (_, constraint) = CONSTRAINTS.iter().find(|(known, _)| *known == kind)?;
        (!name.is_empty()).then_some((name, *constraint))
    });
    found.ok_or_else(|| Error::Constraint {
        given: given.to_owned(),
        kinds: CONSTRAINTS.map(|(kind, _)| kind).join(", "),
    })
}

/// Returns the fit with these constraints of its parameters.
fn constrained(fit: Fit, constraints: &[(&str, Constraint)]) -> sgmcmc_gradient::Result<Fit> {
    if constraints.is_empty() {
        return Ok(fit);
    }
    let layout = fit.layout().clone();
    let layout =
        constraints.iter().try_fold(layout, |layout, (name, constraint)| layout.constrained(name, *constraint))?;
    // The mode has the coordinates of the old constraints.
    Ok(Fit::new(layout, fit.chains().to_vec())?.with_outcomes(fit.outcomes().to_vec())?.with_info(fit.info().clone()))
}

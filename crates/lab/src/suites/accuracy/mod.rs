//! Runs without settings (`auto`) against tuning by hand and exact methods: the command `accuracy`.
//!
//! | subcommand | question | criterion |
//! |---|---|---|
//! | workloads ([`workloads`]) | cost and errors of `auto`, of SGLD tuned by hand, of NUTS and of the Laplace approximation | those of [`criteria`] |
//! | `scaling` | gradients per effective draw of `auto` as N grows | log-log slope of sampling at most 0.1 |
//! | `posteriordb` | errors of `auto` on the reference posteriors | within the tolerances, or its check finds a problem |
//!
//! The tolerances are 0.1 reference standard deviations for means and 10 % for standard deviations, each with 3
//! combined Monte Carlo standard errors of the run and of the reference added.
//!
//! All methods of a workload run in one process, one after another, so that ratios of their speeds compare equal
//! conditions. Speeds of different invocations do not.

mod comparison;
mod criteria;
mod export;
mod hand_tuned;
mod methods;
mod page;
mod reference;
mod reference_posteriors;
mod scaling;
mod table;
#[cfg(feature = "nuts")]
mod whitened_nuts;
mod workloads;

use std::path::Path;

use sgmcmc::prelude::TensorTree;

use self::comparison::{Differences, Moments, Verdict};
use self::criteria::{Criterion, Results};
use self::methods::{CHAINS, Row};
use self::table::Entry;
use self::workloads::Workload;
use crate::Result;
use crate::papers::flags::Flags;
use crate::suites::{ACCURACY_PAGE, Outcome};

/// The section of the page that `accuracy posteriordb` writes.
pub(crate) const SECTION: &str = "untuned";

/// The smallest effective sample size of a run of NUTS that is a reference.
const REFERENCE_ESS: f64 = 200.0;

/// The number of chains of the short run of NUTS for its speed: one for each of two cores.
const PLAIN_CHAINS: usize = 2;

/// The settings of a comparison. Empty file names are no files.
struct Options {
    seed: u64,
    observations: Option<usize>,
    nuts: (u64, usize),
    whitens_nuts: bool,
    plain_nuts: (u64, usize),
    grid_steps: u64,
    reference: String,
    write_reference: String,
    export: String,
}

/// Runs the subcommand of `arguments`: workloads, all of them by default, `scaling` or `posteriordb`.
///
/// # Errors
///
/// Returns an error if an argument is unknown, and the errors of models and files.
pub(crate) fn run(arguments: &[String]) -> Result<Outcome> {
    let first_flag = arguments.iter().position(|argument| argument.starts_with("--")).unwrap_or(arguments.len());
    let (words, flags) = arguments.split_at(first_flag);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["scaling"] => {
            let mut flags = Flags::parse(flags, "Gradients of runs without settings as the data grow.")?;
            let largest: f64 = flags.get("max", 1e6, "the largest number of observations")?;
            let seed = flags.get("seed", 1, "seed of the runs")?;
            flags.finish()?;
            scaling::run(largest, seed)
        }
        ["posteriordb", names @ ..] => {
            let mut flags = Flags::parse(flags, "Runs without settings on the reference posteriors.")?;
            let seeds = flags.get("seeds", 5, "the number of runs of each posterior")?;
            let page = flags.get("page", ACCURACY_PAGE.to_owned(), "page of the section; not written with names")?;
            flags.finish()?;
            reference_posteriors::run(names, seeds, Path::new(&page))
        }
        names => compare_workloads(names, flags),
    }
}

fn compare_workloads(names: &[&str], flags: &[String]) -> Result<Outcome> {
    let mut flags = Flags::parse(flags, "Runs without settings against other methods.")?;
    let observations = flags.get("observations", 0, "observations; 0 for the number of the workload")?;
    let warm_up = flags.get("nuts-warm-up", 300, "warm-up iterations of NUTS")?;
    let draws = flags.get("nuts-draws", 200, "draws of NUTS per chain; 0 omits NUTS")?;
    let file = |flags: &mut Flags, name: &str, purpose: &str| flags.get(name, String::new(), purpose);
    let options = Options {
        seed: flags.get("seed", 1, "seed of all methods")?,
        observations: (observations > 0).then_some(observations),
        nuts: (warm_up, draws),
        whitens_nuts: flags.get("whiten-nuts", false, "run NUTS in coordinates whitened by the draws of `auto`")?,
        plain_nuts: (
            flags.get("plain-nuts-warm-up", 60, "warm-up iterations of the short run of NUTS for its speed")?,
            flags.get("plain-nuts-draws", 0, "draws of its two chains in the coordinates of the model; 0 omits it")?,
        ),
        grid_steps: flags.get("grid-steps", 20_000, "steps per chain of a setting of the grid; 0 omits the grid")?,
        reference: file(&mut flags, "reference", "CSV with name,mean,sd to compare with, instead of NUTS")?,
        write_reference: file(&mut flags, "write-reference", "CSV for the moments of NUTS")?,
        export: file(&mut flags, "export", "NPZ archive for the data; nothing is run")?,
    };
    flags.finish()?;
    let names = if names.is_empty() { &workloads::NAMES[..] } else { names };
    if let Some(unknown) = names.iter().find(|name| !workloads::NAMES.contains(name)) {
        let known = workloads::NAMES.join(", ");
        return Err(format!("no workload `{unknown}`; there are {known}, scaling and posteriordb").into());
    }
    let has_file = [&options.reference, &options.write_reference, &options.export].iter().any(|file| !file.is_empty());
    if has_file && names.len() > 1 {
        return Err("--reference, --write-reference and --export need one workload".into());
    }
    let mut criteria = Vec::new();
    for name in names {
        criteria.extend(match *name {
            "covertype" => compare(&workloads::covertype(options.observations)?, &options)?,
            "hierarchical" => compare(&workloads::hierarchical(options.observations)?, &options)?,
            "mixture" => compare(&workloads::mixture(options.observations)?, &options)?,
            _ => compare(&workloads::quickstart(options.observations)?, &options)?,
        });
    }
    if !criteria.iter().any(Criterion::judged) {
        return Ok(Outcome::NotJudged);
    }
    Ok(Outcome::from_failures(criteria.iter().filter(|criterion| criterion.failed()).count()))
}

/// Runs all methods on a workload, and prints their table and the criteria.
fn compare<P: TensorTree, D: TensorTree>(workload: &Workload<P, D>, options: &Options) -> Result<Vec<Criterion>> {
    let Workload { name, title, target, start, columns } = workload;
    println!("\n{title}");
    if !options.export.is_empty() {
        export::write(Path::new(&options.export), columns)?;
        return Ok(Vec::new());
    }
    let stored = match options.reference.as_str() {
        "" => None,
        file => Some(reference::read(Path::new(file), title)?),
    };
    let (fit, auto) = methods::auto(target, start, options.seed)?;
    for decision in fit.info().tuning.iter().flat_map(|tuning| &tuning.decisions) {
        println!("  auto: {decision}");
    }
    println!("  check of auto: {}", fit.check().to_string().replace("\n\n", "\n").replace('\n', "\n    "));
    let nuts = if options.nuts.1 == 0 {
        println!("  NUTS is omitted, because --nuts-draws is 0");
        None
    } else {
        let row = if options.whitens_nuts {
            methods::whitened_nuts(target, start, &fit, options.nuts, options.seed).transpose()
        } else {
            methods::nuts(target, start, options.nuts, CHAINS, options.seed).transpose()
        };
        if row.is_none() {
            println!("  NUTS is omitted: it needs --features nuts");
        }
        row
    };
    let nuts = nuts.map(|row| Entry::new("NUTS", row));
    let plain = match options.plain_nuts.1 {
        0 => None,
        _ => methods::nuts(target, start, options.plain_nuts, PLAIN_CHAINS, options.seed).transpose(),
    };
    let plain = plain.map(|row| Entry::new("NUTS, short", row));
    if let (Some(Entry { row: Ok(row), .. }), false) = (&nuts, options.write_reference.is_empty()) {
        reference::write(Path::new(&options.write_reference), title, &row.moments)?;
    }
    let reference = match stored {
        Some(moments) => {
            println!("  reference: {}", options.reference);
            Some(moments)
        }
        None => nuts.as_ref().and_then(Entry::row).and_then(as_reference),
    };
    let grid = match &reference {
        _ if options.grid_steps == 0 => None,
        None => Some(Err("without a reference, the bias of a setting is not known".into())),
        Some(reference) => Some(hand_tuned::best(target, start, reference, options.grid_steps, options.seed)),
    };
    let laplace = methods::laplace(target, start, options.seed);
    let guessed = (*name == "quickstart").then(|| methods::guessed(target, start, options.seed));
    let verdict = match &reference {
        Some(reference) => Some(Verdict::new(&fit, &Differences::new(&auto.moments, reference)?)),
        None => None,
    };
    let grid = grid.map(|row| Entry::new("SGLD-CV, tuned by hand", row));
    let guessed = guessed.map(|row| Entry::new("SGLD-CV, guessed settings", row));
    let results = Results {
        fit: &fit,
        auto: &auto,
        verdict: verdict.as_ref(),
        by_hand: grid.as_ref().and_then(Entry::row),
        guessed: guessed.as_ref().and_then(Entry::row),
        nuts: plain.as_ref().or(nuts.as_ref()).and_then(Entry::row),
    };
    let criteria = criteria::judge(name, &results);
    let mut entries = vec![Entry::new("auto", Ok(auto))];
    entries.extend(grid.into_iter().chain(guessed));
    entries.push(Entry::new("Laplace approximation", laplace));
    entries.extend(nuts.into_iter().chain(plain));
    table::print(title, &entries, reference.as_deref())?;
    println!("criteria of {name}:");
    criteria.iter().for_each(|criterion| println!("  {}", criterion.line()));
    Ok(criteria)
}

/// Returns the moments of NUTS, if it has enough effective draws.
fn as_reference(nuts: &Row) -> Option<Vec<Moments>> {
    let ess = nuts.ess;
    if ess >= REFERENCE_ESS {
        println!("  reference: NUTS, with {ess:.0} effective draws");
        return Some(nuts.moments.clone());
    }
    println!(
        "  no reference: NUTS has {ess:.0} effective draws, fewer than {REFERENCE_ESS}; use more --nuts-draws, or --reference"
    );
    None
}

//! Tests of the binary with saved fits.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Finding, Fit, Group, RunInfo, Severity, ShardInfo, Tempering, TuningRecord, Variable};
use sgmcmc_gradient::{Constraint, Layout};
use sgmcmc_storage::fits;

/// Saves a fit of two chains with 1,000 draws of `mu` and `beta[0..3]`. `apart` shifts the second chain.
fn saved(folder: &Path, name: &str, apart: f64) -> PathBuf {
    let layout = Layout::new([("mu".to_owned(), vec![1], None), ("beta".to_owned(), vec![3], None)]).unwrap();
    let chain = |chain: u64| {
        let mut draws = ChainDraws::new(4, vec!["alpha".to_owned()]);
        let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(chain + 1);
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for iteration in 1..=1000 {
            let values: Vec<f64> = (0..4).map(|_| uniform() + apart * chain as f64).collect();
            let draw = Draw { iteration, values: &values, weight: 1.0, log_posterior: -values[0], stats: &[0.01] };
            draws.push(&draw).unwrap();
        }
        draws
    };
    let fit = Fit::new(layout, vec![chain(0), chain(1)]).unwrap();
    let path = folder.join(name);
    fits::save(&fit, &path).unwrap();
    path
}

fn sgmcmc(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sgmcmc")).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn check_sets_the_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let good = sgmcmc(&["check", text(&saved(folder.path(), "good.sgmcmc", 0.0))]);
    assert_eq!(good.status.code(), Some(0), "{}", stdout(&good));
    let path = saved(folder.path(), "bad.sgmcmc", 5.0);
    let bad = sgmcmc(&["check", text(&path)]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(stdout(&bad).contains("R-hat"), "{}", stdout(&bad));
    let quiet = sgmcmc(&["check", "--quiet", text(&path)]);
    assert_eq!((quiet.status.code(), stdout(&quiet).as_str()), (Some(1), ""));
}

#[test]
fn summaries_have_four_formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let run = |arguments: &[&str]| {
        let output = sgmcmc(&[&["summary", text(&path)], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let table = run(&[]);
    assert!(["mean", "eti89_lb", "r_hat", "mu", "beta[2]"].iter().all(|part| table.contains(part)), "{table}");
    let csv = run(&["--format", "csv"]);
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(csv.starts_with(",mean,sd,"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&run(&["-f", "json"])).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 4);
    assert!((json[0]["mean"].as_f64().unwrap() - 0.5).abs() < 0.05, "{json}");
    assert!(run(&["--format", "markdown"]).starts_with('|'));
    let one = run(&["mu", "--format", "csv"]);
    assert!(one.contains("mu") && !one.contains("beta"), "{one}");
}

#[test]
fn summaries_have_columns_orders_and_selections() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let run = |arguments: &[&str]| {
        let output = sgmcmc(&[&["summary", text(&path)], arguments, &["-f", "csv"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let rows = |csv: &str| csv.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect::<Vec<_>>();
    let table = run(&["--median", "--quantiles", "0.05,0.975", "--interval", "hdi", "--width", "0.5"]);
    assert!(table.starts_with(",mean,sd,median,q5,q97.5,hdi50_lb,hdi50_ub,ess_bulk,ess_tail,r_hat,"), "{table}");
    // The draws are uniform on [0, 1].
    let numbers: Vec<f64> =
        table.lines().nth(1).unwrap().split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
    for (found, expected) in
        [(numbers[2], 0.5), (numbers[3], 0.05), (numbers[4], 0.975), (numbers[6] - numbers[5], 0.5)]
    {
        assert!((found - expected).abs() < 0.05, "{found} {expected}");
    }
    assert_eq!(rows(&run(&["beta[2]", "m*"])), ["beta[2]", "mu"]);
    assert_eq!(rows(&run(&["~beta[1]", "~mu"])), ["beta[0]", "beta[2]"]);
    let sorted = run(&["--sort", "ess_bulk", "--top", "2"]);
    let sizes: Vec<f64> = sorted.lines().skip(1).map(|row| row.split(',').nth(5).unwrap().parse().unwrap()).collect();
    assert!(sizes.len() == 2 && sizes[0] <= sizes[1], "{sorted}");
    let table = stdout(&sgmcmc(&["summary", text(&path), "--top", "2", "--digits", "6"]));
    assert!(table.ends_with("2 of 4 values; 2000 draws of 2 chains\n"), "{table}");
    let short = stdout(&sgmcmc(&["summary", text(&path), "--chains", "1", "--skip", "100", "--thin", "3"]));
    assert!(short.ends_with("300 draws of 1 chain\n"), "{short}");
    for (arguments, part) in [
        (&["--chains", "7"][..], "counted from 0"),
        (&["--width", "1.5"], "between 0 and 1"),
        (&["--quantiles", "2"], "from 0 to 1"),
        (&["--rate"], "run times are not recorded"),
        (&["gamma*"], "gamma*"),
        (&["~mu", "~beta"], "leaves no value"),
    ] {
        let output = sgmcmc(&[&["summary", text(&path)], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn several_files_are_chains_of_one_fit() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (saved(folder.path(), "one.sgmcmc", 0.0), saved(folder.path(), "other.sgmcmc", 0.0));
    let output = sgmcmc(&["summary", text(&one), text(&other), "mu"]);
    assert!(stdout(&output).ends_with("4000 draws of 4 chains\n"), "{}{}", stdout(&output), stderr(&output));
    // A file that is called like a parameter needs a path.
    saved(folder.path(), "fit.sgmcmc", 0.0);
    std::fs::write(folder.path().join("mu"), "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_sgmcmc"));
    let output = command.current_dir(folder.path()).args(["summary", "fit.sgmcmc", "mu"]).output().unwrap();
    assert!(stderr(&output).contains("both a file and a parameter"), "{}", stderr(&output));
}

#[test]
fn checks_have_thresholds_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let output = sgmcmc(&["check", text(&path), "--ess-per-chain", "100000", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["passed"], false);
    assert_eq!(json["findings"][0]["severity"], "problem");
    assert!(json["findings"][0]["what"].as_str().unwrap().contains("few effective draws"), "{json}");
    let good = sgmcmc(&["check", text(&path), "mu", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&good)).unwrap();
    assert_eq!((good.status.code(), &json["passed"]), (Some(0), &serde_json::Value::Bool(true)));
}

/// Adds log-likelihoods with these means, observed data and predictive draws to a fit.
fn with_groups(path: &Path, means: [f64; 3]) {
    let fit = fits::open(path).unwrap();
    let array = |group: &str, name: &str, values: Vec<f64>| {
        let dimensions = ["chain", "draw", "y_dim_0"].map(str::to_owned).to_vec();
        let variable = Variable { name: name.into(), dimensions, shape: vec![2, 1000, 3], values };
        Group { name: group.into(), variables: vec![variable] }
    };
    let mu = || fit.chains().iter().flat_map(|chain| chain.element(0));
    let log_likelihood = mu().flat_map(|mu| means.map(|mean| mean + 0.1 * mu)).collect();
    let drawn = mu().flat_map(|mu| [mu, mu + 1.0, mu + 2.0]).collect();
    let fit = fit.clone().with_group(array("log_likelihood", "y", log_likelihood)).unwrap();
    let fit = fit.with_group(array("posterior_predictive", "y", drawn)).unwrap();
    fits::save(&fit.with_observed_data("y", &[0.5, 1.25, 9.0], &[3]).unwrap(), path).unwrap();
}

#[test]
fn models_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (saved(folder.path(), "one.sgmcmc", 0.0), saved(folder.path(), "other.sgmcmc", 0.0));
    let missing = sgmcmc(&["compare", text(&one), text(&other)]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("with_log_likelihood"), "{}", stderr(&missing));
    with_groups(&one, [-1.0, -2.0, -3.0]);
    with_groups(&other, [-2.0, -3.0, -6.0]);
    let table = stdout(&sgmcmc(&["compare", text(&other), text(&one)]));
    for part in ["elpd", "diff_se", "weight", "Pareto k", "the best model predicts better"] {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(table.lines().nth(1).unwrap().starts_with("one "), "{table}");
    let json = stdout(&sgmcmc(&["compare", text(&other), text(&one), "-f", "json", "--criterion", "waic"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["name"], "one");
    assert!(
        (json[1]["diff"].as_f64().unwrap() - 5.0).abs() < 1e-9 && json[0]["weight"].as_f64().unwrap() > 0.99,
        "{json}"
    );
    let alone = stdout(&sgmcmc(&["compare", text(&one)]));
    assert!(alone.starts_with("elpd_loo -5.8"), "{alone}");
}

#[test]
fn fits_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (one, apart) = (saved(folder.path(), "one.sgmcmc", 0.0), saved(folder.path(), "apart.sgmcmc", 5.0));
    let same = sgmcmc(&["diff", text(&one), text(&one), "--exact"]);
    assert_eq!((same.status.code(), stdout(&same).contains("bit for bit")), (Some(0), true));
    let chains = folder.path().join("chains.sgmcmc");
    fits::save(&fits::open(&one).unwrap().only_chains(&[1, 0]).unwrap(), &chains).unwrap();
    let agree = sgmcmc(&["diff", text(&one), text(&chains)]);
    assert_eq!((agree.status.code(), stdout(&agree).contains("agree within Monte Carlo error")), (Some(0), true));
    assert_eq!(sgmcmc(&["diff", text(&one), text(&chains), "--exact"]).status.code(), Some(1));
    let differ = sgmcmc(&["diff", text(&one), text(&apart), "mu"]);
    assert_eq!(differ.status.code(), Some(1));
    assert!(stdout(&differ).starts_with("1 of 1 common value differs"), "{}", stdout(&differ));
}

#[test]
fn predictions_are_shown_with_their_coverage() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let missing = sgmcmc(&["predict", text(&path)]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("with_posterior_predictive"), "{}", stderr(&missing));
    with_groups(&path, [-1.0; 3]);
    let table = stdout(&sgmcmc(&["predict", text(&path)]));
    assert!(table.contains("y[2]") && table.contains("89 % intervals contain 66.7 % of 3 observed values"), "{table}");
    let csv = stdout(&sgmcmc(&["predict", text(&path), "y", "-f", "csv"]));
    let numbers: Vec<f64> = csv.lines().nth(2).unwrap().split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
    // mu + 1 is uniform on [1, 2], and the observed value is 1.25.
    for (found, expected) in numbers.into_iter().zip([1.5, (1.0_f64 / 12.0).sqrt(), 1.055, 1.945, 1.25, 0.25]) {
        assert!((found - expected).abs() < 0.04, "{found} {expected}: {csv}");
    }
    let unknown = sgmcmc(&["predict", text(&path), "z"]);
    assert!(stderr(&unknown).contains("name one of `y`"), "{}", stderr(&unknown));
}

#[test]
fn groups_are_kept_by_the_formats_that_have_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    with_groups(&path, [-1.0, -2.0, -3.0]);
    let original = fits::open(&path).unwrap();
    assert_eq!(original.groups().len(), 3);
    for name in ["again.sgmcmc", "fit.json", "fit.zarr"] {
        let converted = folder.path().join(name);
        assert_eq!(sgmcmc(&["convert", text(&path), text(&converted)]).status.code(), Some(0), "{name}");
        let read = fits::open(&converted).unwrap();
        for group in original.groups() {
            assert_eq!(read.group(&group.name), Some(group), "{name}");
        }
    }
    let root = std::fs::read_to_string(folder.path().join("fit.zarr/zarr.json")).unwrap();
    assert!(root.contains("created_at"), "{root}");
}

#[test]
fn plots_are_files_or_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    with_groups(&path, [-1.0; 3]);
    let file = folder.path().join("plot.svg");
    let kinds: [(&str, &[&str]); 14] = [
        ("trace", &["beta[1]"]),
        ("density", &["beta"]),
        ("rank", &["mu", "beta[0]"]),
        ("autocorrelation", &["mu"]),
        ("running-mean", &["mu"]),
        ("ess", &["mu"]),
        ("r-hat", &["mu"]),
        ("forest", &["b*"]),
        ("pair", &["~mu"]),
        ("parallel", &[]),
        ("statistic", &["alpha"]),
        ("pareto-k", &[]),
        ("loo-pit", &["y"]),
        ("predictive", &["y"]),
    ];
    for (kind, names) in kinds {
        let output = sgmcmc(&[&["plot", kind, text(&path)], names, &["-o", text(&file), "--force"]].concat());
        assert_eq!(output.status.code(), Some(0), "{kind}: {}", stderr(&output));
        let svg = std::fs::read_to_string(&file).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("</svg>"), "{kind}");
        let drawn = sgmcmc(&[&["plot", kind, text(&path)], names].concat());
        if ["trace", "density", "autocorrelation", "running-mean", "ess", "r-hat", "statistic"].contains(&kind) {
            assert!(
                stdout(&drawn).chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)),
                "{kind}: {}",
                stderr(&drawn)
            );
            assert!(!stdout(&drawn).contains('\x1b'), "colors are for terminals only");
        } else {
            assert!(stderr(&drawn).contains("--output"), "{kind}: {}", stderr(&drawn));
        }
    }
    for (arguments, part) in [
        (&["plot", "energy", text(&path), "-o", "x.svg"][..], "no statistic `energy`"),
        (&["plot", "prior", text(&path), "mu", "-o", "x.svg"], "with_prior"),
        (&["plot", "trace", text(&path), "gamma"], "gamma"),
        (&["plot", "trace", text(&path), "-o", text(&file)], "--force"),
        (&["plot", "trace", text(&path), "-o", "x.pdf"], ".svg"),
        (&["plot", "statistic", text(&path), "a", "b"], "2 were given"),
    ] {
        let output = sgmcmc(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn weighted_draws_are_resampled_or_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut chain = ChainDraws::new(1, Vec::new());
    for iteration in 1..=400_u64 {
        let (x, weight) = (iteration as f64, 1.0 / iteration as f64);
        let draw = Draw { iteration, values: &[x], weight, log_posterior: 0.0, stats: &[] };
        chain.push(&draw).unwrap();
    }
    let fit = Fit::new(Layout::vector("x", 1), vec![chain]).unwrap();
    let path = folder.path().join("weighted.sgmcmc");
    fits::save(&fit, &path).unwrap();
    let parquet = folder.path().join("fit.parquet");
    let told = sgmcmc(&["convert", text(&path), text(&parquet)]);
    assert!(told.status.success() && stderr(&told).contains("different weights"), "{}", stderr(&told));
    let silent = sgmcmc(&["convert", text(&path), text(&parquet), "--resample", "--force"]);
    assert!(silent.status.success() && stderr(&silent).is_empty(), "{}", stderr(&silent));
    let read = fits::open(&parquet).unwrap();
    assert!(!read.is_weighted());
    let plain: f64 = read.chains()[0].values().iter().sum::<f64>() / 400.0;
    assert!((plain / fit.mean_values()[0] - 1.0).abs() < 0.01, "{plain}");
}

#[test]
fn completions_and_manual_pages_are_made() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&sgmcmc(&["completions", shell])).contains("summary"), "{shell}");
    }
    let output = sgmcmc(&["man", text(folder.path())]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = std::fs::read_to_string(folder.path().join("sgmcmc-summary.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("quantiles"), "{page}");
    assert!(folder.path().join("sgmcmc.1").exists());
    let again = sgmcmc(&["man", text(folder.path())]);
    assert!(again.status.code() == Some(2) && stderr(&again).contains("--force"));
    assert_eq!(sgmcmc(&["man", text(folder.path()), "--force"]).status.code(), Some(0));
}

#[test]
fn reports_are_written_beside_the_fit_or_to_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let output = sgmcmc(&["report", text(&path)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = std::fs::read_to_string(folder.path().join("fit.html")).unwrap();
    assert!(page.contains("<title>fit.sgmcmc</title>") && page.contains("data-name=\"beta[2]\""));
    let other = folder.path().join("other.html");
    let output = sgmcmc(&["report", text(&path), "-o", text(&other), "--title", "A & B", "--limit", "1"]);
    assert!(stdout(&output).contains("other.html"));
    let page = std::fs::read_to_string(other).unwrap();
    assert!(page.contains("<title>A &amp; B</title>"));
    assert_eq!(page.matches("class=\"plots\"").count(), 1);
}

#[test]
fn several_fits_are_compared_on_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let (one, apart) = (saved(folder.path(), "one.sgmcmc", 0.0), saved(folder.path(), "apart.sgmcmc", 5.0));
    with_groups(&one, [-1.0, -2.0, -3.0]);
    with_groups(&apart, [-2.0, -3.0, -6.0]);
    let page = folder.path().join("page.html");
    let output = sgmcmc(&["report", text(&one), text(&apart), "-o", text(&page)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = std::fs::read_to_string(page).unwrap();
    for part in ["Differences to one.sgmcmc", "stacking weight", "Do not trust this fit yet", "4 values in all fits"] {
        assert!(page.contains(part), "{part}");
    }
    let report = folder.path().join("one.html");
    assert_eq!(sgmcmc(&["report", text(&one), "-o", text(&report)]).status.code(), Some(0));
    let report = std::fs::read_to_string(report).unwrap();
    assert!(["id=\"predictive\"", "LOO-PIT of y", "Pareto k", "table-csv"].iter().all(|part| report.contains(part)));
}

#[test]
fn every_format_can_be_converted_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let summary = |path: &Path| {
        let output = sgmcmc(&["summary", text(path), "--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let rows: Vec<serde_json::Value> = serde_json::from_str(&stdout(&output)).unwrap();
        rows.iter()
            .map(|row| (row["name"].as_str().unwrap().to_owned(), row["mean"].as_f64().unwrap()))
            .collect::<Vec<_>>()
    };
    for name in ["fit.json", "fit.csv", "fit.parquet", "fit.zarr", "again.sgmcmc"] {
        let converted = folder.path().join(name);
        let output = sgmcmc(&["convert", text(&path), text(&converted)]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        for (one, other) in summary(&path).into_iter().zip(summary(&converted)) {
            assert_eq!(one.0, other.0, "{name}");
            assert!((one.1 - other.1).abs() < 1e-9, "{name}: {one:?} {other:?}");
        }
        let again = sgmcmc(&["convert", text(&path), text(&converted)]);
        assert_eq!(again.status.code(), Some(2), "{name} was replaced");
        assert!(stderr(&again).contains(name) && stderr(&again).contains("--force"));
        let forced = sgmcmc(&["convert", "--force", text(&path), text(&converted)]);
        assert_eq!(forced.status.code(), Some(0), "{name}: {}", stderr(&forced));
    }
    let onto_itself = sgmcmc(&["convert", "--force", text(&path), text(&path)]);
    assert_eq!(onto_itself.status.code(), Some(2));
    let foreign = folder.path().join("photos.zarr");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("photo.jpg"), "x").unwrap();
    assert_eq!(sgmcmc(&["convert", "--force", text(&path), text(&foreign)]).status.code(), Some(2));
    assert!(foreign.join("photo.jpg").exists(), "a directory of something else was removed");
}

#[test]
fn info_shows_names_shapes_and_chains() {
    let folder = tempfile::tempdir().unwrap();
    let output = stdout(&sgmcmc(&["info", text(&saved(folder.path(), "fit.sgmcmc", 0.0))]));
    for part in ["fit.sgmcmc (Native)", "beta  [3]", "0  1000 draws, complete", "statistics  alpha"] {
        assert!(output.contains(part), "{part}: {output}");
    }
    assert!(!output.contains("interleaved"), "{output}");
    let fit = fits::open(folder.path().join("fit.sgmcmc")).unwrap();
    let path = folder.path().join("interleaved.sgmcmc");
    fits::save(&fit.with_info(RunInfo { interleaved: 2, ..RunInfo::default() }), &path).unwrap();
    let output = stdout(&sgmcmc(&["info", text(&path)]));
    assert!(output.contains("chains        2 chains (1 run of 2 interleaved chains)"), "{output}");
}

#[test]
fn the_decisions_of_tuning_are_shown_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let fit = fits::open(saved(folder.path(), "given.sgmcmc", 0.0)).unwrap();
    let given = sgmcmc(&["info", text(&folder.path().join("given.sgmcmc"))]);
    assert!(!stdout(&given).contains("automatic tuning"), "{}", stdout(&given));
    let tuning = TuningRecord {
        decisions: vec!["minibatches of 64 observations".into(), "step \u{1b}[2J size".into()],
        findings: vec![Finding::new(Severity::Problem, "the posterior has several modes", "start in every mode")],
        gradients: 2_500_000,
        seconds: 0.75,
    };
    let path = folder.path().join("tuned.sgmcmc");
    fits::save(&fit.with_info(RunInfo { tuning: Some(tuning), ..RunInfo::default() }), &path).unwrap();
    // JSON has the draws only.
    for name in ["tuned.sgmcmc", "fit.csv", "fit.parquet", "fit.zarr"] {
        let converted = folder.path().join(name);
        if converted != path {
            let output = sgmcmc(&["convert", text(&path), text(&converted)]);
            assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        }
        let info = stdout(&sgmcmc(&["info", text(&converted)]));
        for part in [
            "automatic tuning",
            "   1. minibatches of 64 observations",
            "   2. step \\u{1b}[2J size",
            "  gradients     2500000 of single observations",
        ] {
            assert!(info.contains(part), "{name}: {part}: {info}");
        }
        let check = sgmcmc(&["check", text(&converted)]);
        assert_eq!(check.status.code(), Some(1), "{name}");
        assert!(stdout(&check).contains("several modes"), "{name}: {}", stdout(&check));
    }
}

#[test]
fn errors_name_the_file_and_exit_with_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, foreign) = (folder.path().join("empty.sgmcmc"), folder.path().join("foreign.sgmcmc"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&foreign, "not a fit at all").unwrap();
    for path in [&folder.path().join("absent.sgmcmc"), &empty, &foreign] {
        for command in ["summary", "check", "report", "info"] {
            let output = sgmcmc(&[command, text(path)]);
            assert_eq!(output.status.code(), Some(2), "{command} {}", path.display());
            let message = stderr(&output);
            assert!(message.contains(text(path)), "{command}: {message}");
            assert!(!message.contains("panicked"), "{command}: {message}");
        }
    }
    let path = saved(folder.path(), "fit.sgmcmc", 0.0);
    let unknown = sgmcmc(&["summary", text(&path), "gamma"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("gamma") && stderr(&unknown).contains("fit.sgmcmc"), "{}", stderr(&unknown));
    let ending = sgmcmc(&["convert", text(&path), text(&folder.path().join("fit.xyz"))]);
    assert_eq!(ending.status.code(), Some(2));
    assert!(stderr(&ending).contains("fit.xyz"));
    let nowhere = sgmcmc(&["report", text(&path), "-o", "/nonexistent/report.html"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).contains("/nonexistent/report.html"));
    assert_eq!(sgmcmc(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn help_has_examples_for_every_command() {
    let help = sgmcmc(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(stdout(&help).contains("Examples:") && stdout(&help).contains("Exit codes:"));
    for command in
        ["summary", "check", "report", "convert", "info", "plot", "compare", "diff", "predict", "completions", "man"]
    {
        assert!(stdout(&sgmcmc(&[command, "--help"])).contains(&format!("Example: sgmcmc {command}")), "{command}");
    }
}

#[test]
fn closed_pipes_are_errors_for_csv_and_json_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = saved(folder.path(), "bad.sgmcmc", 5.0);
    let cases: [(&[&str], i32); 5] = [
        (&["summary"], 0),
        (&["info"], 0),
        (&["check"], 1),
        // A truncated table must not pass as a complete one.
        (&["summary", "--format", "csv"], 141),
        (&["summary", "--format", "json"], 141),
    ];
    for (command, code) in cases {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sgmcmc"))
            .args(command)
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(code), ""), "{command:?}");
    }
}

/// Saves the fits of shards with 4000 normal draws of log sigma. Returns their paths.
fn saved_shards(folder: &Path, ending: &str, infos: [Option<ShardInfo>; 2]) -> Vec<PathBuf> {
    let layout = Layout::vector("sigma", 1).constrained("sigma", Constraint::Positive).unwrap();
    let paths: Vec<PathBuf> = (0..2).map(|shard| folder.join(format!("shard-{shard}.{ending}"))).collect();
    for (shard, (path, info)) in paths.iter().zip(infos).enumerate() {
        let mut draws = ChainDraws::new(1, Vec::new());
        let mut state = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(shard as u64 + 1);
        let mut uniform = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for iteration in 1..=4000 {
            // A sum of uniform numbers is nearly normal, with variance 1. The means are 0 and 2.
            let log_sigma = (0..12).map(|_| uniform()).sum::<f64>() - 6.0 + 2.0 * shard as f64;
            let values = [log_sigma.exp()];
            draws.push(&Draw { iteration, values: &values, weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
        }
        let seed = shard as u64;
        let run = RunInfo { shard: info, seed, iterations: vec![4000], version: "1".into(), ..RunInfo::default() };
        fits::save(&Fit::new(layout.clone(), vec![draws]).unwrap().with_info(run), path).unwrap();
    }
    paths
}

#[test]
fn shards_are_combined_in_coordinates() {
    let info = |index| Some(ShardInfo { index, count: 2, observations: 100, tempering: Tempering::FractionalPrior });
    for ending in ["sgmcmc", "csv", "parquet", "zarr"] {
        let folder = tempfile::tempdir().unwrap();
        let paths = saved_shards(folder.path(), ending, [info(0), info(1)]);
        for (index, path) in paths.iter().enumerate() {
            let read = fits::open(path).unwrap();
            assert_eq!((read.info().shard, read.layout().is_constrained()), (info(index), true), "{ending}");
        }
        let output = folder.path().join(format!("fit.{ending}"));
        let run = sgmcmc(&["combine", text(&paths[1]), text(&paths[0]), "--output", text(&output)]);
        assert_eq!(run.status.code(), Some(0), "{ending}: {}", stderr(&run));
        assert!(stdout(&run).contains("combined 2 shards by consensus: 1 chain, 4000 draws"), "{}", stdout(&run));
        assert!(!stdout(&run).contains("note"), "{}", stdout(&run));
        let fit = fits::open(&output).unwrap();
        // The product of the log-normal distributions is that of N(0, 1) and N(2, 1): N(1, 1/2).
        let logs: Vec<f64> = fit.element("sigma").unwrap().concat().iter().map(|sigma| sigma.ln()).collect();
        let mean = logs.iter().sum::<f64>() / 4000.0;
        let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4000.0;
        assert!((mean - 1.0).abs() < 0.05 && (variance - 0.5).abs() < 0.05, "{ending}: {mean} {variance}");
        assert_eq!((fit.info().observations, fit.info().shard), (100, None));
    }
}

#[test]
fn every_method_combines_files() {
    let folder = tempfile::tempdir().unwrap();
    let paths = saved_shards(folder.path(), "sgmcmc", [None, None]);
    let output = folder.path().join("fit.sgmcmc");
    let run = |extra: &[&str]| {
        let base = ["combine", text(&paths[0]), text(&paths[1]), "-o", text(&output), "--force"];
        sgmcmc(&[&base, extra].concat())
    };
    let good: [&[&str]; 7] = [
        &["-m", "consensus", "--weights", "equal"],
        &["-m", "gaussian-product", "--draws", "300"],
        &["-m", "swiss", "--inflated"],
        &["-m", "kdemc", "--draws", "300", "--bandwidth", "0.2"],
        &["-m", "semiparametric-kdemc", "--draws", "300"],
        &["-m", "weierstrass", "--draws", "300", "--acceptance", "0.2"],
        &["-m", "geometric-median", "--draws", "300", "--seed", "4"],
    ];
    for extra in good {
        let done = run(extra);
        assert_eq!(done.status.code(), Some(0), "{extra:?}: {}", stderr(&done));
        let described = stdout(&sgmcmc(&["info", text(&output)]));
        assert!(described.contains("algorithm") && described.contains("of 2 shards"), "{described}");
    }
    let bad: [(&[&str], &str); 6] = [
        (&["-m", "average"], "the methods are consensus, gaussian-product"),
        (&["--draws", "10"], "--draws is not an option of `consensus`"),
        (&["--inflated"], "consensus combines subposteriors with prior^(1/S)"),
        (&["--constraint", "sigma=round"], "write NAME=KIND"),
        (&["--constraint", "tau=positive"], "there is no parameter `tau`"),
        (&["-m", "weierstrass", "--acceptance", "2"], "between 0.001 and 1"),
    ];
    for (extra, reason) in bad {
        let failed = run(extra);
        assert_eq!(failed.status.code(), Some(2), "{extra:?}");
        assert!(stderr(&failed).contains(reason), "{extra:?}: {}", stderr(&failed));
    }
}

#[test]
fn incomplete_sets_of_shards_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let info =
        |index, count| Some(ShardInfo { index, count, observations: 100, tempering: Tempering::FractionalPrior });
    let paths = saved_shards(folder.path(), "sgmcmc", [info(0, 3), info(2, 3)]);
    let output = folder.path().join("fit.sgmcmc");
    let failed = sgmcmc(&["combine", text(&paths[0]), text(&paths[1]), "-o", text(&output)]);
    assert_eq!(failed.status.code(), Some(2));
    assert!(stderr(&failed).contains("missing: 1"), "{}", stderr(&failed));
    let onto_input = sgmcmc(&["combine", text(&paths[0]), text(&paths[1]), "-o", text(&paths[0]), "--force"]);
    assert_eq!(onto_input.status.code(), Some(2));
    let shown = stdout(&sgmcmc(&["info", text(&paths[0])]));
    assert!(shown.contains("shard         index 0 of 3, prior^(1/S), 100 observations in all shards"), "{shown}");
    let help = stdout(&sgmcmc(&["combine", "--help"]));
    assert!(
        ["consensus", "geometric-median", "--constraint", "Examples:"].iter().all(|part| help.contains(part)),
        "{help}"
    );
}

/// Files of other programs do not know their constraints.
#[test]
fn constraints_can_be_named() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..2).map(|shard| folder.path().join(format!("{shard}.csv"))).collect();
    for (shard, path) in paths.iter().enumerate() {
        let rows: Vec<String> = (0..100)
            .map(|k| format!("0,{}", (f64::from((k * 37 + 13 * shard as i32) % 100) / 50.0 - 1.0).exp()))
            .collect();
        std::fs::write(path, format!("lp__,sigma\n{}\n", rows.join("\n"))).unwrap();
    }
    let output = folder.path().join("fit.sgmcmc");
    let arguments = ["combine", text(&paths[0]), text(&paths[1]), "-o", text(&output), "--force"];
    let plain = sgmcmc(&arguments);
    assert_eq!(plain.status.code(), Some(0), "{}", stderr(&plain));
    assert!(stdout(&plain).contains("note:") && stdout(&plain).contains("--constraint"), "{}", stdout(&plain));
    let named = sgmcmc(&[&arguments[..], &["--constraint", "sigma=positive"]].concat());
    assert_eq!(named.status.code(), Some(0), "{}", stderr(&named));
    assert!(!stdout(&named).contains("note:"), "{}", stdout(&named));
    assert!(fits::open(&output).unwrap().layout().is_constrained());
}

//! Tests of the binary with saved fits.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Finding, Fit, RunInfo, Severity, ShardInfo, Tempering, TuningRecord};
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
    for command in ["summary", "check", "report", "convert", "info"] {
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

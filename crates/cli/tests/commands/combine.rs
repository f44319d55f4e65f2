//! `sgmcmc combine`.

use std::path::{Path, PathBuf};

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Fit, RunInfo, ShardInfo, Tempering};
use sgmcmc_gradient::{Constraint, Layout};
use sgmcmc_storage::fits;

use crate::{sgmcmc, stderr, stdout, text};

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
        // Without an output, no file is written.
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = files();
        let shown = sgmcmc(&["combine", text(&paths[0]), text(&paths[1]), "--method", "consensus"]);
        assert_eq!(shown.status.code(), Some(0), "{ending}: {}", stderr(&shown));
        assert!(stdout(&shown).contains("sigma") && stdout(&shown).contains("--output"), "{}", stdout(&shown));
        assert_eq!(files(), before);
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

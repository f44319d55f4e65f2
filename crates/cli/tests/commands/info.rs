//! `sgmcmc info`.

use sgmcmc_fit::{Finding, RunInfo, Severity, TuningRecord};
use sgmcmc_storage::fits;

use crate::{saved, sgmcmc, stderr, stdout, text};

#[test]
fn info_shows_names_shapes_and_chains() {
    let folder = tempfile::tempdir().unwrap();
    let output = stdout(&sgmcmc(&["info", text(&saved(folder.path(), "fit.sgmcmc", 0.0))]));
    for part in ["fit.sgmcmc (native)", "beta  [3]", "0  1000 draws, complete", "statistics  alpha"] {
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

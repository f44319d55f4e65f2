//! `sgmcmc compare`, `diff` and `predict`.

use std::path::Path;

use sgmcmc_fit::{Group, Variable};
use sgmcmc_storage::fits;

use crate::{saved, sgmcmc, stderr, stdout, text};

/// Adds log-likelihoods with these means, observed data and predictive draws to a fit.
pub(crate) fn with_groups(path: &Path, means: [f64; 3]) {
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
    let json = stdout(&sgmcmc(&["compare", text(&one), "-f", "json"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json[0]["diff"].as_f64(), json[0]["weight"].as_f64()), (Some(0.0), Some(1.0)), "{json}");
    let csv = stdout(&sgmcmc(&["compare", text(&one), "-f", "csv"]));
    assert_eq!((csv.lines().count(), csv.lines().next().unwrap().starts_with(",elpd,se")), (2, true), "{csv}");
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
    // The first chains of both are the same.
    let part = sgmcmc(&["diff", text(&one), text(&apart), "--chains", "0", "--exact"]);
    assert_eq!(part.status.code(), Some(0), "{}", stdout(&part));
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
    // Draws of every chain are left out with their predictions.
    let part = stdout(&sgmcmc(&["predict", text(&path), "-f", "csv", "--skip", "999", "--chains", "0"]));
    let one: Vec<&str> = part.lines().nth(1).unwrap().split(',').collect();
    let first = fits::open(&path).unwrap().chains()[0].element(0)[999];
    assert_eq!(one[1], first.to_string(), "{part}");
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
    let part = folder.path().join("part.sgmcmc");
    let selection = ["--chains", "1", "--skip", "100", "--thin", "9", "--parameters", "beta[1],mu"];
    let converted = sgmcmc(&[&["convert", text(&path), text(&part)], &selection[..]].concat());
    assert_eq!(converted.status.code(), Some(0), "{}", stderr(&converted));
    let read = fits::open(&part).unwrap();
    assert_eq!((read.chains().len(), read.chains()[0].len()), (1, 100));
    let (first, whole) = (read.chains()[0].rows().next().unwrap(), original.chains()[1].rows().nth(100).unwrap());
    assert_eq!(first, [whole[2], whole[0]]);
    let page = folder.path().join("part.html");
    let report = sgmcmc(&[&["report", text(&path), "-o", text(&page)], &selection[..]].concat());
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    let page = std::fs::read_to_string(&page).unwrap();
    assert!(page.contains("data-name=\"beta[1]\"") && !page.contains("data-name=\"beta[0]\""));
    let root = std::fs::read_to_string(folder.path().join("fit.zarr/zarr.json")).unwrap();
    assert!(root.contains("created_at"), "{root}");
}

//! `sgmcmc convert`.

use std::path::Path;

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Fit};
use sgmcmc_gradient::Layout;
use sgmcmc_storage::fits;

use crate::{saved, sgmcmc, stderr, stdout, text};

#[test]
fn weighted_draws_are_resampled_or_reported() {
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
    let output = sgmcmc(&["convert", text(&path), text(&parquet)]);
    assert!(output.status.success() && stderr(&output).contains("different weights"), "{}", stderr(&output));
    let silent = sgmcmc(&["convert", text(&path), text(&parquet), "--resample", "--force"]);
    assert!(silent.status.success() && stderr(&silent).is_empty(), "{}", stderr(&silent));
    let read = fits::open(&parquet).unwrap();
    assert!(!read.is_weighted());
    let plain: f64 = read.chains()[0].values().iter().sum::<f64>() / 400.0;
    assert!((plain / fit.mean_values()[0] - 1.0).abs() < 0.01, "{plain}");
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

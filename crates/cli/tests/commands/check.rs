//! `sgmcmc check`.

use crate::{saved, sgmcmc, stdout, text};

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

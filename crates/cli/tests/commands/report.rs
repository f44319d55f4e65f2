//! `sgmcmc report`.

use crate::compare::with_groups;
use crate::{saved, sgmcmc, stderr, stdout, text};

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
    for part in ["Differences to one.sgmcmc", "stacking weight", "do not trust this fit yet", "4 values in all fits"] {
        assert!(page.contains(part), "{part}");
    }
    let report = folder.path().join("one.html");
    assert_eq!(sgmcmc(&["report", text(&one), "-o", text(&report)]).status.code(), Some(0));
    let report = std::fs::read_to_string(report).unwrap();
    assert!(["id=\"predictive\"", "LOO-PIT of y", "Pareto k", "table-csv"].iter().all(|part| report.contains(part)));
}

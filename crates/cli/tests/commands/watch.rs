//! `sgmcmc watch`.

use crate::{saved, sgmcmc, stderr, stdout, text};

#[test]
fn a_run_is_shown_once_or_until_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let fit = saved(folder.path(), "fit.sgmcmc", 3.0);
    let page = folder.path().join("run.html");
    // A complete fit ends the command.
    let output = sgmcmc(&["watch", text(&fit), "--top", "2", "--html", text(&page)]);
    assert!(output.status.success(), "{}", stderr(&output));
    let shown = stdout(&output);
    let chain = "chain 1: 1000 draws, iteration 1000, complete";
    assert!(shown.contains("2000 draws of 2 chains") && shown.contains(chain), "{shown}");
    assert!(shown.contains("trace of each chain") && shown.contains("ESS of bulk and tails"), "{shown}");
    assert!(!shown.contains('\x1b'), "no escape sequences in a pipe");
    assert!(!std::fs::read_to_string(&page).unwrap().contains("http-equiv"), "a complete run is not loaded again");
    let refused = sgmcmc(&["watch", text(&fit), "--once", "--html", text(&page)]);
    assert_eq!(refused.status.code(), Some(2));
    let chosen = stdout(&sgmcmc(&["watch", text(&fit), "beta[1]", "--once"]));
    assert!(chosen.contains("beta[1]: trace"), "{chosen}");
    let unknown = sgmcmc(&["watch", text(&fit), "gamma", "--once"]);
    assert!(unknown.status.code() == Some(2) && stderr(&unknown).contains("gamma"));
    let missing = sgmcmc(&["watch", "no-such-run"]);
    assert!(missing.status.code() == Some(2) && stderr(&missing).contains("no-such-run"));
}

//! `sgmcmc watch`.

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Fit, RunInfo};
use sgmcmc_gradient::Layout;
use sgmcmc_storage::fits;

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
    let chosen = stdout(&sgmcmc(&["watch", text(&fit), "b*", "~beta[1]", "--once"]));
    assert!(chosen.contains("beta[0]: trace") && chosen.contains("beta[2]: trace"), "{chosen}");
    assert!(!chosen.contains("beta[1]") && !chosen.contains("mu"), "{chosen}");
    let unknown = sgmcmc(&["watch", text(&fit), "gamma", "--once"]);
    assert!(unknown.status.code() == Some(2) && stderr(&unknown).contains("gamma"));
    let missing = sgmcmc(&["watch", "no-such-run"]);
    assert!(missing.status.code() == Some(2) && stderr(&missing).contains("no-such-run"));
}

#[test]
fn the_plan_and_the_divergences_of_a_run_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut chain = ChainDraws::new(1, vec!["diverging".to_owned()]);
    let stats = [&[1.0][..], &[0.0], &[1.0]];
    for (iteration, stats) in (1..).zip(stats) {
        chain.push(&Draw { iteration, values: &[0.5], weight: 1.0, log_posterior: 0.0, stats }).unwrap();
    }
    let fit = Fit::new(Layout::vector("x", 1), vec![chain]).unwrap();
    let planned = |fit: Fit| fit.with_info(RunInfo { planned: Some(40), ..RunInfo::default() });
    let fit = planned(fit);
    let path = folder.path().join("fit.sgmcmc");
    fits::save(&fit, &path).unwrap();
    let shown = stdout(&sgmcmc(&["watch", text(&path), "--once"]));
    assert!(shown.contains("3 draws (of 40) of 1 chain, 2 divergent transitions"), "{shown}");
    fits::replace(&planned(fit.first(1)), &path).unwrap();
    let shown = stdout(&sgmcmc(&["watch", text(&path), "--once"]));
    assert!(shown.contains(": 1 draw (of 40)") && shown.contains("chain 0: 1 draw, iteration 1"), "{shown}");
}

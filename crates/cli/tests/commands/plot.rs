//! `sgmcmc plot`.

use crate::compare::with_groups;
use crate::{saved, sgmcmc, stderr, stdout, text};

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
        (&["plot", "prior", text(&path), "b*", "-o", "x.svg"], "3 were named"),
        (&["plot", "reliability", text(&path), "y", "-o", "x.svg"], "not all 0 or 1"),
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

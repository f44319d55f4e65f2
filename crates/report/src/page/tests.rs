//! Tests of the page with valid and with degenerate fits.

use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{ChainDraws, Finding, Fit, Health, Predictions, RunInfo, Severity, TuningRecord};
use sgmcmc_gradient::Layout;

use super::Report;
use crate::draws::Probabilities;
use crate::plot::Prior;
use crate::{Plots, error::Error};

/// Returns a fit of one parameter `name` with `width` values, computed by `value(chain, draw, element)`.
fn fit(name: &str, width: usize, chains: usize, draws: usize, value: impl Fn(usize, usize, usize) -> f64) -> Fit {
    let layout = Layout::new([(name.to_owned(), vec![width], None)]).unwrap();
    let chain = |chain: usize| {
        let mut draws_of_chain = ChainDraws::new(width, vec!["alpha".to_owned()]);
        for draw in 0..draws {
            let values: Vec<f64> = (0..width).map(|element| value(chain, draw, element)).collect();
            let (iteration, log_posterior) = (draw as u64 + 1, -values.first().copied().unwrap_or(0.0));
            draws_of_chain
                .push(&Draw {
                    iteration,
                    values: &values,
                    weight: 1.0,
                    log_posterior,
                    stats: &[0.1 + 1e-6 * draw as f64],
                })
                .unwrap();
        }
        draws_of_chain
    };
    Fit::new(layout, (0..chains).map(chain).collect()).unwrap()
}

/// Returns pseudo-random numbers.
fn scrambled(chain: usize, draw: usize, element: usize) -> f64 {
    let mixed = ((chain * 7919 + draw * 104_729 + element * 1_299_709 + 1) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns every plot of the page.
fn figures(html: &str) -> Vec<&str> {
    html.split("<figure>").skip(1).map(|part| part.split("</figure>").next().unwrap()).collect()
}

#[test]
fn the_page_has_all_sections() {
    let fit = fit("beta", 3, 2, 200, scrambled);
    let page = Report::new(&fit)
        .title("A <title>")
        .prior("beta[1]", Prior::density(|_| 1.0))
        .predictive("answers", vec![0.0, 1.0, 2.0], vec![vec![0.5, 1.0, 1.5]; 3])
        .health(Health { acceptance: Some(0.125), ..fit.health() })
        .html()
        .unwrap();
    for part in [
        "<title>A &lt;title&gt;</title>",
        "class=\"verdict",
        "2 chains × 200 draws · 3 parameters",
        "beta[2]",
        "Forest",
        "Pairs",
        "aria-label=\"trace\"",
        "aria-label=\"ranks\"",
        "aria-label=\"density\"",
        "aria-label=\"autocorrelation\"",
        "aria-label=\"running mean ± 2 MCSE\"",
        "aria-label=\"log posterior\"",
        "aria-label=\"alpha\"",
        "aria-label=\"prior and posterior\"",
        "aria-label=\"answers\"",
        "Health of the run</summary><pre",
        "proposals accepted: 12.5 %",
    ] {
        assert!(page.contains(part), "the page has no {part}");
    }
    assert_eq!(page.matches("aria-label=\"prior and posterior\"").count(), 1);
    assert_eq!(page.matches("class=\"plots\"").count(), 3);
    assert!(!page.contains("{{"), "a placeholder was not replaced");
    let loads = ["src=", "url(", "@import", "<link rel=\"stylesheet\""];
    assert!(loads.iter().all(|load| !page.contains(load)), "the page loads something");
    for svg in figures(&page) {
        roxmltree::Document::parse(svg).unwrap();
    }
}

#[test]
fn interleaved_chains_are_described() {
    let info = RunInfo { interleaved: 5, seconds: vec![0.5; 20], ..RunInfo::default() };
    let page = Report::new(&fit("beta", 1, 20, 50, scrambled).with_info(info)).html().unwrap();
    for part in ["20 chains × 50 draws", "20 chains (4 runs of 5 interleaved chains)", "2.5 s", "and 4 more"] {
        assert!(page.contains(part), "the page has no {part}");
    }
    let page = Report::new(&fit("beta", 1, 4, 50, scrambled)).html().unwrap();
    assert!(!page.contains("interleaved") && !page.contains("<span>and "));
}

#[test]
fn decisions_of_tuning_are_listed() {
    let tuning = TuningRecord {
        decisions: vec!["BAOAB with friction 1.5".into(), "minibatches of < 64 observations".into()],
        findings: vec![Finding::new(Severity::Problem, "the posterior has several modes", "start in every mode")],
        gradients: 2_500_000,
        seconds: 0.75,
    };
    let info = RunInfo { tuning: Some(tuning), ..RunInfo::default() };
    let page = Report::new(&fit("beta", 1, 2, 50, scrambled).with_info(info)).html().unwrap();
    for part in [
        "<dt>tuning</dt><dd>0.75 s, 2.50e6 gradients of single observations</dd>",
        "<ol><li>BAOAB with friction 1.5</li><li>minibatches of &lt; 64 observations</li></ol>",
        "<span class=\"tag poor\">problem</span> the posterior has several modes.",
    ] {
        assert!(page.contains(part), "the page has no {part}");
    }
    let empty = RunInfo { tuning: Some(TuningRecord::default()), ..RunInfo::default() };
    for info in [RunInfo::default(), empty] {
        let page = Report::new(&fit("beta", 1, 2, 50, scrambled).with_info(info)).html().unwrap();
        assert!(!page.contains("Decisions of automatic tuning"));
    }
}

#[test]
fn names_are_escaped() {
    let fit = fit("</script><script>alert(1)</script>\"'", 2, 2, 50, scrambled);
    let page = Report::new(&fit).html().unwrap();
    assert!(!page.contains("alert(1)</script>"));
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(page.matches("</script>").count(), 1 + 2 + 1);
}

#[test]
fn degenerate_fits_have_pages() {
    let fits = [
        fit("x", 2, 0, 0, scrambled),
        fit("x", 2, 2, 0, scrambled),
        fit("x", 2, 1, 1, scrambled),
        fit("x", 2, 2, 3, scrambled),
        fit("x", 2, 2, 60, |_, _, _| f64::NAN),
        fit("x", 2, 2, 60, |_, _, _| f64::INFINITY),
        fit("x", 2, 2, 60, |_, _, _| 4.0),
        fit("x", 0, 2, 60, scrambled),
        fit("x", 2, 2, 60, |_, draw, _| if draw % 2 == 0 { f64::NAN } else { draw as f64 }),
    ];
    for (i, fit) in fits.iter().enumerate() {
        let page = Report::new(fit).html().unwrap_or_else(|error| panic!("fit {i}: {error}"));
        for svg in figures(&page) {
            let parsed = roxmltree::Document::parse(svg);
            assert!(parsed.is_ok(), "fit {i}: {parsed:?}");
        }
    }
}

#[test]
fn of_many_parameters_the_worst_are_plotted() {
    // The chains of element 777 disagree.
    let fit = fit("x", 1000, 2, 40, |chain, draw, element| {
        scrambled(chain, draw, element) + if element == 777 { 3.0 * chain as f64 } else { 0.0 }
    });
    let page = Report::new(&fit).limit(5).html().unwrap();
    assert_eq!(page.matches("class=\"plots\"").count(), 5);
    assert!(page.contains("data-name=\"x[777]\""));
    assert!(page.contains("5 parameters with the worst R-hat and ESS, of 1000"));
    assert_eq!(page.matches("<tr><th scope=\"row\" title=").count(), 1000);
}

#[test]
fn the_worst_parameters_come_first_if_something_is_wrong() {
    let page = |shift: f64| {
        let value = |chain, draw, element| {
            scrambled(chain, draw, element) + if element == 2 { shift * chain as f64 } else { 0.0 }
        };
        Report::new(&fit("x", 4, 2, 1000, value)).html().unwrap()
    };
    let first = |page: &str| page.split("<tr><th scope=\"row\" title=\"").nth(1).unwrap()[..4].to_owned();
    assert_eq!((first(&page(0.0)), first(&page(3.0))), ("x[0]".to_owned(), "x[2]".to_owned()));
    assert!(page(3.0).contains("<select id=\"order\"><option value=\"worst\">"));
    assert!(page(0.0).contains("<select id=\"order\"><option value=\"\">"));
}

#[test]
fn one_chain_has_no_rank_plot_and_a_constant_no_line() {
    let page = Report::new(&fit("x", 2, 1, 200, scrambled)).html().unwrap();
    assert!(!page.contains("aria-label=\"ranks\"") && page.contains("aria-label=\"trace\""));
    assert!(!page.contains("aria-label=\"step size\"") && page.contains("Constant: step size 1."));
}

#[test]
fn single_plots_are_found_by_name() {
    let fit = fit("beta", 3, 2, 50, scrambled);
    assert_eq!(fit.plot().trace("beta").unwrap().svg().matches(">\nbeta[").count(), 3);
    assert_eq!(fit.plot().title("slope").trace("beta[1]").unwrap().svg().matches("\nslope\n").count(), 1);
    assert!(fit.plot().size(300, 200).rank("beta[1]").unwrap().svg().contains("width=\"300\" height=\"200\""));
    for plot in [fit.plot().density("beta"), fit.plot().autocorrelation("beta"), fit.plot().running_mean("beta")] {
        roxmltree::Document::parse(plot.unwrap().svg()).unwrap();
    }
    assert!(fit.plot().forest(&[]).unwrap().svg().contains("beta[2]"));
    assert!(!fit.plot().forest(&["beta[0]"]).unwrap().svg().contains("beta[2]"));
    assert!(fit.plot().pair(&["beta"]).unwrap().svg().contains("beta[2]"));
    assert!(fit.plot().statistic("alpha").is_ok());

    let error = fit.plot().trace("gamma").unwrap_err().to_string();
    assert!(error.contains("gamma") && error.contains("beta"), "{error}");
    let error = fit.plot().statistic("energy").unwrap_err().to_string();
    assert!(error.contains("`energy`") && error.contains("`alpha`"), "{error}");
    let error = Report::new(&fit).prior("gamma", Prior::Draws(vec![])).html().unwrap_err();
    assert!(matches!(error, Error::Parameter(_)) && error.to_string().contains("gamma"));
}

#[test]
fn reports_are_written_to_files() {
    let folder = tempfile::tempdir().unwrap();
    let fit = fit("beta", 2, 2, 50, scrambled);
    let path = folder.path().join("report.html");
    fit.report(&path).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().ends_with("</html>\n"));
    let nowhere = folder.path().join("nowhere").join("report.html");
    assert!(fit.report(&nowhere).unwrap_err().to_string().contains("nowhere"));
}

#[test]
fn names_do_not_change_how_the_page_is_shown() {
    let page = Report::new(&fit("a\0b\u{202e}c\u{1b}[2J", 2, 2, 60, scrambled)).title("t\0\u{2066}").html().unwrap();
    assert!(!page.contains(['\0', '\u{202e}', '\u{2066}', '\u{1b}']));
    assert!(page.contains("a\\u{0}b\\u{202e}c"));
    for svg in figures(&page) {
        roxmltree::Document::parse(svg).unwrap();
    }
}

#[test]
fn the_overview_has_the_convergence_of_the_worst_value_and_the_divergences() {
    // The chains disagree on the last value.
    let apart =
        fit("beta", 3, 2, 200, |chain, draw, i| scrambled(chain, draw, i) + if i == 2 { chain as f64 } else { 0.0 });
    let page = Report::new(&apart).limit(2).html().unwrap();
    for part in ["aria-label=\"ESS of beta[2]\"", "aria-label=\"R-hat of beta[2]\"", "title=\"beta[2]\""] {
        assert!(page.contains(part), "the page has no {part}");
    }
    assert_eq!(page.matches(": no plots, others have").count(), 1);
    assert!(!page.contains("Divergences"));
    let mut chain = ChainDraws::new(2, vec!["diverging".to_owned()]);
    for draw in 0..50 {
        let values = [scrambled(0, draw, 0), scrambled(0, draw, 1)];
        let stats = [f64::from(draw == 7)];
        chain
            .push(&Draw { iteration: draw as u64 + 1, values: &values, weight: 1.0, log_posterior: 0.0, stats: &stats })
            .unwrap();
    }
    let fit = Fit::new(Layout::vector("x", 2), vec![chain]).unwrap();
    let page = Report::new(&fit).html().unwrap();
    assert!(page.contains("1 divergent transition in color") && page.contains("class=\"wide\""));
}

#[test]
fn predicted_probabilities_are_means_of_draws() {
    let fit = fit("beta", 1, 1, 4, scrambled);
    let drawn = Predictions { shape: vec![4, 2], values: vec![0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0] };
    let with = |observed: &[f64]| {
        let fit = fit.clone().with_observed_data("y", observed, &[2]).unwrap();
        fit.with_posterior_predictive("y", &drawn).unwrap()
    };
    let binary = with(&[0.0, 1.0]);
    let Probabilities { predicted, outcomes } = Probabilities::new(&binary, "y").unwrap();
    assert_eq!((predicted, outcomes), (vec![0.25, 0.75], &[0.0, 1.0][..]));
    assert!(Report::new(&binary).html().unwrap().contains("aria-label=\"reliability of y\""));
    let other = with(&[0.5, 1.0]);
    assert!(other.plot().reliability("y").unwrap_err().to_string().contains("not all 0 or 1"));
    assert!(!Report::new(&other).html().unwrap().contains("reliability"));
}

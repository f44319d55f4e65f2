//! The table.

use super::{fit_of, independent, layout};

#[test]
fn columns_have_arviz_names_and_every_row_is_there() {
    let fit = independent(&[("b", &[1]), ("W", &[3, 2])], 4, 200);
    let csv = fit.summary().to_csv();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some(",mean,sd,eti89_lb,eti89_ub,ess_bulk,ess_tail,r_hat,mcse_mean,mcse_sd"));
    let names: Vec<String> = lines.map(|line| line.split(',').next().unwrap().to_owned()).collect();
    assert_eq!(names.len(), 7);
    assert!(csv.contains("\n\"W[2,1]\","), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&fit.summary().to_json()).unwrap();
    assert_eq!(json[6]["name"], "W[2,1]");
    let mean = fit.summary().row("W[2,1]").unwrap().mean;
    assert_eq!(json[6]["mean"].as_f64(), Some(mean));
    assert_eq!(fit.summary().to_markdown().lines().count(), 9);
}

#[test]
fn numbers_are_those_of_the_draws() {
    let fit = independent(&[("x", &[1])], 4, 1000);
    let row = *fit.summary().row("x").unwrap();
    let draws: Vec<f64> = fit.element("x").unwrap().concat();
    let mean = draws.iter().sum::<f64>() / 4000.0;
    let sd = (draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3999.0).sqrt();
    assert!((row.mean - mean).abs() < 1e-12 && (row.sd - sd).abs() < 1e-12);
    assert!((row.eti89_lb + 1.598).abs() < 0.1 && (row.eti89_ub - 1.598).abs() < 0.1, "{row:?}");
    assert!(row.ess_bulk > 3000.0 && row.r_hat < 1.005, "{row:?}");
    assert!((row.mcse_mean - sd / row.ess_bulk.sqrt()).abs() < 0.1 * row.mcse_mean);
}

#[test]
fn long_tensors_are_folded_and_say_how_to_see_the_rest() {
    let fit = independent(&[("b", &[1]), ("W", &[10, 10])], 2, 50);
    let text = fit.summary().to_string();
    assert!(text.contains("… 95 more of `W` not shown"), "{text}");
    assert!(text.contains("W[0,4]") && !text.contains("W[0,6]"), "{text}");
    assert_eq!(fit.summary().unfolded().to_string().lines().count(), 1 + 101 + 1);
    // The lines of the table are aligned.
    let widths: Vec<usize> =
        text.lines().filter(|line| line.starts_with(['b', 'W'])).map(|l| l.chars().count()).collect();
    assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
}

#[test]
fn undefined_numbers_are_empty_null_or_nan() {
    let fit = fit_of(layout(&[("x", &[1])]), &[vec![vec![2.0]; 10], vec![vec![2.0]; 10]]);
    let summary = fit.summary();
    assert!(summary.to_csv().lines().nth(1).unwrap().contains(",,"), "{}", summary.to_csv());
    assert!(summary.to_json().contains("\"r_hat\": null"), "{}", summary.to_json());
    assert!(summary.to_string().contains("NaN"), "{summary}");
}

#[test]
fn a_chain_without_draws_does_not_hide_the_others() {
    let full = independent(&[("x", &[1])], 2, 500);
    let rows = |chain: usize| full.chains()[chain].rows().map(<[f64]>::to_vec).collect::<Vec<_>>();
    let fit = fit_of(layout(&[("x", &[1])]), &[rows(0), vec![], rows(1)]);
    assert_eq!(fit.summary().rows(), full.summary().rows());
}

#[test]
fn weights_count() {
    use sgmcmc::sink::Draw;
    let mut chain = sgmcmc::fit::ChainDraws::new(1, vec![]);
    for (x, weight) in [(0.0, 3.0), (4.0, 1.0), (0.0, 3.0), (4.0, 1.0)] {
        chain.push(&Draw { iteration: 1, values: &[x], weight, log_posterior: 0.0, stats: &[] }).unwrap();
    }
    let fit = sgmcmc::Fit::new(layout(&[("x", &[1])]), vec![chain]).unwrap();
    assert!(fit.is_weighted());
    assert!((fit.summary().row("x").unwrap().mean - 1.0).abs() < 1e-12);
}

//! Tests of every plot with valid and with degenerate draws.

use super::*;

/// Returns deterministic pseudo-random draws.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..count).map(|_| (0..12).map(|_| uniform()).sum::<f64>() - 6.0).collect()
}

fn chains(count: usize) -> Vec<Vec<f64>> {
    (1..=4).map(|seed| noise(count, seed)).collect()
}

/// Returns every plot of these draws.
fn all(chains: &[Vec<f64>], title: &str) -> Vec<Plot> {
    let frame = Frame::new(title);
    let none: &[Vec<f64>] = &[];
    let interval = |draws: &Vec<f64>| {
        let first = draws.first().copied().unwrap_or(f64::NAN);
        let last = draws.last().copied().unwrap_or(f64::NAN);
        Interval { name: title.to_owned(), mean: first, outer: (first, last), inner: (first, last), doubtful: true }
    };
    let variable = |name: &str| Variable { name: name.to_owned(), chains: chains.to_vec() };
    let lines: Vec<Line> = chains
        .iter()
        .map(|draws| Line { iterations: (1..=draws.len() as u64).collect(), values: draws.clone() })
        .collect();
    let divergent: Vec<Vec<bool>> =
        chains.iter().map(|draws| (0..draws.len()).map(|draw| draw.is_multiple_of(7)).collect()).collect();
    let prior = Prior::density(|x| (-0.5 * x * x).exp());
    let plots = [
        trace(chains, &frame),
        rank(chains, &frame),
        density(chains, none, &frame),
        autocorrelation(chains, &frame),
        running_mean(chains, none, &frame),
        forest(&chains.iter().map(interval).collect::<Vec<_>>(), &frame),
        pair(&[variable(title), variable("b")], &frame.clone().size(600, 600)),
        over_iterations(&lines, &frame),
        prior_posterior(chains, none, &prior, &frame),
        prior_posterior(chains, none, &Prior::Draws(noise(100, 9)), &frame),
        predictive(chains.first().map_or(&[], Vec::as_slice), chains, &frame),
        calibration(&chains.iter().map(Vec::len).collect::<Vec<_>>(), &frame),
        ess_evolution(chains, 400.0, &frame),
        r_hat_evolution(chains, 1.01, &frame),
        energy(chains, &frame),
        parallel(&[variable("a"), variable(title)], &divergent, &frame),
        pair_with_divergences(&[variable(title), variable("b")], &divergent, &frame.clone().size(600, 600)),
        pareto_k(chains.first().map_or(&[], Vec::as_slice), 0.7, &frame),
        reliability(&[0.1, 0.4, 0.9], &[0.0, 1.0, 1.0], &frame),
        integral_transforms(&[0.0, 0.5, 1.0], &frame),
    ];
    plots.into_iter().map(Result::unwrap).collect()
}

#[test]
fn every_plot_is_well_formed_and_shows_its_title() {
    let title = "<b>\"W&'[1,2]\u{1}";
    for (i, plot) in all(&chains(500), title).iter().enumerate() {
        for svg in [plot.svg().to_owned(), plot.inline()] {
            let parsed = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("plot {i}: {error}"));
            let label = parsed.root_element().attribute("aria-label").unwrap();
            assert_eq!(label, "<b>\"W&'[1,2] ", "plot {i}");
            let texts =
                parsed.descendants().filter(|node| node.is_text()).any(|node| node.text().unwrap().contains("<b>"));
            assert!(texts, "plot {i} does not show its title");
        }
    }
}

#[test]
fn degenerate_draws_have_plots() {
    let degenerate: [Vec<Vec<f64>>; 11] = [
        vec![],
        vec![vec![], vec![]],
        vec![vec![1.0], vec![2.0]],
        vec![vec![f64::NAN; 50], vec![f64::NAN; 50]],
        vec![vec![f64::INFINITY, f64::NEG_INFINITY, 0.0, 1.0, 2.0]; 2],
        vec![vec![3.0; 50]; 2],
        vec![vec![0.0; 50]; 2],
        vec![vec![1e16, 1e16 + 2.0, 1e16, 1e16 + 4.0, 1e16]; 2],
        vec![vec![-f64::MAX, f64::MAX, 0.0, 1.0, 2.0]; 2],
        vec![vec![5e-324, 0.0, 5e-324, 0.0, 5e-324]; 2],
        vec![vec![1.0, 2.0, 3.0, f64::NAN, 5.0, 6.0], vec![1.0]],
    ];
    for (i, chains) in degenerate.iter().enumerate() {
        for (j, plot) in all(chains, "x").iter().enumerate() {
            let parsed = roxmltree::Document::parse(plot.svg());
            assert!(parsed.is_ok(), "draws {i}, plot {j}: {parsed:?}");
            assert!(!plot.svg().contains("NaN"), "draws {i}, plot {j}");
        }
    }
}

#[test]
fn plots_of_long_chains_are_small() {
    let plot = trace(&chains(10_000), &Frame::new("x")).unwrap();
    assert!(plot.svg().len() < 40_000, "{}", plot.svg().len());
    assert!(plot.inline().len() < 15_000, "{}", plot.inline().len());
}

#[test]
fn inline_plots_have_color_variables() {
    let inline = trace(&chains(50), &Frame::new("x")).unwrap().inline();
    assert!(!inline.contains("=\"#"), "a fixed color is left");
    assert!(inline.contains("var(--c3)") && inline.contains("var(--paper)"));
}

#[test]
fn a_spike_in_ten_thousand_draws_is_visible() {
    let heights = |chains: &[Vec<f64>]| {
        let plot = trace(chains, &Frame::new("")).unwrap();
        let parsed = roxmltree::Document::parse(plot.svg()).unwrap();
        let lines: Vec<String> = (parsed.descendants().filter(|node| node.has_tag_name("polyline")))
            .filter(|node| node.attribute("opacity") == Some("0.8"))
            .map(|node| node.attribute("points").unwrap().to_owned())
            .collect();
        let ys = lines.iter().flat_map(|points| points.split_whitespace());
        let ys: Vec<i32> = ys.map(|point| point.split_once(',').unwrap().1.parse().unwrap()).collect();
        let low = *ys.iter().min().unwrap();
        ys.iter().filter(|y| **y < low + 40).count()
    };
    let mut spiked = vec![noise(10_000, 1)];
    spiked[0][7_777] = 500.0;
    assert_eq!(heights(&spiked), 1);
}

#[test]
fn errors_name_the_expected_arguments() {
    let variable = |n: usize| Variable { name: format!("v{n}"), chains: vec![vec![1.0; n]] };
    let one = pair(&[variable(3)], &Frame::new("")).unwrap_err().to_string();
    assert!(one.contains("2 to 8"), "{one}");
    let other = pair(&[variable(3), variable(4)], &Frame::new("")).unwrap_err().to_string();
    assert!(other.contains("`v3` and `v4`"), "{other}");
    let plot = trace(&chains(10), &Frame::new("")).unwrap();
    let format = plot.save("plot.jpeg").unwrap_err().to_string();
    assert!(format.contains("plot.jpeg") && format.contains(".svg"), "{format}");
    let nowhere = plot.save("/nonexistent/plot.svg").unwrap_err().to_string();
    assert!(nowhere.contains("/nonexistent/plot.svg"), "{nowhere}");
}

#[test]
fn densities_have_mass_one_and_follow_the_weights() {
    let draws = noise(4_000, 3);
    let mass = |density: &KernelDensity| {
        let pairs = density.points.windows(2);
        pairs.map(|pair| 0.5 * (pair[0].1 + pair[1].1) * (pair[1].0 - pair[0].0)).sum::<f64>()
    };
    let plain = KernelDensity::from_draws(&draws, &[]).unwrap();
    assert!((mass(&plain) - 1.0).abs() < 1e-12);
    // The normal density at 0, up to the error of 4,000 draws and the smoothing.
    let at_zero = plain.points.iter().min_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).unwrap().1;
    assert!((at_zero - 0.3989).abs() < 0.03, "{at_zero}");
    let weights: Vec<f64> = draws.iter().map(|x| if *x > 0.0 { 3.0 } else { 1.0 }).collect();
    let weighted = KernelDensity::from_draws(&draws, &weights).unwrap();
    assert!((mass(&weighted) - 1.0).abs() < 1e-12);
    let right = |density: &KernelDensity| {
        let step = density.points[1].0 - density.points[0].0;
        density.points.iter().filter(|p| p.0 > 0.0).map(|p| p.1 * step).sum::<f64>()
    };
    assert!((right(&weighted) - 0.75).abs() < 0.03, "{}", right(&weighted));
}

#[test]
fn densities_end_at_bounds_only() {
    // Exponential draws by their quantiles: bounded below and not above. Folded kernels of b = 0.9 (ln 3 / 1.34)
    // 4000^(−1/5) = 0.1405 have the mean 2 exp(b²/2) Φ(−b) = 0.897 at the bound, where half a kernel would have 0.449.
    let draws: Vec<f64> = (0..4_000).map(|i| -((f64::from(i) + 0.5) / 4_000.0).ln()).collect();
    let density = KernelDensity::from_draws(&draws, &[]).unwrap();
    let (first, last) = (density.points[0], density.points[density.points.len() - 1]);
    let (smallest, largest) = (draws[3_999], draws[0]);
    assert!((first.0 - smallest).abs() < 1e-12, "{first:?}");
    assert!((first.1 - 0.897).abs() < 0.002, "{first:?}");
    assert!(last.0 > largest && last.1 < 1e-3, "{last:?}");
    // Normal draws have no bound.
    let draws = noise(4_000, 3);
    let density = KernelDensity::from_draws(&draws, &[]).unwrap();
    assert!(draws.iter().all(|x| *x > density.points[0].0), "{:?}", density.points[0]);
    assert!(density.points[0].1 < 1e-3);
}

#[cfg(feature = "png")]
#[test]
fn png_images_have_twice_the_size_or_name_the_missing_font() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.png");
    let plot = trace(&chains(50), &Frame::new("x").size(300, 200)).unwrap();
    match plot.save(&path) {
        Ok(()) => {
            let bytes = std::fs::read(&path).unwrap();
            assert!(bytes.starts_with(b"\x89PNG"));
            // Width and height stand at the start of the header.
            assert_eq!(bytes[16..24], [0, 0, 0x02, 0x58, 0, 0, 0x01, 0x90]);
        }
        Err(error) => assert!(matches!(error, Error::NoFont { .. }), "{error}"),
    }
}

#[test]
fn ranks_of_separate_chains_lie_in_separate_halves() {
    let low = noise(200, 1);
    let high: Vec<f64> = low.iter().map(|x| x + 100.0).collect();
    let plot = rank(&[low, high], &Frame::new("")).unwrap();
    let parsed = roxmltree::Document::parse(plot.svg()).unwrap();
    // Ends of the bars of a chain that are not empty.
    let ends = |color: &str| {
        let number = |node: roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let bars =
            parsed.descendants().filter(|node| node.has_tag_name("rect") && node.attribute("fill") == Some(color));
        let bars = bars.filter(|bar| number(*bar, "height") > 1.0);
        let ends: Vec<f64> = bars.flat_map(|bar| [number(bar, "x"), number(bar, "x") + number(bar, "width")]).collect();
        assert_eq!(ends.len(), 20, "ten bars");
        (ends.iter().copied().fold(f64::INFINITY, f64::min), ends.iter().copied().fold(0.0, f64::max))
    };
    let (first, second) = (ends("#0072B2"), ends("#D55E00"));
    assert!((first.1 - second.0).abs() <= 1.0, "the halves meet: {first:?} {second:?}");
    let (left, right) = (first.1 - first.0, second.1 - second.0);
    assert!((left - right).abs() <= 2.0, "they are equally wide: {first:?} {second:?}");
    assert!(second.1 < f64::from(480 * canvas::SCALE), "they are inside the plot: {second:?}");
}

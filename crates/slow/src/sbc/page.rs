//! The rank histograms as a page.

use std::path::Path;

use sgmcmc::report::{Frame, Gallery, Plot, plot};

use super::ranks::DRAWS;
use super::{Calibrated, FALSE_ALARM, REPLICATIONS, Section};
use crate::Result;

/// Writes the page to `path`.
pub(super) fn write(sections: &[Section], bound: f64, path: &Path) -> Result<()> {
    let about = format!(
        "Ranks of true values among {DRAWS} posterior draws in {REPLICATIONS} replications, for every preset. The band holds 99 % of the bins \
         of a calibrated sampler. p-values are of Kolmogorov-Smirnov tests of the ranks (shift) and of their distance from the middle (spread); \
         one below {bound:.1e} is an alarm, at a false-alarm rate of {:.0} % over all tests. Made by `cargo run --release -p slow -- sbc`.",
        100.0 * FALSE_ALARM
    );
    let mut page = Gallery::new("Simulation-based calibration").about(&about);
    for section in sections {
        page = page.section(section.name, section.about);
        for preset in &section.presets {
            page = page.plots(preset.preset.name(), &text(preset, bound), &histograms(preset)?);
        }
    }
    Ok(page.write(path)?)
}

fn text(preset: &Calibrated, bound: f64) -> String {
    let short = match preset.short {
        0 => String::new(),
        short => format!(" {short} runs stayed too short."),
    };
    let verdict = preset.complaint(bound).map_or_else(|| "Pass.".to_owned(), |complaint| format!("FAIL: {complaint}."));
    verdict + &short
}

fn histograms(preset: &Calibrated) -> Result<Vec<Plot>> {
    let plot = |ranks: &super::Ranks| {
        let p = ranks.p_values();
        let title = format!("{}: p {:.2} (shift), {:.2} (spread)", ranks.name, p.shift, p.spread);
        Ok(plot::calibration(&ranks.histogram(), &Frame::new(title).size(320, 170))?)
    };
    preset.parameters.iter().map(plot).collect()
}

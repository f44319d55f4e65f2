//! The parts of the page that are words and numbers.

use std::fmt::Write as _;

use sgmcmc_samplers::{Check, Fit, Severity, Summary};

use super::html::{Escaped, number, short, words};
use crate::plotter::R_HAT;

/// Rows of the table.
const ROWS: usize = 2000;
/// Parameters named in a finding.
const NAMED: usize = 8;

/// The line under the title.
pub(super) fn about(fit: &Fit) -> String {
    let lengths = || fit.chains().iter().map(|chain| chain.len());
    let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
    let draws = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let count = fit.chains().len();
    let chains = if count == 1 { "chain" } else { "chains" };
    let values = fit.layout().value_count();
    let parameters = if values == 1 { "parameter" } else { "parameters" };
    format!("{count} {chains} × {draws} draws · {values} {parameters}")
}

/// What `check` says, in a box whose colour says it too.
pub(super) fn verdict(check: &Check) -> String {
    let findings = check.findings();
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (problems, warnings) = (count(Severity::Problem), count(Severity::Warning));
    let some = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (class, sign, verdict) = match (problems, warnings) {
        (0, 0) => ("good", "✓", "No problems found.".to_owned()),
        (0, warnings) => ("fair", "!", format!("No problems, {}.", some(warnings, "warning"))),
        (problems, 0) => ("poor", "✗", format!("{}: do not trust this fit yet.", some(problems, "problem"))),
        (problems, warnings) => (
            "poor",
            "✗",
            format!("{} and {}: do not trust this fit yet.", some(problems, "problem"), some(warnings, "warning")),
        ),
    };
    let mut html = format!(
        "<div class=\"verdict {class}\"><p><span class=\"sign\" aria-hidden=\"true\">{sign}</span> {verdict}</p>"
    );
    if !findings.is_empty() {
        html += "<ul>";
        for finding in findings {
            let (class, word) = match finding.severity {
                Severity::Problem => ("poor", "problem"),
                Severity::Warning => ("fair", "warning"),
                _ => ("note", "note"),
            };
            // Writing to a string does not fail.
            let _ = write!(
                html,
                "<li><span class=\"tag {class}\">{word}</span> {}.{} <span class=\"remedy\">What helps: {}.</span></li>",
                words(finding.what.trim_end_matches('.')),
                parameters(&finding.parameters),
                words(finding.remedy.trim_end_matches('.'))
            );
        }
        html += "</ul>";
    }
    html + "</div>"
}

fn parameters(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| format!("<code>{}</code>", Escaped(name))).collect();
    let rest = names.len() - shown.len();
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!(" ({}{rest})", shown.join(", "))
}

/// How the run was made.
pub(super) fn run(fit: &Fit) -> String {
    let info = fit.info();
    let seconds = info.longest_run();
    let known = |value: u64| (value > 0).then(|| value.to_string());
    let text = |value: &String| (!value.is_empty()).then(|| value.clone());
    let rows = [
        ("algorithm", text(&info.algorithm)),
        ("gradient", text(&info.gradient)),
        ("step size", text(&info.step_size)),
        ("observations", known(info.observations as u64)),
        ("minibatch", info.minibatch.map(short)),
        ("burn-in", Some(info.burn_in.to_string()).filter(|_| !info.iterations.is_empty())),
        ("iterations per draw", known(info.thin)),
        ("chains", (info.interleaved > 1).then(|| fit.describe_chains())),
        ("gradients per iteration", info.gradients_per_step().map(short)),
        ("seed", Some(info.seed.to_string()).filter(|_| !info.iterations.is_empty())),
        ("longest run", (seconds > 0.0).then(|| format!("{} s", short(seconds)))),
        ("mode", fit.mode().map(ToString::to_string)),
        ("version", text(&info.version)),
    ];
    let rows: String = (rows.into_iter())
        .filter_map(|(name, value)| Some(format!("<div><dt>{name}</dt><dd>{}</dd></div>", Escaped(&value?))))
        .collect();
    if rows.is_empty() {
        return "<p class=\"hint\">The file does not say how the run was made.</p>".to_owned();
    }
    format!("<dl>{rows}</dl>")
}

/// What stochastic gradients add to the diagnostics, as it prints itself.
pub(super) fn health(measured: &str) -> String {
    format!("<pre tabindex=\"0\">{}</pre>", Escaped(measured.trim_end()))
}

/// The table; names of parameters with plots lead to them.
pub(super) fn summary(summary: &Summary, fit: &Fit, chosen: &[usize]) -> String {
    let rows = summary.rows();
    let least = 100.0 * fit.chains().len() as f64;
    let mut html = String::new();
    for (place, row) in rows.iter().enumerate().take(ROWS) {
        let name = Escaped(&row.name);
        let name = match chosen.binary_search(&place) {
            Ok(_) => format!("<a href=\"#parameters\" data-show=\"{name}\">{name}</a>"),
            Err(_) => name.to_string(),
        };
        let _ = write!(html, "<tr><th scope=\"row\">{name}</th>");
        for value in [row.mean, row.sd, row.eti89_lb, row.eti89_ub] {
            let _ = write!(html, "<td>{}</td>", number(value));
        }
        for size in [row.ess_bulk, row.ess_tail] {
            let _ = write!(html, "<td{}>{}</td>", bad(size < least), whole(size));
        }
        let _ = write!(html, "<td{}>{}</td>", bad(row.r_hat > R_HAT), r_hat(row.r_hat));
        let _ = writeln!(html, "<td>{}</td><td>{}</td></tr>", number(row.mcse_mean), number(row.mcse_sd));
    }
    if rows.len() > ROWS {
        let more = rows.len() - ROWS;
        let _ =
            write!(html, "<tr><td colspan=\"10\">{more} more parameters are in <code>sgmcmc summary</code>.</td></tr>");
    }
    html
}

fn bad(bad: bool) -> &'static str {
    if bad { " class=\"bad\"" } else { "" }
}

/// The chains and their colours.
pub(super) fn legend(chains: usize) -> String {
    let entry = |chain: usize| format!("<span><i style=\"background:var(--c{})\"></i>{chain}</span>", chain % 8);
    let shown = chains.min(16);
    let entries: String = (0..shown).map(entry).collect();
    let rest = if chains > shown { format!("<span>and {} more</span>", chains - shown) } else { String::new() };
    format!("<p class=\"legend\">Chain: {entries}{rest}</p>")
}

/// Which parameters have plots.
pub(super) fn choice(chosen: usize, all: usize) -> String {
    if chosen == all {
        return String::new();
    }
    format!("<p class=\"hint\">Plots of the {chosen} parameters with the worst R-hat and ESS, of {all}.</p>")
}

pub(super) fn r_hat(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.3}") }
}

pub(super) fn whole(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.0}") }
}

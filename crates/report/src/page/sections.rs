//! The sections of the page with text and tables.

use std::fmt::Write as _;

use sgmcmc_fit::{Check, Communication, Fit, Severity, Summary, Thresholds, TuningRecord, count};

use super::html::{Escaped, number, short, words};
use super::selection;

/// The largest number of rows of the table.
const MAX_ROWS: usize = 2000;
/// The largest number of parameters that are listed in a finding.
const LISTED: usize = 8;

/// Returns the line below the title: the numbers of chains, draws and parameters.
pub(super) fn about(fit: &Fit) -> String {
    let lengths = || fit.chains().iter().map(|chain| chain.len());
    let (least, most) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
    let draws = if least == most { count(most, "draw") } else { format!("{least} to {}", count(most, "draw")) };
    let parameters = count(fit.layout().value_count(), "parameter");
    format!("{} × {draws} · {parameters}", count(fit.chains().len(), "chain"))
}

/// Returns the findings of a check in a box, whose color shows the worst severity.
pub(super) fn verdict(check: &Check) -> String {
    let findings = check.findings();
    let number = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (problems, warnings) = (number(Severity::Problem), number(Severity::Warning));
    let (class, sign, verdict) = match (problems, warnings) {
        (0, 0) => ("good", "✓", "No problems found.".to_owned()),
        (0, warnings) => ("fair", "!", format!("No problems, {}.", count(warnings, "warning"))),
        (problems, 0) => ("poor", "✗", format!("{}: do not trust this fit yet.", count(problems, "problem"))),
        (problems, warnings) => (
            "poor",
            "✗",
            format!("{} and {}: do not trust this fit yet.", count(problems, "problem"), count(warnings, "warning")),
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
                "<li><span class=\"tag {class}\">{word}</span> {}.{} <span class=\"remedy\">Remedy: {}.</span></li>",
                words(finding.what.trim_end_matches('.')),
                parameters(&finding.parameters),
                words(finding.remedy.trim_end_matches('.'))
            );
        }
        html += "</ul>";
    }
    html + "</div>"
}

/// Returns a list of parameter names in parentheses.
fn parameters(names: &[String]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("<code>{}</code>", Escaped(name))).collect();
    let rest = names.len() - shown.len();
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!(" ({}{rest})", shown.join(", "))
}

/// Returns the settings and the cost of the run in words, and the decisions of automatic tuning.
pub(super) fn run(fit: &Fit) -> String {
    let info = fit.info();
    let seconds = info.longest_run();
    let positive = |value: u64| (value > 0).then(|| value.to_string());
    let text = |value: String| Some(value).filter(|value| !value.is_empty());
    let rows = [
        ("algorithm", text(info.describe_algorithm())),
        ("gradient", text(info.describe_gradient())),
        ("step size", text(info.describe_step_size())),
        ("observations", positive(info.observations as u64)),
        ("minibatch", info.minibatch.map(short)),
        ("burn-in", Some(info.burn_in.to_string()).filter(|_| !info.iterations.is_empty())),
        ("iterations per draw", positive(info.thin)),
        ("chains", (info.interleaved > 1).then(|| fit.describe_chains())),
        ("gradients per iteration", info.gradients_per_step().map(short)),
        ("seed", Some(info.seed.to_string()).filter(|_| !info.iterations.is_empty())),
        ("longest run", (seconds > 0.0).then(|| format!("{} s", short(seconds)))),
        ("tuning", info.tuning.as_ref().map(tuning_cost)),
        ("communication", info.communication.as_ref().map(communication_cost)),
        ("mode", fit.mode().map(ToString::to_string)),
        ("version", text(info.version.clone())),
    ];
    let rows: String = (rows.into_iter())
        .filter_map(|(name, value)| Some(format!("<div><dt>{name}</dt><dd>{}</dd></div>", Escaped(&value?))))
        .collect();
    if rows.is_empty() {
        return "<p class=\"hint\">The settings of the run were not recorded.</p>".to_owned();
    }
    let decisions = info.tuning.as_ref().map_or_else(String::new, |tuning| decisions(&tuning.decisions));
    format!("<dl>{rows}</dl>{decisions}")
}

/// Returns the cost of automatic tuning in words.
fn tuning_cost(tuning: &TuningRecord) -> String {
    format!("{} s, {} gradients of single observations", short(tuning.seconds), short(tuning.gradients as f64))
}

/// Returns the cost of communication in words.
fn communication_cost(cost: &Communication) -> String {
    let Communication { ranks, messages, bytes, seconds } = *cost;
    let (messages, bytes, seconds) = (short(messages as f64), short(bytes as f64), short(seconds));
    format!("{ranks} ranks, {messages} messages, {bytes} bytes, {seconds} s of waiting")
}

/// Returns a list of the decisions of automatic tuning.
fn decisions(decisions: &[String]) -> String {
    if decisions.is_empty() {
        return String::new();
    }
    let items: String = decisions.iter().map(|decision| format!("<li>{}</li>", words(decision))).collect();
    format!("<div class=\"decisions\"><h3>Decisions of automatic tuning</h3><ol>{items}</ol></div>")
}

/// Returns the text of the health of the run.
pub(super) fn health(text: &str) -> String {
    format!("<pre tabindex=\"0\">{}</pre>", Escaped(text.trim_end()))
}

/// Returns the table with all digits, as text for the script. Empty if the table is not complete.
pub(super) fn csv(summary: &Summary) -> String {
    if summary.rows().len() > MAX_ROWS {
        return String::new();
    }
    // A JSON string without `<` cannot end the element.
    let text = json_string(&summary.to_csv()).replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"table-csv\">{text}</script>\n")
}

/// Returns a text as a JSON string.
fn json_string(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json += "\\n",
            c if c.is_control() => _ = write!(json, "\\u{:04x}", u32::from(c)),
            c => json.push(c),
        }
    }
    json + "\""
}

/// Returns the first entries of the list of orders. The worst parameters come first if something is wrong.
pub(super) fn orders(worst_first: bool) -> &'static str {
    if worst_first {
        "<option value=\"worst\">worst first</option><option value=\"\">as declared</option>"
    } else {
        "<option value=\"\">as declared</option><option value=\"worst\">worst first</option>"
    }
}

/// Returns the rows of the summary table. The names of the `selected` parameters are links to their plots.
pub(super) fn summary(summary: &Summary, fit: &Fit, selected: &[usize], worst_first: bool) -> String {
    let rows = summary.rows();
    let thresholds = Thresholds::default();
    let min_ess = thresholds.ess_per_chain * fit.chains().len() as f64;
    let mut html = String::new();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if worst_first {
        let ratio = |index: usize| selection::threshold_ratio(&rows[index], fit.chains().len());
        order.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)));
    }
    for index in order.into_iter().take(MAX_ROWS) {
        let (row, name) = (&rows[index], Escaped(&summary.names()[index]));
        let title = name;
        let name = match selected.binary_search(&index) {
            Ok(_) => format!("<a href=\"#parameters\" data-show=\"{name}\">{name}</a>"),
            Err(_) => name.to_string(),
        };
        let hint =
            if selected.binary_search(&index).is_ok() { "" } else { ": no plots, others have a worse R-hat or ESS" };
        let _ = write!(html, "<tr><th scope=\"row\" title=\"{title}{hint}\">{name}</th>");
        for value in [row.mean, row.sd, row.eti89_lb, row.eti89_ub] {
            let _ = write!(html, "<td>{}</td>", number(value));
        }
        for size in [row.ess_bulk, row.ess_tail] {
            let _ = write!(html, "<td{}>{}</td>", bad(size < min_ess), whole(size));
        }
        let _ = write!(html, "<td{}>{}</td>", bad(row.r_hat > thresholds.r_hat), r_hat(row.r_hat));
        let _ = writeln!(html, "<td>{}</td><td>{}</td></tr>", number(row.mcse_mean), number(row.mcse_sd));
    }
    if rows.len() > MAX_ROWS {
        let more = rows.len() - MAX_ROWS;
        let _ =
            write!(html, "<tr><td colspan=\"10\">{more} more parameters are in <code>sgmcmc summary</code>.</td></tr>");
    }
    html
}

/// Returns the class attribute of a cell beyond a threshold.
fn bad(bad: bool) -> &'static str {
    if bad { " class=\"bad\"" } else { "" }
}

/// Returns the legend: the chains and their colors.
pub(super) fn legend(chains: usize) -> String {
    let entry = |chain: usize| format!("<span><i style=\"background:var(--c{})\"></i>{chain}</span>", chain % 8);
    let shown = chains.min(16);
    let entries: String = (0..shown).map(entry).collect();
    let rest = if chains > shown { format!("<span>and {} more</span>", chains - shown) } else { String::new() };
    format!("<p class=\"legend\">Chain: {entries}{rest}</p>")
}

/// Returns a note about the number of parameters with plots, unless all have plots.
pub(super) fn selection(selected: usize, all: usize) -> String {
    if selected == all {
        return String::new();
    }
    format!("<p class=\"hint\">Plots of the {selected} parameters with the worst R-hat and ESS, of {all}.</p>")
}

/// Formats an R-hat.
pub(super) fn r_hat(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.3}") }
}

/// Formats a number as an integer.
pub(super) fn whole(value: f64) -> String {
    if value.is_nan() { "–".to_owned() } else { format!("{value:.0}") }
}

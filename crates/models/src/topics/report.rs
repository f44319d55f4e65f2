//! The page of a topic model: a self-contained HTML file.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use sgmcmc_fit::Fit;
use sgmcmc_gradient::text::printable_lines;
use sgmcmc_storage::error::{Error, Problem, Result};
use sgmcmc_storage::output::write_atomically;

use super::corpus::Corpus;
use super::fit::TopWord;

/// The number of words per topic.
pub(super) const WORDS: usize = 15;

/// The content of the page for one topic.
pub(super) struct Topic {
    pub(super) number: usize,
    pub(super) share: f64,
    pub(super) umass: f64,
    pub(super) npmi: f64,
    pub(super) words: Vec<TopWord>,
}

const STYLE: &str =
    ":root { color-scheme: light dark; --page: #f5f6f8; --paper: #fff; --ink: #22262b; --muted: #5c636b; \
--edge: #d5d9de; --bar: #0072b2; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --paper: #1d2125; --ink: #e8eaed; --muted: #a9b0b8; \
--edge: #3a4149; --bar: #56b4f5; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, \"Segoe UI\", \
Roboto, \"DejaVu Sans\", sans-serif; }
header, main, footer { max-width: 82rem; margin: 0 auto; padding: .75rem 1.25rem; }
header p, footer, dt { color: var(--muted); }
h1 { margin: 0; font-size: 1.7rem; }
h2 { margin: 0 0 .25rem; font-size: 1.1rem; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1rem; }
section { padding: 1rem; background: var(--paper); border: 1px solid var(--edge); border-radius: .6rem; min-width: 0; }
dl { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: 0 0 .5rem; font-size: .85rem; }
dl div { display: flex; gap: .35rem; }
dd { margin: 0; font-variant-numeric: tabular-nums; }
ol { margin: 0; padding: 0; list-style: none; }
li { position: relative; display: flex; justify-content: space-between; padding: 0 .35rem; overflow-wrap: anywhere; }
li::before { content: \"\"; position: absolute; inset: 2px auto 2px 0; width: var(--width); background: var(--bar); \
opacity: .22; border-radius: .2rem; }
li span:last-child { color: var(--muted); font-variant-numeric: tabular-nums; }
";

/// Writes the page of topics, the largest share first.
pub(super) fn write(path: &Path, fit: &Fit, corpus: &Corpus, mut topics: Vec<Topic>) -> Result<()> {
    topics.sort_by(|a, b| b.share.total_cmp(&a.share));
    let draws: usize = fit.chains().iter().map(|chain| chain.len()).sum();
    let about = format!(
        "{} topics, {} documents, {} tokens, {} words; {draws} draws of {}",
        topics.len(),
        corpus.documents(),
        corpus.tokens(),
        corpus.vocabulary().len(),
        fit.describe_chains(),
    );
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<title>Topics</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<header>\n<h1>Topics</h1>\n<p>{about}</p>\n</header>\n<main>\n{}</main>\n<footer>Bars are \
         probabilities of words, relative to the first one. Coherence is about the {WORDS} words of a topic: UMass is \
         better near 0, NPMI near 1. Made by sgmcmc {}.</footer>\n</body>\n</html>\n",
        topics.iter().map(section).collect::<String>(),
        env!("CARGO_PKG_VERSION"),
    );
    write_atomically(path, |file| file.write_all(page.as_bytes()))
        .map_err(|error| Error::file(path, Problem::Io(error)))
}

/// Returns the section of a topic.
fn section(topic: &Topic) -> String {
    let mut text = format!(
        "<section>\n<h2>Topic {}</h2>\n<dl><div><dt>share</dt><dd>{:.1} %</dd></div><div><dt>NPMI</dt><dd>{:.3}</dd>\
         </div><div><dt>UMass</dt><dd>{:.2}</dd></div></dl>\n<ol>\n",
        topic.number,
        100.0 * topic.share,
        topic.npmi,
        topic.umass,
    );
    let largest = topic.words.first().map_or(1.0, |word| word.probability.max(f64::MIN_POSITIVE));
    for word in &topic.words {
        let width = 100.0 * word.probability / largest;
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "<li style=\"--width: {width:.1}%\"><span>{}</span><span>{:.4}</span></li>",
            escaped(&word.word),
            word.probability
        );
    }
    text + "</ol>\n</section>\n"
}

/// Escapes a text for an element.
fn escaped(text: &str) -> String {
    let printable = printable_lines(text);
    printable.chars().fold(String::new(), |mut escaped, c| {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped() {
        let words = vec![TopWord { word: "<b>&".into(), probability: 0.5 }];
        let text = section(&Topic { number: 3, share: 0.25, umass: -1.0, npmi: 0.5, words });
        assert!(text.contains("Topic 3") && text.contains("25.0 %") && text.contains("&lt;b&gt;&amp;"), "{text}");
        assert!(!text.contains("<b>"));
    }
}

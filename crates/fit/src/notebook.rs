//! Rich display in notebooks, by the protocol of the Rust kernel [evcxr](https://github.com/evcxr/evcxr).
//!
//! The kernel calls the method `evcxr_display` of the last expression of a cell. The method prints each representation of
//! the value between two marks, and the notebook shows the richest one that it supports.

use std::io::Write;

use sgmcmc_gradient::text::{printable, printable_lines};

use crate::text::count;
use crate::{Check, Fit, Summary};

pub use crate::html::HtmlText;

/// A representation of a value.
#[derive(Clone, Copy, Debug)]
pub struct Content<'t> {
    /// The media type, such as `text/html`.
    pub media_type: &'static str,
    /// The text, without control characters other than line breaks.
    pub text: &'t str,
}

/// Prints the representations of a value for the kernel at once.
pub fn show(contents: &[Content<'_>]) {
    let mut out = std::io::stdout().lock();
    // The kernel has no way to receive an error of standard output.
    let _ = out.write_all(message(contents).as_bytes());
    let _ = out.flush();
}

/// Returns the representations between the marks of the protocol.
fn message(contents: &[Content<'_>]) -> String {
    contents
        .iter()
        .map(|content| {
            // A line that is the closing mark would end the content.
            let text = content.text.replace(END, "EVCXR END CONTENT");
            format!("EVCXR_BEGIN_CONTENT {}\n{text}\n{END}\n", content.media_type)
        })
        .collect()
}

/// The mark after a representation.
const END: &str = "EVCXR_END_CONTENT";

impl Summary {
    /// Shows the table in a notebook with the Rust kernel evcxr, which calls this method for the last expression of a
    /// cell. It prints to standard output.
    pub fn evcxr_display(&self) {
        show_value(&printable_lines(&self.to_string()), &self.to_html());
    }
}

impl Check {
    /// Returns the verdict and the findings as HTML, without a style sheet.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::Check;
    ///
    /// assert_eq!(Check::default().to_html(), "<p><strong>✓ no problem found</strong></p>");
    /// ```
    pub fn to_html(&self) -> String {
        let mark = if self.passed() { "✓" } else { "✗" };
        let mut html = format!("<p><strong>{mark} {}</strong></p>", HtmlText(&self.verdict()));
        if self.findings().is_empty() {
            return html;
        }
        html.push_str("<ul>");
        for finding in self.findings() {
            html += &format!("<li><strong>{}</strong>: {}", finding.severity, HtmlText(&finding.what));
            let names = finding.listed_parameters();
            if !names.is_empty() {
                html += &format!("<br>in {}", HtmlText(&names));
            }
            html += &format!("<br>→ {}</li>", HtmlText(&finding.remedy));
        }
        html + "</ul>"
    }

    /// Shows the verdict and the findings in a notebook with the Rust kernel evcxr, which calls this method for the last
    /// expression of a cell. It prints to standard output.
    pub fn evcxr_display(&self) {
        show_value(&printable_lines(&self.to_string()), &self.to_html());
    }
}

impl Fit {
    /// Shows the chains, the verdict and the summary in a notebook with the Rust kernel evcxr, which calls this method
    /// for the last expression of a cell. It prints to standard output.
    pub fn evcxr_display(&self) {
        let (summary, check) = (self.summary(), self.check());
        let values = count(self.layout().value_count(), "value");
        let (chains, algorithm) = (self.describe_chains(), self.info().describe_algorithm());
        let title = if algorithm.is_empty() {
            format!("{chains} of {values}")
        } else {
            format!("{algorithm}: {chains} of {values}")
        };
        let title = printable(&title);
        let text = format!("{title}\n\n{summary}\n\n{check}");
        let html = format!("<p>{}</p>{}{}", HtmlText(&title), check.to_html(), summary.to_html());
        show_value(&printable_lines(&text), &html);
    }
}

/// Shows a value as text and as HTML.
fn show_value(text: &str, html: &str) {
    show(&[Content { media_type: "text/plain", text }, Content { media_type: "text/html", text: html }]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finding, Severity};

    #[test]
    fn contents_stand_between_the_marks() {
        let contents = [
            Content { media_type: "text/plain", text: "a\nEVCXR_END_CONTENT\nb" },
            Content { media_type: "text/html", text: "<p>" },
        ];
        assert_eq!(
            message(&contents),
            "EVCXR_BEGIN_CONTENT text/plain\na\nEVCXR END CONTENT\nb\nEVCXR_END_CONTENT\n\
             EVCXR_BEGIN_CONTENT text/html\n<p>\nEVCXR_END_CONTENT\n"
        );
    }

    #[test]
    fn html_is_escaped() {
        assert_eq!(HtmlText("<a href=\"x\" b='&'>").to_string(), "&lt;a href=&quot;x&quot; b=&#39;&amp;&#39;&gt;");
        let finding = Finding::new(Severity::Problem, "R-hat > 1", "run <longer>").about(vec!["a<b".into()]);
        let html = Check::default().join([finding]).to_html();
        assert!(
            html.starts_with("<p><strong>✗ 1 problem, 0 warnings: do not trust this fit yet</strong></p>"),
            "{html}"
        );
        assert!(html.contains("R-hat &gt; 1<br>in a&lt;b<br>→ run &lt;longer&gt;"), "{html}");
    }
}

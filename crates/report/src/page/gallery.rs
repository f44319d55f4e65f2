//! An HTML page of plots with headings.

use std::path::Path;

use super::html::{Escaped, fill, words};
use crate::error::Result;
use crate::plot::Plot;

/// A self-contained HTML page of plots with headings, in the style of [`Report`](super::Report).
///
/// # Examples
///
/// ```
/// use sgmcmc::report::{Gallery, plot::{self, Frame}};
///
/// let ranks = plot::calibration(&[9, 11, 10], &Frame::new("beta"))?;
/// let page = Gallery::new("Calibration").section("Logistic regression", "").plots("SGLD", "`beta` is calibrated.", &[ranks]);
/// assert!(page.html().contains("<h3>SGLD</h3>"));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gallery {
    title: String,
    about: String,
    sections: Vec<Section>,
}

/// A section of the page: a heading, a text, and articles with plots.
#[derive(Clone, Debug)]
struct Section {
    heading: String,
    text: String,
    articles: String,
}

impl Gallery {
    /// Creates an empty page with this title.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), about: String::new(), sections: Vec::new() }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the text below the title. In all texts, words between backticks are shown as code.
    #[must_use]
    pub fn about(mut self, text: &str) -> Self {
        self.about = words(text);
        self
    }

    /// Starts a new section.
    #[must_use]
    pub fn section(mut self, heading: &str, text: &str) -> Self {
        let (heading, text) = (Escaped(heading).to_string(), words(text));
        self.sections.push(Section { heading, text, articles: String::new() });
        self
    }

    /// Adds an article with plots side by side to the last section.
    #[must_use]
    pub fn plots(self, heading: &str, text: &str, plots: &[Plot]) -> Self {
        self.article(heading, text, plots, "grid")
    }

    /// Adds an article with a plot that scrolls on a narrow screen.
    pub(super) fn wide_plot(self, heading: &str, plot: Plot) -> Self {
        self.article(heading, "", &[plot], "wide")
    }

    /// Adds an article whose plots are in an element of the class `class`.
    fn article(mut self, heading: &str, text: &str, plots: &[Plot], class: &str) -> Self {
        let figures: String = plots.iter().map(|plot| format!("<figure>{}</figure>", plot.inline())).collect();
        let article = format!(
            "<article><h3>{}</h3><p>{}</p><div class=\"{class}\">{figures}</div></article>\n",
            Escaped(heading),
            words(text)
        );
        self.append(&article);
        self
    }

    /// Adds a table to the last section. The first cell of a row is its name.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::report::Gallery;
    ///
    /// let rows = [vec!["linear".to_owned(), "-120.3".to_owned()]];
    /// let page = Gallery::new("Models").table(&["model", "elpd"], &rows);
    /// assert!(page.html().contains("<tr><th>linear</th><td>-120.3</td></tr>"));
    /// ```
    #[must_use]
    pub fn table(mut self, columns: &[&str], rows: &[Vec<String>]) -> Self {
        let header: String = columns.iter().map(|name| format!("<th>{}</th>", Escaped(name))).collect();
        let row = |cells: &Vec<String>| {
            let cell = |(number, text): (usize, &String)| match number {
                0 => format!("<th>{}</th>", Escaped(text)),
                _ => format!("<td>{}</td>", words(text)),
            };
            format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
        };
        let body: String = rows.iter().map(row).collect();
        self.append(&format!(
            "<div class=\"scroll plain\"><table><thead><tr>{header}</tr></thead><tbody>\n{body}</tbody></table></div>\n"
        ));
        self
    }

    /// Appends HTML to the last section, or to a new one without a heading.
    fn append(&mut self, html: &str) {
        match self.sections.last_mut() {
            Some(section) => section.articles += html,
            None => {
                self.sections.push(Section { heading: String::new(), text: String::new(), articles: html.to_owned() })
            }
        }
    }

    /// Returns the page as text.
    pub fn html(&self) -> String {
        let section = |Section { heading, text, articles }: &Section| {
            let heading = if heading.is_empty() { String::new() } else { format!("<h2>{heading}</h2>\n") };
            let text = if text.is_empty() { String::new() } else { format!("<p class=\"hint\">{text}</p>\n") };
            format!("<section>\n{heading}{text}{articles}</section>\n")
        };
        fill(
            include_str!("gallery.html"),
            &[
                ("title", Escaped(&self.title).to_string()),
                ("style", include_str!("page.css").to_owned()),
                ("about", self.about.clone()),
                ("sections", self.sections.iter().map(section).collect()),
                ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ],
        )
    }

    /// Writes the page to a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        crate::error::write_file(path, self.html().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{self, Frame};

    #[test]
    fn headings_texts_and_plots_are_on_the_page() {
        let ranks = plot::calibration(&[3, 5], &Frame::new("mu")).unwrap();
        let page = Gallery::new("A & B").about("see `x<y>`").section("one", "").plots("two", "three", &[ranks]).html();
        for expected in
            ["<h1>A &amp; B</h1>", "<code>x&lt;y&gt;</code>", "<h2>one</h2>", "<h3>two</h3>", "three", "<figure><svg"]
        {
            assert!(page.contains(expected), "{expected}");
        }
        assert!(!page.contains("{{"), "a placeholder of the template was not replaced");
    }

    #[test]
    fn plots_without_a_section_start_one() {
        let page = Gallery::new("").plots("two", "", &[]).html();
        assert_eq!(page.matches("<section>").count(), 1);
        assert!(!page.contains("<h2>"));
    }
}

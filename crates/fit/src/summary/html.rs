//! A summary as a table of HTML.

use std::fmt::Write;

use super::Summary;
use super::table::TableLine;
use crate::html::HtmlText;
use crate::text::count;

impl Summary {
    /// Returns the table of `Display` as HTML, without a style sheet, for notebooks and pages. Long tensors are folded, see
    /// [`unfolded`](Self::unfolded).
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let summary = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([2]), 100)?.summary();
    /// assert!(summary.to_html().contains("<th>theta[1]</th>"));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn to_html(&self) -> String {
        let mut html = "<table><thead><tr><th></th>".to_owned();
        // Writing to a string does not fail.
        for column in &self.columns {
            let _ = write!(html, "<th>{}</th>", HtmlText(&column.name));
        }
        html.push_str("</tr></thead><tbody>");
        for line in self.table_lines() {
            let _ = match line {
                TableLine::Row(name, cells) => {
                    let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", HtmlText(cell))).collect();
                    write!(html, "<tr><th>{}</th>{cells}</tr>", HtmlText(&name))
                }
                TableLine::Folded(text) => {
                    write!(html, "<tr><td colspan=\"{}\">{}</td></tr>", 1 + self.columns.len(), HtmlText(&text))
                }
            };
        }
        let _ = write!(html, "</tbody></table><p>{} of {}", count(self.draws, "draw"), count(self.chains, "chain"));
        for warning in &self.warnings {
            let _ = write!(html, "<br>{}", HtmlText(warning));
        }
        html + "</p>"
    }
}

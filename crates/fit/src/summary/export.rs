//! Export of summaries: CSV and JSON with all digits, and Markdown.

use std::fmt::Write;

use sgmcmc_gradient::text::{csv_cell, printable, printable_json};

use super::{COLUMNS, Summary};

impl Summary {
    /// Returns the summary as comma-separated values, in the format of `arviz.summary(...).to_csv()`.
    ///
    /// The first cell of the header is empty. Undefined numbers are empty cells. Names with a comma are quoted, and
    /// control characters in names are escaped. A name that a spreadsheet would evaluate as a formula is prefixed with
    /// an apostrophe.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let summary = hmc(&model, &Dataset::none(), 0.025).sample(&zeros([2]), 100)?.summary();
    /// assert!(summary.to_csv().starts_with(",mean,sd,"));
    /// assert!(summary.to_json().starts_with('['));
    /// assert!(summary.to_markdown().starts_with('|'));
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn to_csv(&self) -> String {
        let mut text = format!(",{}\n", COLUMNS.join(","));
        for row in &self.rows {
            text.push_str(&csv_cell(&printable(&row.name)));
            for number in row.numbers() {
                // Writing to a string does not fail.
                let _ = if number.is_nan() { write!(text, ",") } else { write!(text, ",{number}") };
            }
            text.push('\n');
        }
        text
    }

    /// Returns the summary as a JSON array with one object per value. Undefined numbers are `null`.
    pub fn to_json(&self) -> String {
        // Serializing strings and numbers does not fail.
        let text = serde_json::to_string_pretty(&self.rows).unwrap_or_default();
        printable_json(&text).into_owned()
    }

    /// Returns the summary as a Markdown table.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("| | {} |\n|---|{}\n", COLUMNS.join(" | "), "---:|".repeat(COLUMNS.len()));
        for row in &self.rows {
            let cells = super::table::cells(row).join(" | ");
            let _ = writeln!(text, "| `{}` | {cells} |", printable(&row.name).replace('|', "\\|"));
        }
        text
    }
}

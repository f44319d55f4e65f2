//! A summary for other programs: CSV, JSON and Markdown, with all digits and every line.

use std::fmt::Write;

use sgmcmc_core::text::{csv_cell, printable, printable_json};

use super::{COLUMNS, Summary};

impl Summary {
    /// As comma-separated values, under a header whose first cell is empty as in pandas: `arviz.summary(...).to_csv()` looks the same.
    /// Undefined numbers are empty cells. Names with a comma are quoted, control characters in names are escaped, and a name that a
    /// spreadsheet would run as a formula has an apostrophe in front.
    pub fn to_csv(&self) -> String {
        let mut text = format!(",{}\n", COLUMNS.join(","));
        for row in &self.rows {
            text.push_str(&csv_cell(&printable(&row.name)));
            for number in row.numbers() {
                // Writing to a string cannot fail.
                let _ = if number.is_nan() { write!(text, ",") } else { write!(text, ",{number}") };
            }
            text.push('\n');
        }
        text
    }

    /// As a JSON array with an object for each value; undefined numbers are `null`.
    pub fn to_json(&self) -> String {
        // Names and numbers always have a JSON form.
        let text = serde_json::to_string_pretty(&self.rows).unwrap_or_default();
        printable_json(&text).into_owned()
    }

    /// As a Markdown table.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("| | {} |\n|---|{}\n", COLUMNS.join(" | "), "---:|".repeat(COLUMNS.len()));
        for row in &self.rows {
            let cells = super::table::cells(row).join(" | ");
            let _ = writeln!(text, "| `{}` | {cells} |", printable(&row.name).replace('|', "\\|"));
        }
        text
    }
}

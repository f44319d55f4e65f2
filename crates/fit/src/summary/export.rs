//! Export of summaries: CSV and JSON with all digits, and Markdown.

use std::fmt::Write;

use serde::ser::{Serialize, SerializeMap, Serializer};
use sgmcmc_gradient::text::{csv_cell, printable, printable_json};

use super::Summary;

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
        let mut text = format!(",{}\n", self.column_names().join(","));
        for (row, name) in self.names.iter().enumerate() {
            text.push_str(&csv_cell(&printable(name)));
            for number in self.numbers(row) {
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
        let rows: Vec<JsonRow<'_>> =
            self.names.iter().enumerate().map(|(row, name)| JsonRow { summary: self, name, row }).collect();
        let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
        printable_json(&text).into_owned()
    }

    /// Returns the summary as a Markdown table.
    pub fn to_markdown(&self) -> String {
        let names = self.column_names();
        let mut text = format!("| | {} |\n|---|{}\n", names.join(" | "), "---:|".repeat(names.len()));
        for (row, name) in self.names.iter().enumerate() {
            let cells = self.cells(row).join(" | ");
            let _ = writeln!(text, "| `{}` | {cells} |", printable(name).replace('|', "\\|"));
        }
        text
    }

    /// Returns the names of the columns.
    fn column_names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Returns the numbers of a row.
    fn numbers(&self, row: usize) -> impl Iterator<Item = f64> {
        self.columns.iter().map(move |column| column.numbers[row])
    }
}

/// A row as a JSON object: the name, then the columns.
struct JsonRow<'a> {
    summary: &'a Summary,
    name: &'a str,
    row: usize,
}

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(1 + self.summary.columns.len()))?;
        object.serialize_entry("name", self.name)?;
        for column in &self.summary.columns {
            object.serialize_entry(&column.name, &column.numbers[self.row])?;
        }
        object.end()
    }
}

//! Numbers in the lines of corpus files.

use sgmcmc_storage::error::{Problem, shortened};

/// Returns the parts of a line between white space.
pub(super) fn split(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty())
}

/// Parses an integer from `least` to `most`.
///
/// # Errors
///
/// Returns an error if the text is not an integer, or if it is out of range.
pub(super) fn integer(text: &[u8], what: &'static str, least: u64, most: u64, range: &str) -> Result<u64, Problem> {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Problem::not_a_number(text, "an integer"));
    }
    let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok());
    match value.filter(|value| (least..=most).contains(value)) {
        Some(value) => Ok(value),
        None => Err(Problem::OutOfRange { what, value: shortened(text), range: range.into() }),
    }
}

/// Parses a count: an integer from 1 to 2³¹ − 1.
pub(super) fn count(text: &[u8]) -> Result<u32, Problem> {
    integer(text, "count", 1, i32::MAX as u64, "counts are from 1 to 2147483647").map(|count| count as u32)
}

//! Names and paths as they can be shown.

use std::borrow::Cow;

/// Returns `text` with every character that would change how a terminal or a page shows the text around it written as an escape.
///
/// These are control characters, line breaks included, and the invisible characters that set the direction of text. Names come from
/// files, and a file may come from anywhere.
///
/// ```
/// use sgmcmc_core::text::printable;
///
/// assert_eq!(printable("beta[3]"), "beta[3]");
/// assert_eq!(printable("a\x1b[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// As [`printable`], of a text of several lines: line breaks and tabs stay.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// Returns a JSON text with the invisible characters in its strings written as escapes.
///
/// ```
/// use sgmcmc_core::text::printable_json;
///
/// assert_eq!(printable_json("{\"a\u{202e}b\": 1}"), "{\"a\\u202eb\": 1}");
/// ```
pub fn printable_json(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| is_invisible(c) || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if harmful(character) {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().for_each(|unit| shown.push_str(&format!("\\u{unit:04x}")));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let harmful = |character: char| !stays(character) && (character.is_control() || is_invisible(character));
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if harmful(character) { shown.extend(character.escape_unicode()) } else { shown.push(character) }
    }
    Cow::Owned(shown)
}

/// Whether a character sets the direction of text, separates lines, or has no width.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Returns a text cell of a CSV file: quoted where it has to be, and never a formula.
///
/// Spreadsheets run a cell that starts with `=`, `+`, `-`, `@`, a tab or a carriage return. Such a text gets an apostrophe in front,
/// which spreadsheets take as the mark of a text.
///
/// ```
/// use sgmcmc_core::text::csv_cell;
///
/// assert_eq!(csv_cell("beta[3]"), "beta[3]");
/// assert_eq!(csv_cell("W[0,1]"), "\"W[0,1]\"");
/// assert_eq!(csv_cell("=1+1"), "'=1+1");
/// ```
pub fn csv_cell(text: &str) -> Cow<'_, str> {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let quoted = text.contains([',', '"', '\n', '\r', '\t', '\0']);
    if !formula && !quoted {
        return Cow::Borrowed(text);
    }
    let text = text.replace('\0', "\u{fffd}");
    let text = if formula { format!("'{text}") } else { text };
    Cow::Owned(if quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_never_formulas() {
        for (text, cell) in [
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("-1", "'-1"),
            ("+1", "'+1"),
            ("@a", "'@a"),
            ("\ta", "\"'\ta\""),
            ("a\"b", "\"a\"\"b\""),
            ("a=b", "a=b"),
        ] {
            assert_eq!(csv_cell(text), cell);
        }
    }

    #[test]
    fn only_lines_keep_their_breaks() {
        assert_eq!(printable("a\nb\0\u{2066}"), "a\\u{a}b\\u{0}\\u{2066}");
        assert_eq!(printable_lines("a\n\tb\r\u{9b}"), "a\n\tb\\u{d}\\u{9b}");
        assert!(matches!(printable("naïve θ 日本"), Cow::Borrowed(_)));
    }
}

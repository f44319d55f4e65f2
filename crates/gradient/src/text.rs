//! Escaping of names and paths for terminals, pages and CSV files.

use std::borrow::Cow;

/// Returns `text` with all characters escaped that change how a terminal or a page displays the surrounding text.
///
/// These are control characters, including line breaks, and invisible characters, including those that set the
/// direction of text. Names are read from files, which are not trusted. For example, `a\x1b[2Jb` is returned as
/// `a\u{1b}[2Jb`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Returns `text` with the same characters escaped as in [`printable`], except line breaks and tabs.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// Returns a JSON text with the invisible characters in its strings escaped.
pub fn printable_json(text: &str) -> Cow<'_, str> {
    let needs_escape = |c: char| is_invisible(c) || (c.is_control() && !matches!(c, '\n' | '\r' | '\t'));
    if !text.contains(needs_escape) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if needs_escape(character) {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Returns `text` with all control characters and invisible characters escaped, except those for which `is_allowed`
/// returns `true`.
fn escaped(text: &str, is_allowed: impl Fn(char) -> bool) -> Cow<'_, str> {
    let needs_escape = |character: char| !is_allowed(character) && (character.is_control() || is_invisible(character));
    if !text.contains(needs_escape) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if needs_escape(character) { escaped.extend(character.escape_unicode()) } else { escaped.push(character) }
    }
    Cow::Owned(escaped)
}

/// Returns `true` if a character sets the direction of text, separates lines, or has no width.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Returns `text` as a cell of a CSV file, quoted if necessary and never a formula.
///
/// Spreadsheets evaluate a cell that starts with `=`, `+`, `-`, `@`, a tab or a carriage return. Such a text is
/// prefixed with an apostrophe, which marks text in spreadsheets.
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
            ("beta[3]", "beta[3]"),
            ("W[0,1]", "\"W[0,1]\""),
            ("=1+1", "'=1+1"),
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
    fn control_and_invisible_characters_are_escaped() {
        assert_eq!(printable("a\x1b[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
        assert_eq!(printable_json("{\"a\u{202e}b\": 1}"), "{\"a\\u202eb\": 1}");
    }

    #[test]
    fn line_breaks_are_kept_only_in_lines() {
        assert_eq!(printable("a\nb\0\u{2066}"), "a\\u{a}b\\u{0}\\u{2066}");
        assert_eq!(printable_lines("a\n\tb\r\u{9b}"), "a\n\tb\\u{d}\\u{9b}");
        assert!(matches!(printable("naïve θ 日本"), Cow::Borrowed(_)));
    }
}

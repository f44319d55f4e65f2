//! HTML text: escaping, templates and numbers.

pub(super) use sgmcmc_fit::notebook::HtmlText as Escaped;

/// Replaces each `{{name}}` of the template by its value. Values are not expanded recursively.
pub(super) fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let replaced = (part.split_once("}}"))
            .and_then(|(name, rest)| values.iter().find(|value| value.0 == name).map(|value| (&value.1, rest)));
        match replaced {
            Some((value, rest)) => page.extend([value.as_str(), rest]),
            None => page.extend(["{{", part]),
        }
    }
    page
}

/// Formats a number with about four significant digits.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return if value.is_nan() { "–".to_owned() } else { value.to_string() };
    }
    if size > 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = if size < 1.0 { 4 } else { (3 - size.log10().floor() as i32).max(0) as usize };
    format!("{value:.digits$}")
}

/// Formats a number without trailing zeros.
pub(super) fn short(value: f64) -> String {
    let text = number(value);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Escapes a text and marks the parts between backticks as code.
pub(super) fn words(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(i, part)| if i % 2 == 1 { format!("<code>{}</code>", Escaped(part)) } else { Escaped(part).to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_not_expanded() {
        let page = fill("<{{a}}|{{b}}|{{c}}>", &[("a", "{{b}}".to_owned()), ("b", "2".to_owned())]);
        assert_eq!(page, "<{{b}}|2|{{c}}>");
    }

    #[test]
    fn numbers_are_short() {
        let values = [0.0, 0.12345, 1.23456, -123.456, 12345.6, 1.5e-7, 2.5e9, f64::NAN, f64::INFINITY];
        let shown = ["0.0000", "0.1235", "1.235", "-123.5", "12346", "1.50e-7", "2.50e9", "–", "inf"];
        assert_eq!(values.map(number), shown);
        assert_eq!([500.0, 1.25, 0.0, 1.5e-7].map(short), ["500", "1.25", "0", "1.50e-7"]);
    }

    #[test]
    fn code_is_marked() {
        assert_eq!(words("use `a<b>` & go"), "use <code>a&lt;b&gt;</code> &amp; go");
    }
}

//! Words and numbers for readers.

mod estimator;

pub(crate) use estimator::describe_estimator;

/// Returns `number` and `noun`, the noun in the plural unless `number` is 1. The plural is formed with an `s`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The largest number of entries of a list that are shown.
const SHOWN: usize = 4;

/// Returns the `Debug` text of settings in words: `Sghmc { alpha: 0.1, steps: 5, noise: None }` becomes "Sghmc, alpha
/// 0.1, steps 5".
///
/// Fields without a value are left out. A text that does not have the form of a `Debug` text is returned unchanged.
pub(crate) fn describe_settings(debug: &str) -> String {
    let text = debug.trim();
    match Item::parse(text) {
        Item::Struct { name: "PerParameter", fields } => per_parameter(&fields),
        Item::Struct { name, fields } => {
            let fields: Vec<String> = fields.into_iter().filter_map(Field::describe).collect();
            [vec![capitalized(&words(name))], fields].concat().join(", ")
        }
        Item::Tuple { .. } => capitalized(&describe_value(text)),
        Item::Name(name) => capitalized(&words(name)),
        Item::List(_) | Item::Text(_) => text.to_owned(),
    }
}

/// Returns a `Debug` text inside of another one in words.
fn describe_value(text: &str) -> String {
    match Item::parse(text) {
        Item::Struct { name: "PerParameter", fields } => per_parameter(&fields),
        Item::Struct { name, fields } => {
            with_details(&words(name), &fields.into_iter().filter_map(Field::describe).collect::<Vec<_>>())
        }
        Item::Tuple { name: "Some" | "Count" | "Fixed", items } => list_of(&items),
        Item::Tuple { name: "Proportion", items } => proportion(&items),
        Item::Tuple { name, items } => match &items[..] {
            [item] if !item.contains([' ', ',']) => format!("{} {}", words(name), describe_value(item)),
            _ => with_details(&words(name), &items.iter().filter_map(|item| detail(item)).collect::<Vec<_>>()),
        },
        Item::List(items) => list(&items),
        Item::Name(name) => words(name),
        Item::Text(text) => text.trim_matches('"').to_owned(),
    }
}

/// One node of a `Debug` text.
enum Item<'a> {
    /// `Name { field: value, … }`.
    Struct { name: &'a str, fields: Vec<Field<'a>> },
    /// `Name(value, …)`.
    Tuple { name: &'a str, items: Vec<&'a str> },
    /// `[value, …]`.
    List(Vec<&'a str>),
    /// `Name`.
    Name(&'a str),
    /// Any other text, such as a number.
    Text(&'a str),
}

impl<'a> Item<'a> {
    /// Parses a `Debug` text. Nested texts are parsed when they are described.
    fn parse(text: &'a str) -> Self {
        let text = text.trim();
        let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let is_name = name.starts_with(|c: char| c.is_alphabetic());
        if is_name && rest.is_empty() {
            return Self::Name(name);
        }
        if is_name && let Some(body) = enclosed(rest.trim_start(), '{', '}') {
            return Self::Struct { name, fields: Field::parse_all(body) };
        }
        if is_name && let Some(body) = enclosed(rest, '(', ')') {
            return Self::Tuple { name, items: split(body) };
        }
        enclosed(text, '[', ']').map_or(Self::Text(text), |body| Self::List(split(body)))
    }
}

/// A field of a struct. Some `Debug` implementations write plain words in the position of a field; they have no name.
struct Field<'a> {
    name: Option<&'a str>,
    /// The parts of the value that commas separate. Schedules are written with commas.
    values: Vec<&'a str>,
}

impl<'a> Field<'a> {
    /// Parses the fields of a struct.
    fn parse_all(body: &'a str) -> Vec<Self> {
        let mut fields: Vec<Self> = Vec::new();
        for part in split(body).into_iter().filter(|part| *part != "..") {
            let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            match (part.split_once(": ").filter(|(name, _)| is_name(name)), fields.last_mut()) {
                (Some((name, value)), _) => fields.push(Self { name: Some(name), values: vec![value] }),
                (None, Some(last)) if last.name.is_some() => last.values.push(part),
                (None, _) => fields.push(Self { name: None, values: vec![part] }),
            }
        }
        fields
    }

    /// Returns the field in words, or `None` if it has no value or is a fingerprint.
    fn describe(self) -> Option<String> {
        let Some(name) = self.name else { return detail(self.values.first()?) };
        let name = name.replace('_', " ");
        match &self.values[..] {
            ["None"] => None,
            ["true"] => Some(format!("{name} on")),
            ["false"] => Some(format!("{name} off")),
            values => {
                let value = list_of(values);
                // A type is often named like the field.
                Some(if value.starts_with(&name) { value } else { format!("{name} {value}") })
            }
        }
    }
}

/// Returns the common value, and the values of the parameters that have their own.
fn per_parameter(fields: &[Field<'_>]) -> String {
    let mut parts = Vec::new();
    for field in fields {
        match (field.name, &field.values[..]) {
            (Some("named"), [values]) => {
                for entry in enclosed(values, '[', ']').map(split).unwrap_or_default() {
                    let entry = enclosed(entry, '(', ')').unwrap_or(entry);
                    let (name, value) = entry.split_once(", ").unwrap_or((entry, ""));
                    parts.push(format!("{} for `{}`", describe_value(value), name.trim_matches('"')));
                }
            }
            (_, values) => parts.push(list_of(values)),
        }
    }
    parts.join(", ")
}

/// Returns a part of a description, or `None` for fingerprints, which are not useful to readers.
fn detail(text: &str) -> Option<String> {
    let is_hash = |text: &str| text.len() == 16 && text.chars().all(|c| c.is_ascii_hexdigit());
    (!text.starts_with("fingerprint ") && !is_hash(text)).then(|| describe_value(text))
}

/// Returns a name with details in parentheses.
fn with_details(name: &str, details: &[String]) -> String {
    if details.is_empty() { name.to_owned() } else { format!("{name} ({})", details.join(", ")) }
}

/// Formats a proportion as a percentage.
fn proportion(items: &[&str]) -> String {
    match items.first().and_then(|item| item.parse::<f64>().ok()) {
        // Rounded, because 100 · 0.07 is not 7 in floating point.
        Some(share) => format!("{} %", (1e8 * share).round() / 1e6),
        None => list_of(items),
    }
}

/// Describes items, separated by commas.
fn list_of(items: &[&str]) -> String {
    items.iter().map(|item| describe_value(item)).collect::<Vec<_>>().join(", ")
}

/// Describes a list. Long lists are abbreviated.
fn list(items: &[&str]) -> String {
    if items.len() <= SHOWN {
        return format!("[{}]", list_of(items));
    }
    format!("[{}, … {} in all]", list_of(&items[..SHOWN - 1]), items.len())
}

/// Returns the text between `open` and `close` if they are the first and last characters of `text` and belong together.
fn enclosed(text: &str, open: char, close: char) -> Option<&str> {
    let body = text.strip_prefix(open)?.strip_suffix(close)?;
    let mut depth = 0_i32;
    for c in body.chars() {
        depth += nesting(c);
        if depth < 0 {
            return None;
        }
    }
    (depth == 0).then(|| body.trim())
}

/// Splits at the commas that are not inside of brackets or quotes.
fn split(body: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_i32, false);
    for (index, c) in body.char_indices() {
        quoted ^= c == '"';
        if !quoted {
            depth += nesting(c);
        }
        if c == ',' && depth == 0 && !quoted {
            parts.push(body[start..index].trim());
            start = index + 1;
        }
    }
    parts.push(body[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns the change of the nesting depth at a bracket.
fn nesting(c: char) -> i32 {
    match c {
        '{' | '(' | '[' => 1,
        '}' | ')' | ']' => -1,
        _ => 0,
    }
}

/// Names of algorithms that are written in upper case.
const ACRONYMS: [&str; 17] = [
    "badodab", "baoab", "bfgs", "hamcmc", "hmc", "lbfgs", "mala", "nuts", "psgld", "qnhmc", "saga", "sgfs", "sghmc",
    "sgld", "sgnht", "sgrld", "svrg",
];

/// Returns the words of a name in camel case, in lower case except for acronyms: "without replacement" of
/// `WithoutReplacement`, "cyclical SGLD" of `CyclicalSgld`.
fn words(name: &str) -> String {
    let mut text = String::new();
    let mut previous = ' ';
    for c in name.chars() {
        if c.is_uppercase() && previous.is_lowercase() {
            text.push(' ');
        }
        text.push(c);
        previous = c;
    }
    // Names in upper case, such as SGLD, stay.
    if !text.chars().any(char::is_lowercase) {
        return text;
    }
    let words = text.split(' ').map(str::to_lowercase);
    let words = words.map(|word| if ACRONYMS.contains(&word.as_str()) { word.to_uppercase() } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the text with an upper-case first letter.
fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_are_plural_unless_there_is_one() {
        assert_eq!([0, 1, 2].map(|number| count(number, "draw")), ["0 draws", "1 draw", "2 draws"]);
    }

    #[test]
    fn algorithms_are_described_in_words() {
        for (debug, expected) in [
            ("Sgld", "SGLD"),
            ("Sghmc { alpha: 0.1, steps: 5, noise: None }", "SGHMC, alpha 0.1, steps 5"),
            (
                "Sghmc { alpha: PerParameter { common: 0.01, named: [] }, steps: 5, noise: Fixed(0.0) }",
                "SGHMC, alpha 0.01, steps 5, noise 0.0",
            ),
            (
                "Sgnht { a: PerParameter { common: 0.01, named: [(\"bias\", 0.5)] }, thermostats: PerParameter }",
                "SGNHT, a 0.01, 0.5 for `bias`, thermostats per parameter",
            ),
            (
                "Hmc { steps: 10, jitter: 0.0, covariance: unit, adapt: Some(DualAveraging { iterations: 500, acceptance: 0.8 }) }",
                "HMC, steps 10, jitter 0.0, covariance unit, adapt dual averaging (iterations 500, acceptance 0.8)",
            ),
            ("Mala { covariance: dense(6 rows, 0123456789abcdef), adapt: None }", "MALA, covariance dense (6 rows)"),
            (
                "Qnhmc { steps: 10, jitter: 0.0, mass: Whitening, inverse_hessian: Bfgs, adaptation: First(1000), adapt: None }",
                "QNHMC, steps 10, jitter 0.0, mass whitening, inverse hessian BFGS, adaptation first 1000",
            ),
            ("Psgld { alpha: 0.99, lambda: 1e-5, gamma: false }", "PSGLD, alpha 0.99, lambda 1e-5, gamma off"),
            (
                "PreconditionedSgld { dense matrix of 6 rows, fingerprint 0123456789abcdef }",
                "Preconditioned SGLD, dense matrix of 6 rows",
            ),
            (
                "Sgrld { metric: Metric { shape: Diagonal, gamma: \"by differences\", .. }, gamma: true }",
                "SGRLD, metric (shape diagonal, gamma by differences), gamma on",
            ),
        ] {
            assert_eq!(describe_settings(debug), expected);
        }
    }

    #[test]
    fn step_sizes_are_described_in_words() {
        for (debug, expected) in [
            ("PerParameter { common: 0.001, named: [] }", "0.001"),
            ("PerParameter { common: 0.5, 0.25, 0.125, …, named: [] }", "0.5, 0.25, 0.125, …"),
            (
                "PerParameter { common: Polynomial { a: 0.01, b: 10.0, gamma: 0.55 }, named: [(\"bias\", 0.1)] }",
                "polynomial (a 0.01, b 10.0, gamma 0.55), 0.1 for `bias`",
            ),
        ] {
            assert_eq!(describe_settings(debug), expected);
        }
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "",
            "SGLD",
            "1e-4, decreasing",
            "control variates around the mode",
            "A { b: 1",
            "found in the warm-up",
            "}{",
            "[1, 2]",
        ] {
            assert_eq!(describe_settings(text), text);
        }
    }
}

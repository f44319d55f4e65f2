//! Gradient estimators in words.

use super::{Field, Item, capitalized, describe_settings, describe_value};

/// Returns the `Debug` text of a gradient estimator in words, such as "Control variates at the mode, minibatches of 500
/// without replacement". Estimators that are not of this library are described as their settings.
///
/// A text of control variates around a mode that was found ends with " at the mode".
pub(crate) fn describe_estimator(debug: &str) -> String {
    let (text, place) = match debug.trim().strip_suffix(" at the mode") {
        Some(text) => (text, " at the mode"),
        None => (debug.trim(), ""),
    };
    let described = match Item::parse(text) {
        Item::Struct { name, fields } => describe(name, &fields, place),
        _ => None,
    };
    described.unwrap_or_else(|| describe_settings(text))
}

/// Returns the estimator `name` in words, or `None` if it is not known.
fn describe(name: &str, fields: &[Field<'_>], place: &str) -> Option<String> {
    let minibatches = minibatches(value(fields, "scheme")?)?;
    Some(match name {
        "MinibatchGradient" => capitalized(&minibatches),
        "ControlVariate" => {
            let place = match value(fields, "center") {
                Some(center) if place.is_empty() && center != "None" => " around a given point",
                _ => place,
            };
            let moved = match value(fields, "recenter").map(Item::parse) {
                Some(Item::Tuple { name: "EveryAtMean", items }) => {
                    format!(", moved to the mean of the chain every {} steps", items.concat())
                }
                _ => String::new(),
            };
            format!("Control variates{place}, {minibatches}{moved}")
        }
        "Svrg" => format!("SVRG with a full gradient every {} steps, {minibatches}", value(fields, "period")?),
        "Saga" => format!("SAGA, {minibatches}"),
        _ => return None,
    })
}

/// Returns a minibatch scheme in words, or `None` if it is not known.
fn minibatches(scheme: &str) -> Option<String> {
    let Item::Struct { name, fields } = Item::parse(scheme) else { return None };
    let manner = match name {
        "WithoutReplacement" => "without replacement",
        "WithReplacement" => "with replacement",
        "Epochs" => "in epochs",
        "Weighted" => "drawn with weights",
        _ => return None,
    };
    Some(format!("minibatches of {} {manner}", describe_value(value(&fields, "size")?)))
}

/// Returns the value of a field.
fn value<'a>(fields: &[Field<'a>], name: &str) -> Option<&'a str> {
    fields.iter().find(|field| field.name == Some(name)).and_then(|field| field.values.first().copied())
}

#[cfg(test)]
mod tests {
    use super::describe_estimator;

    #[test]
    fn gradient_estimators_are_described_in_words() {
        for (debug, expected) in [
            ("FullGradient", "Full gradient"),
            (
                "MinibatchGradient { scheme: WithoutReplacement { size: Count(500) } }",
                "Minibatches of 500 without replacement",
            ),
            (
                "ControlVariate { scheme: WithoutReplacement { size: Count(500) }, center: None, recenter: Never } at the mode",
                "Control variates at the mode, minibatches of 500 without replacement",
            ),
            (
                "ControlVariate { scheme: WithReplacement { size: Proportion(0.01) }, center: None, recenter: Never }",
                "Control variates, minibatches of 1 % with replacement",
            ),
            (
                "ControlVariate { scheme: Epochs { size: Count(8) }, center: Some([0.5, 1.0]), recenter: EveryAtMean(100) }",
                "Control variates around a given point, minibatches of 8 in epochs, moved to the mean of the chain every 100 steps",
            ),
            (
                "Svrg { scheme: Weighted { size: 8, weights: 20, fingerprint: 0123456789abcdef }, period: 50 }",
                "SVRG with a full gradient every 50 steps, minibatches of 8 drawn with weights",
            ),
            ("Saga { scheme: WithoutReplacement { size: Count(8) } }", "SAGA, minibatches of 8 without replacement"),
            ("Own { scheme: Other { size: Count(8) } }", "Own, scheme other (size 8)"),
            ("control variates around the mode", "control variates around the mode"),
        ] {
            assert_eq!(describe_estimator(debug), expected);
        }
    }
}

//! Files of reference moments: a CSV with `name,mean,sd` and, optionally, the Monte Carlo errors `mcse_mean,mcse_sd`.
//!
//! The first line may be a comment with the title of the workload. A file whose title is not that of the workload is an
//! error, so that the moments of other data are not a reference by accident.

use std::fmt::Write as _;
use std::path::Path;

use super::comparison::Moments;
use crate::Result;

const HEADER: &str = "name,mean,sd,mcse_mean,mcse_sd";

/// Writes `moments` of the workload called `title`.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(super) fn write(path: &Path, title: &str, moments: &[Moments]) -> Result<()> {
    std::fs::write(path, to_text(title, moments)).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("written: {}", path.display());
    Ok(())
}

/// Reads the moments of the workload called `title`.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is malformed, or belongs to another workload.
pub(super) fn read(path: &Path, title: &str) -> Result<Vec<Moments>> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    from_text(&text, title).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn to_text(title: &str, moments: &[Moments]) -> String {
    let mut text = format!("# {title}\n{HEADER}\n");
    for Moments { name, mean, sd, mcse_mean, mcse_sd } in moments {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{name},{mean},{sd},{mcse_mean},{mcse_sd}");
    }
    text
}

fn from_text(text: &str, title: &str) -> Result<Vec<Moments>> {
    let mut moments = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(found) = line.strip_prefix('#').map(str::trim) {
            if found != title {
                return Err(format!("the moments are those of `{found}`, not of `{title}`").into());
            }
        } else if !line.starts_with("name,") {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            let number = |index: usize| -> Result<f64> {
                let field = fields.get(index).ok_or_else(|| format!("`{line}` has too few fields"))?;
                field.parse().map_err(|_| format!("`{field}` in `{line}` is not a number").into())
            };
            let optional = |index: usize| if fields.len() > index { number(index) } else { Ok(0.0) };
            let (mean, sd) = (number(1)?, number(2)?);
            if !(mean.is_finite() && sd.is_finite() && sd > 0.0) {
                return Err(format!("`{line}` needs a finite mean and a positive standard deviation").into());
            }
            let (mcse_mean, mcse_sd) = (optional(3)?, optional(4)?);
            moments.push(Moments { name: fields[0].to_owned(), mean, sd, mcse_mean, mcse_sd });
        }
    }
    if moments.is_empty() { Err("there are no moments".into()) } else { Ok(moments) }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::Moments;
    use super::{from_text, to_text};

    #[test]
    fn moments_are_read_as_they_were_written() {
        let x = Moments { name: "beta[0]".into(), mean: 0.1 + 0.2, sd: 1e-7, mcse_mean: 0.25, mcse_sd: 0.125 };
        let text = to_text("a, N = 3", std::slice::from_ref(&x));
        assert_eq!(from_text(&text, "a, N = 3").unwrap(), [x]);
        assert!(from_text(&text, "b").unwrap_err().to_string().contains("not of `b`"));
    }

    #[test]
    fn monte_carlo_errors_are_optional() {
        let moments = from_text("name,mean,sd\nbias,1,2\n", "anything").unwrap();
        assert_eq!((moments[0].mean, moments[0].sd, moments[0].mcse_mean), (1.0, 2.0, 0.0));
        for wrong in ["", "name,mean,sd\n", "bias,1\n", "bias,1,0\n", "bias,1,two\n"] {
            assert!(from_text(wrong, "anything").is_err(), "{wrong}");
        }
    }
}

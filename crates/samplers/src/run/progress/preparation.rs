//! The stages of a run before its chains: see [`PreparationStage`].

use std::fmt;
use std::time::Duration;

use super::in_words;

/// A stage of a run before its chains: the search for the posterior mode, or the choice of settings.
///
/// # Examples
///
/// ```
/// use sgmcmc::run::PreparationStage;
/// use std::time::Duration;
///
/// let begins = PreparationStage { name: "search for the posterior mode", ended_after: None };
/// assert_eq!(begins.to_string(), "search for the posterior mode …");
/// let ended = PreparationStage { ended_after: Some(Duration::from_secs(3)), ..begins };
/// assert_eq!(ended.to_string(), "search for the posterior mode: 3 s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreparationStage {
    /// The name of the stage.
    pub name: &'static str,
    /// The time that the stage took, if it has ended.
    pub ended_after: Option<Duration>,
}

/// Shows the name, and the time if the stage has ended.
impl fmt::Display for PreparationStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ended_after {
            None => write!(f, "{} …", self.name),
            Some(time) if time.as_secs() == 0 => write!(f, "{}: {:.1} s", self.name, time.as_secs_f64()),
            Some(time) => write!(f, "{}: {}", self.name, in_words(time)),
        }
    }
}

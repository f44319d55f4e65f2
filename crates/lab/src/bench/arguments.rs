//! The arguments of a benchmark: an engine and workloads.

use std::error::Error;

use crate::bench::engine::Engine;
use crate::bench::workloads::NAMES;

/// `[--engine compiled|eager|analytic] [workload…]`; without workloads, all workloads of the engine.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) engine: Engine,
    pub(crate) workloads: Vec<&'static str>,
}

impl Arguments {
    /// Parses the command line.
    ///
    /// # Errors
    ///
    /// Returns an error if an engine or a workload is unknown.
    pub(crate) fn parse(words: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut engine = Engine::Compiled;
        let mut workloads = Vec::new();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if word == "--engine" {
                engine = Engine::from_name(words.next().ok_or("--engine needs a name")?)?;
            } else {
                let known = NAMES.iter().find(|name| **name == word);
                workloads.push(*known.ok_or_else(|| format!("no workload `{word}`; there are {}", NAMES.join(", ")))?);
            }
        }
        if workloads.is_empty() {
            workloads.extend(NAMES);
        }
        if engine == Engine::Analytic {
            workloads.retain(|name| crate::bench::analytic::NAMES.contains(name));
        }
        Ok(Self { engine, workloads })
    }

    /// Returns the same arguments for a benchmark of closures.
    ///
    /// # Errors
    ///
    /// Returns an error if the engine is the analytic one, which does not run closures.
    pub(crate) fn require_closures(self) -> Result<Self, Box<dyn Error>> {
        match self.engine {
            Engine::Analytic => Err("the analytic engine has `steps` and `allocs` only".into()),
            _ => Ok(self),
        }
    }
}

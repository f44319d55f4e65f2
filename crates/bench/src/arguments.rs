//! What the command line asks for: an engine and some workloads.

use std::error::Error;

use crate::engine::Engine;
use crate::workloads::NAMES;

/// `[--engine compiled|eager|analytic] [workload…]`; all workloads of the engine unless some are named.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) engine: Engine,
    pub(crate) workloads: Vec<&'static str>,
}

impl Arguments {
    pub(crate) fn read(words: &[String]) -> Result<Self, Box<dyn Error>> {
        let mut engine = Engine::Compiled;
        let mut workloads = Vec::new();
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if word == "--engine" {
                engine = Engine::named(words.next().ok_or("--engine needs a name")?)?;
            } else {
                let known = NAMES.iter().find(|name| **name == word);
                workloads.push(*known.ok_or_else(|| format!("no workload `{word}`; there are {}", NAMES.join(", ")))?);
            }
        }
        if workloads.is_empty() {
            workloads.extend(NAMES);
        }
        if engine == Engine::Analytic {
            workloads.retain(|name| crate::analytic::NAMES.contains(name));
        }
        Ok(Self { engine, workloads })
    }

    /// The same, unless it asks for the analytic engine, which does not run closures.
    pub(crate) fn closures(self) -> Result<Self, Box<dyn Error>> {
        match self.engine {
            Engine::Analytic => Err("the analytic engine has `steps` and `allocs` only".into()),
            _ => Ok(self),
        }
    }
}

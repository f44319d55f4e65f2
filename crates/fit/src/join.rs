//! Chains of several runs as one fit.

use sgmcmc_gradient::{Error, Result};

use crate::info::RunInfo;
use crate::{Bias, Fit};

impl Fit {
    /// Returns this fit with the chains of `other` after its own, for instance of a run with another seed.
    ///
    /// Settings of the run in which the two fits differ are left out. Arrays that were stored with either fit, such as
    /// log-likelihoods, are left out, because they belong to the chains of one fit.
    ///
    /// # Errors
    ///
    /// Returns an error if the names or the shapes of the parameters differ, or if the runs have seen different shards of
    /// a data set. Shards are combined, not joined.
    ///
    /// # Examples
    ///
    /// ```
    /// use sgmcmc::prelude::*;
    ///
    /// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
    /// let run = |seed| hmc(&model, &Dataset::none(), 0.025).seed(seed).chains(2).sample(&zeros([2]), 50);
    /// let fit = run(1)?.join_chains(run(2)?)?;
    /// assert_eq!(fit.chains().len(), 4);
    /// # Ok::<(), sgmcmc::Error>(())
    /// ```
    pub fn join_chains(mut self, other: Self) -> Result<Self> {
        self.layout.check_same(&other.layout)?;
        if self.info.shard != other.info.shard {
            let reason = "the runs have seen different shards of the data; combine their fits instead".into();
            return Err(Error::Draws { reason });
        }
        self.info = joined(self.info, other.info);
        self.chains.extend(other.chains);
        self.outcomes.extend(other.outcomes);
        self.groups.clear();
        if self.mode != other.mode {
            self.mode = None;
        }
        Ok(self)
    }
}

/// Returns the settings that two runs share, and the costs of both.
fn joined(one: RunInfo, other: RunInfo) -> RunInfo {
    let text = |a: String, b: &String| if a == *b { a } else { String::new() };
    let join = |mut a: Vec<u64>, b: Vec<u64>| {
        a.extend(b);
        a
    };
    RunInfo {
        algorithm: text(one.algorithm, &other.algorithm),
        gradient: text(one.gradient, &other.gradient),
        step_size: text(one.step_size, &other.step_size),
        observations: if one.observations == other.observations { one.observations } else { 0 },
        minibatch: if one.minibatch == other.minibatch { one.minibatch } else { None },
        seed: one.seed,
        burn_in: one.burn_in.min(other.burn_in),
        thin: if one.thin == other.thin { one.thin } else { 0 },
        interleaved: if one.interleaved == other.interleaved { one.interleaved } else { 1 },
        iterations: join(one.iterations, other.iterations),
        gradients: join(one.gradients, other.gradients),
        undefined: join(one.undefined, other.undefined),
        seconds: [one.seconds, other.seconds].concat(),
        planned: if one.planned == other.planned { one.planned } else { None },
        bias: if one.bias == other.bias { one.bias } else { Bias::Unknown },
        tuning: if one.tuning == other.tuning { one.tuning } else { None },
        shard: one.shard,
        communication: if one.communication == other.communication { one.communication } else { None },
        version: text(one.version, &other.version),
    }
}

//! A chain on its way from one rank to another.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_gradient::ChainRng;

use crate::collective::{Collective, Incoming, Outgoing, Result};

/// Everything that a chain takes with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Traveler<S> {
    /// The number of the chain.
    pub(super) chain: usize,
    /// The state of the algorithm.
    pub(super) state: S,
    pub(super) rng: ChainRng,
    /// The number of steps so far.
    pub(super) iteration: u64,
    /// The number of gradients so far.
    pub(super) gradients: u64,
}

impl<S: Serialize + DeserializeOwned> Traveler<S> {
    /// Sends this chain to rank `to`, and receives one from rank `from`.
    pub(super) fn hop(self, ranks: &dyn Collective, to: usize, from: usize) -> Result<Self> {
        if to == ranks.rank() {
            return Ok(self);
        }
        let bytes = encode(&self)?;
        let (length, mut arriving) = ((bytes.len() as u64).to_le_bytes(), [0; 8]);
        let lengths = &mut [Incoming { from, bytes: &mut arriving }];
        ranks.exchange(&[Outgoing { to, bytes: &length }], lengths, &mut || ())?;
        let mut received = vec![0; u64::from_le_bytes(arriving) as usize];
        let place = &mut [Incoming { from, bytes: &mut received }];
        ranks.exchange(&[Outgoing { to, bytes: &bytes }], place, &mut || ())?;
        Ok(decode(&received)?)
    }
}

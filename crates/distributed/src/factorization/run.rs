//! Runs of a sampler that keep draws.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use sgmcmc_fit::codec::{decode, encode};
use sgmcmc_fit::sink::Draw;
use sgmcmc_fit::{Bias, ChainDraws, Communication, Fit, RunInfo};
use sgmcmc_gradient::{Layout, settings};

use super::likelihood::EntryLikelihood;
use super::sampler::{BlockSampler, Factors};
use crate::checkpoint::RunCheckpoints;
use crate::collective::{Result, numbers};

/// The length of a run of a [`BlockSampler`].
///
/// # Examples
///
/// See [`BlockedFactorization`](super::BlockedFactorization).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRun {
    /// The number of draws of all interleaved chains together, rounded up to a multiple of their number.
    pub draws: usize,
    /// The number of iterations before the first draw.
    pub burn_in: u64,
    /// The number of rounds of all interleaved chains per draw of each.
    pub thin: u64,
}

/// The state of a run in its checkpoints.
#[derive(Serialize, Deserialize)]
struct RunState {
    #[serde(with = "serde_bytes")]
    sampler: Vec<u8>,
    /// The time of the run so far.
    seconds: f64,
}

impl<L: EntryLikelihood> BlockSampler<L> {
    /// Makes draws of the factors and gathers them on rank 0, as the parameters `w` and `h`. Returns `None` on the other
    /// ranks.
    ///
    /// It is for matrices whose draws fit in the memory of rank 0. [`BlockPredictions`](super::BlockPredictions) summarize larger
    /// ones. With checkpoints, the run resumes from the last epoch, and its draws are those of a run without interruption, bit
    /// for bit.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`step`](Self::step), and an error if a checkpoint cannot be used.
    pub fn sample(&mut self, run: &BlockRun, mut checkpoints: Option<RunCheckpoints<'_>>) -> Result<Option<Fit>> {
        settings::at_least("thin", run.thin, 1, "take at least 1 iteration per draw")?;
        let began = Instant::now();
        let chains = self.interleaved_chains();
        let layout = self.layout()?;
        let draws = run.draws.div_ceil(chains) * chains;
        let mut values: Vec<f64> = Vec::new();
        let (mut saved, mut before) = (0, 0.0);
        if let Some(RunCheckpoints { store, .. }) = &mut checkpoints
            && let Some(resumed) = store.resume()?
        {
            let RunState { sampler, seconds } = decode(&resumed.state)?;
            self.restore(&sampler)?;
            before = seconds;
            values = numbers(&resumed.journal);
            saved = values.len();
        }
        let end = run.burn_in + run.thin * draws as u64;
        while self.iteration() < end {
            self.step()?;
            let t = self.iteration();
            let after = t.saturating_sub(run.burn_in);
            if after > 0
                && after.div_ceil(chains as u64).is_multiple_of(run.thin)
                && let Some(Factors { rows, columns }) = self.factors()?
            {
                values.push(t as f64);
                values.push(self.model.step_size.at(t - 1));
                values.extend(rows.into_iter().chain(columns));
            }
            if let Some(RunCheckpoints { store, every }) = &mut checkpoints
                && (t.is_multiple_of((*every).max(1)) || t == end)
            {
                let seconds = before + began.elapsed().as_secs_f64();
                let state = encode(&RunState { sampler: self.save()?, seconds })?;
                store.save(&state, bytemuck::cast_slice(&values[saved..]))?;
                saved = values.len();
            }
        }
        let communication = self.entries.ranks.communication_of_all()?;
        if self.entries.ranks.rank() != 0 {
            return Ok(None);
        }
        let seconds = before + began.elapsed().as_secs_f64();
        self.fit(layout, &values, draws, RunLength { run: *run, seconds, communication }).map(Some)
    }

    /// Returns the layout of the factors.
    fn layout(&self) -> Result<Layout> {
        let (grid, factors) = (&self.entries.grid, self.model.factors);
        let leaves = [
            ("w".to_owned(), vec![grid.row_count(), factors], None),
            ("h".to_owned(), vec![grid.column_count(), factors], None),
        ];
        Ok(Layout::new(leaves)?)
    }

    /// Returns the fit of the recorded draws.
    fn fit(&self, layout: Layout, values: &[f64], draws: usize, length: RunLength) -> Result<Fit> {
        let (width, chains) = (layout.value_count(), self.interleaved_chains());
        let mut recorded = vec![ChainDraws::new(width, Vec::new()); chains];
        for row in values.chunks_exact(width + 2).take(draws) {
            let (iteration, weight) = (row[0] as u64, row[1]);
            let chain = (iteration - 1) as usize % chains;
            let draw = Draw { iteration, values: &row[2..], weight, log_posterior: 0.0, stats: &[] };
            recorded[chain].push(&draw)?;
        }
        let gradients = if chains > 1 { 2 } else { 1 };
        let share = self.iteration() / chains as u64;
        let info = RunInfo {
            algorithm: format!("{:?}", self.model.algorithm),
            gradient: format!("Part {{ blocks: {} }}", self.entries.grid.blocks()),
            step_size: format!("{:?} at temperature 1", self.model.step_size),
            observations: self.total() as usize,
            minibatch: Some(self.total() as f64 / self.entries.grid.blocks() as f64),
            seed: self.model.seed,
            burn_in: length.run.burn_in,
            thin: length.run.thin,
            interleaved: chains,
            iterations: vec![share; chains],
            gradients: vec![gradients * share; chains],
            undefined: vec![0; chains],
            seconds: vec![length.seconds / chains as f64; chains],
            bias: Bias::NotExamined("the bias of a blocked factorization is not predicted".into()),
            communication: (self.entries.ranks.size() > 1).then_some(length.communication),
            version: env!("CARGO_PKG_VERSION").into(),
            ..RunInfo::default()
        };
        Ok(Fit::new(layout, recorded)?.with_info(info))
    }
}

/// The description of the run in its fit.
struct RunLength {
    run: BlockRun,
    seconds: f64,
    communication: Communication,
}

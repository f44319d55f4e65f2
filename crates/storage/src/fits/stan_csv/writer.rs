//! The writers of CmdStan's text format.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_fit::{ChainOutcome, Fit, RunInfo};
use sgmcmc_gradient::Result;

use super::OWN;
use super::names::{stat_columns, value_columns};
use crate::fits::chain_file::{ChainFile, no_position};
use crate::fits::extra::Extra;
use crate::fits::table::{each_draw, stat_names};

/// A sink that writes the draws of one chain to a file in CmdStan's format.
///
/// Lines are written in blocks of at most 1000. A killed run loses the block that is being filled, and nothing that was
/// flushed at a checkpoint. A run that is resumed from a checkpoint continues the file. Give the chains of a run files
/// in one directory without other files, `chain-0.csv` and so on.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::{self, stan_csv::StanCsvDraws};
///
/// let directory = std::env::temp_dir().join("sgmcmc-doc-stan");
/// std::fs::create_dir_all(&directory)?;
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let file = |chain: usize| StanCsvDraws::new(directory.join(format!("chain-{chain}.csv")));
/// hmc(&model, &Dataset::none(), 0.5).chains(2).sample_into(&zeros([2]), 20, file)?;
/// assert_eq!(fits::open(&directory)?.chains().len(), 2);
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Debug)]
pub struct StanCsvDraws {
    file: ChainFile,
    info: Option<RunInfo>,
    /// The outcome of the chain, if it is known.
    outcome: Option<ChainOutcome>,
    /// The offset of the number of draws in the file.
    count_offset: u64,
    /// The value in each column.
    order: Vec<usize>,
    /// The number of draws so far.
    draws: u64,
    /// The sampling time before the chain was resumed, in seconds.
    seconds: f64,
    began: Instant,
}

impl StanCsvDraws {
    /// Creates a sink that writes to the file at `path`. The file is created when the chain begins. cmdstanpy requires
    /// that the name ends in `.csv`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            file: ChainFile::new(path.into()),
            info: None,
            outcome: None,
            count_offset: 0,
            order: Vec::new(),
            draws: 0,
            seconds: 0.0,
            began: Instant::now(),
        }
    }

    /// Sets the run information for the comments.
    #[must_use]
    pub fn info(self, info: RunInfo) -> Self {
        Self { info: Some(info), ..self }
    }

    /// Writes the current block and updates the number of draws.
    fn write_block(&mut self) -> Result<()> {
        let footer = footer(self.elapsed());
        if !self.file.write_block(footer.as_bytes())? {
            return Ok(());
        }
        self.file.overwrite(self.count_offset, count(self.draws).as_bytes())
    }

    /// Returns the sampling time in seconds.
    fn elapsed(&self) -> f64 {
        self.seconds + self.began.elapsed().as_secs_f64()
    }
}

impl Sink for StanCsvDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        let mut extra = Extra::from_schema(schema, self.info.clone());
        extra.outcomes.extend(self.outcome.clone());
        let (head, count_offset) = head(&extra, schema.chain);
        self.count_offset = count_offset as u64;
        self.order = value_columns(&schema.layout).into_iter().map(|(_, value)| value).collect();
        (self.draws, self.seconds, self.began) = (0, 0.0, Instant::now());
        self.file.begin(head.into_bytes(), 3 + schema.stats.len() + self.order.len())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        push(self.file.block(), draw, &self.order);
        self.draws += 1;
        if self.file.count_draw() { self.write_block() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.write_block()?;
        self.file.sync()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.file.files()
    }

    fn save(&self) -> Result<Vec<u8>> {
        let numbers = [self.draws, self.elapsed().to_bits()];
        Ok(self.file.save().into_iter().chain(numbers.into_iter().flat_map(u64::to_le_bytes)).collect())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let ([position, draws, seconds], []) = saved.as_chunks::<8>() else { return Err(no_position()) };
        (self.draws, self.seconds) = (u64::from_le_bytes(*draws), f64::from_le_bytes(*seconds));
        self.file.restore(position)
    }

    fn finish(mut self) -> PathBuf {
        // Nothing is left to write after a flush. Errors were reported when the draws were recorded or flushed.
        if self.draws == 0 || !self.file.block().is_empty() {
            let _ = self.flush();
        }
        self.file.path().to_path_buf()
    }
}

/// Writes a whole fit to the files `chain-0.csv` and so on in the directory `path`, which appears when it is complete.
///
/// # Errors
///
/// Returns an error if the directory is not empty, or a file cannot be written.
///
/// # Examples
///
/// ```
/// use sgmcmc::prelude::*;
/// use sgmcmc::storage::fits::stan_csv;
///
/// let model = Model::density(|theta: Tensor<1>| theta.square().sum() * -0.5);
/// let fit = hmc(&model, &Dataset::none(), 0.5).sample(&zeros([2]), 20)?;
/// let path = std::env::temp_dir().join("sgmcmc-doc-write-stan.csv");
/// stan_csv::write(&fit, &path)?;
/// assert_eq!(stan_csv::read(&path)?.chains(), fit.chains());
/// # std::fs::remove_dir_all(path)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> crate::Result<()> {
    crate::fits::directory::save(path.as_ref(), |directory| write_into(fit, directory))
}

pub(in crate::fits) fn write_into(fit: &Fit, directory: &Path) -> crate::Result<()> {
    let (stats, chains) = (stat_names(fit), fit.chains().len());
    for (number, (chain, outcome)) in fit.chains().iter().zip(fit.outcomes()).enumerate() {
        let mut sink = StanCsvDraws::new(directory.join(format!("chain-{number}.csv"))).info(fit.info().clone());
        sink.outcome = Some(outcome.clone());
        let layout = fit.layout().clone();
        sink.begin(&Schema { layout, draws: chain.len(), chain: number, chains, stats: stats.clone() })?;
        sink.seconds = fit.info().seconds.get(number).copied().unwrap_or_default();
        each_draw(chain, &stats, |draw| sink.record(draw))?;
        sink.flush()?;
    }
    Ok(())
}

/// Returns the text before the first draw, and the offset of the number of draws in it.
fn head(extra: &Extra, chain: usize) -> (String, usize) {
    let info = extra.info.clone().unwrap_or_default();
    let mut head = String::from(
        "# stan_version_major = 2\n# stan_version_minor = 36\n# stan_version_patch = 0\n# model = sgmcmc_model\n\
         # method = sample (Default)\n#   sample\n#     num_samples = ",
    );
    let count_offset = head.len();
    // Writing to a string cannot fail.
    let _ = write!(
        head,
        "{}\n#     num_warmup = {}\n#     save_warmup = false\n#     thin = 1 (Default)\n\
         #     algorithm = fixed_param\n#         metric = unit_e\n#         max_depth = 10\n\
         # id = {}\n# random\n#   seed = {}\n{OWN}{}\nlp__",
        count(0),
        // The warm-up is not saved. cmdstanpy rejects 0, although `fixed_param` has no warm-up.
        info.burn_in.max(1),
        chain + 1,
        info.seed,
        extra.to_json()
    );
    for name in
        stat_columns(&extra.stats).into_iter().chain(value_columns(&extra.layout).into_iter().map(|(name, _)| name))
    {
        head.push(',');
        head.push_str(&name);
    }
    head.push('\n');
    (head, count_offset)
}

/// Returns the number of draws in a field of fixed width, so that it can be overwritten.
fn count(draws: u64) -> String {
    format!("{draws:<20}")
}

/// Returns the comments after the last draw.
fn footer(seconds: f64) -> String {
    format!(
        "# \n#  Elapsed Time: 0 seconds (Warm-up)\n#                {seconds:.3} seconds (Sampling)\n\
         #                {seconds:.3} seconds (Total)\n# \n"
    )
}

/// Appends the line of a draw.
fn push(line: &mut Vec<u8>, draw: &Draw<'_>, order: &[usize]) {
    // The shortest form that reads back exactly. Writing to a vector cannot fail.
    let _ = write!(line, "{:?},{:?},{}", draw.log_posterior, draw.weight, draw.iteration);
    for number in draw.stats.iter().chain(order.iter().map(|value| &draw.values[*value])) {
        let _ = write!(line, ",{number:?}");
    }
    line.push(b'\n');
}

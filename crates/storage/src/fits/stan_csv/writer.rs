//! Draws into CmdStan's text format.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sgmcmc_core::{Error, Result};
use sgmcmc_samplers::run::{Ending, Fit, RunInfo};
use sgmcmc_samplers::sink::{Draw, Schema, Sink};

use super::OWN;
use super::names::{stat_columns, value_columns};
use crate::fits::append::Append;
use crate::fits::extra::Extra;
use crate::fits::table::{draws_per_block, each_draw, stat_names};

/// Writes the draws of one chain to a file as they are made.
///
/// Lines are written in blocks of at most 1000; what is lost when a run is killed is the block being filled, nothing at a
/// checkpoint. With checkpoints the file goes on where the saved chain was. Give the chains of a run files in one directory that has
/// nothing else, `chain-1.csv` and so on.
#[derive(Debug)]
pub struct StanCsvDraws {
    file: Append,
    info: Option<RunInfo>,
    /// How the chain ended, if that is known.
    ending: Option<Ending>,
    /// Written before the first line.
    head: String,
    /// Where in the head the number of draws is.
    count_at: u64,
    /// The value in each column.
    order: Vec<usize>,
    lines: String,
    waiting: usize,
    block: usize,
    draws: u64,
    seconds: f64,
    began: Instant,
}

impl StanCsvDraws {
    /// Draws go to the file at `path`, which is made when the chain begins. The name must end in `.csv` for cmdstanpy.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            file: Append::new(path.into()),
            info: None,
            ending: None,
            head: String::new(),
            count_at: 0,
            order: Vec::new(),
            lines: String::new(),
            waiting: 0,
            block: 1,
            draws: 0,
            seconds: 0.0,
            began: Instant::now(),
        }
    }

    /// How the run is made, for the comments.
    #[must_use]
    pub fn info(self, info: RunInfo) -> Self {
        Self { info: Some(info), ..self }
    }

    fn put(&mut self) -> Result<()> {
        let bytes = std::mem::take(&mut self.head) + &std::mem::take(&mut self.lines);
        self.waiting = 0;
        if bytes.is_empty() {
            return Ok(());
        }
        let footer = footer(self.elapsed());
        self.file.write(bytes.as_bytes(), footer.as_bytes())?;
        self.file.patch(self.count_at, count(self.draws).as_bytes())
    }

    fn elapsed(&self) -> f64 {
        self.seconds + self.began.elapsed().as_secs_f64()
    }
}

impl Sink for StanCsvDraws {
    type Output = PathBuf;

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.file.begin()?;
        let mut extra = Extra::streamed(schema, self.info.clone());
        extra.endings.extend(self.ending.clone());
        let (head, count_at) = head(&extra, schema.chain);
        (self.head, self.count_at) = (head, count_at as u64);
        self.order = value_columns(&schema.layout).into_iter().map(|(_, value)| value).collect();
        self.block = draws_per_block(3 + schema.stats.len() + self.order.len());
        self.lines.clear();
        (self.waiting, self.draws, self.seconds, self.began) = (0, 0, 0.0, Instant::now());
        Ok(())
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        push(&mut self.lines, draw, &self.order);
        self.draws += 1;
        self.waiting += 1;
        if self.waiting >= self.block { self.put() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.put()?;
        self.file.sync()
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.path().to_path_buf()]
    }

    fn save(&self) -> Result<Vec<u8>> {
        let numbers = [self.file.end(), self.draws, self.elapsed().to_bits()];
        Ok(numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        let ([end, draws, seconds], []) = saved.as_chunks::<8>() else {
            return Err(Error::Checkpoint { reason: "it has no place in the file of draws".into() });
        };
        let end = u64::from_le_bytes(*end);
        if end > 0 {
            self.head.clear();
        }
        (self.draws, self.seconds) = (u64::from_le_bytes(*draws), f64::from_le_bytes(*seconds));
        self.file.restore(end)
    }

    fn finish(mut self) -> PathBuf {
        // Whatever could not be written was reported when it was recorded or flushed.
        let _ = self.flush();
        self.file.path().to_path_buf()
    }
}

/// Writes a whole fit to the directory `path`, which appears when it is complete: `chain-1.csv` and so on.
///
/// # Errors
///
/// If the directory is not empty, or a file cannot be written.
pub fn write(fit: &Fit, path: impl AsRef<Path>) -> crate::Result<()> {
    crate::fits::directory::save(path.as_ref(), |directory| write_into(fit, directory))
}

pub(in crate::fits) fn write_into(fit: &Fit, directory: &Path) -> crate::Result<()> {
    let stats = stat_names(fit);
    for (number, (chain, ending)) in fit.chains().iter().zip(fit.endings()).enumerate() {
        let mut sink = StanCsvDraws::new(directory.join(format!("chain-{}.csv", number + 1))).info(fit.info().clone());
        sink.ending = Some(ending.clone());
        let layout = fit.layout().clone();
        sink.begin(&Schema { layout, draws: chain.len(), chain: number, stats: stats.clone() })?;
        sink.seconds = fit.info().seconds.get(number).copied().unwrap_or_default();
        each_draw(chain, &stats, |draw| sink.record(draw))?;
        sink.flush()?;
    }
    Ok(())
}

/// All that stands above the first line of numbers, and where in it the number of draws is.
fn head(extra: &Extra, chain: usize) -> (String, usize) {
    let info = extra.info.clone().unwrap_or_default();
    let mut head = String::from(
        "# stan_version_major = 2\n# stan_version_minor = 36\n# stan_version_patch = 0\n# model = sgmcmc_model\n\
         # method = sample (Default)\n#   sample\n#     num_samples = ",
    );
    let count_at = head.len();
    // Writing to a string cannot fail.
    let _ = write!(
        head,
        "{}\n#     num_warmup = {}\n#     save_warmup = false\n#     thin = 1 (Default)\n\
         #     algorithm = fixed_param\n#         metric = unit_e\n#         max_depth = 10\n\
         # id = {}\n# random\n#   seed = {}\n{OWN}{}\nlp__",
        count(0),
        // Not saved. cmdstanpy refuses 0, although it is what `fixed_param` has.
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
    (head, count_at)
}

/// As wide for any number of draws, so that it can be replaced.
fn count(draws: u64) -> String {
    format!("{draws:<20}")
}

fn footer(seconds: f64) -> String {
    format!(
        "# \n#  Elapsed Time: 0 seconds (Warm-up)\n#                {seconds:.3} seconds (Sampling)\n\
         #                {seconds:.3} seconds (Total)\n# \n"
    )
}

fn push(line: &mut String, draw: &Draw<'_>, order: &[usize]) {
    // The shortest form that reads back exactly. Writing to a string cannot fail.
    let _ = write!(line, "{:?},{:?},{}", draw.log_posterior, draw.weight, draw.iteration);
    for number in draw.stats.iter().chain(order.iter().map(|value| &draw.values[*value])) {
        let _ = write!(line, ",{number:?}");
    }
    line.push('\n');
}

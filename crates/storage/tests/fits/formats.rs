//! The formats, and the sinks of their chains.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_gradient::Result;
use sgmcmc_storage::fits::draws_csv::CsvDraws;
use sgmcmc_storage::fits::json::JsonFit;
use sgmcmc_storage::fits::native::NativeDraws;
#[cfg(feature = "parquet")]
use sgmcmc_storage::fits::parquet::ParquetDraws;
use sgmcmc_storage::fits::stan_csv::StanCsvDraws;
#[cfg(feature = "zarr")]
use sgmcmc_storage::fits::zarr::{ZarrDraws, ZarrFit};
use sgmcmc_storage::fits::{self, Format};

/// The endings of the formats that can be saved and opened and are compiled in.
pub static ENDINGS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let formats = fits::formats().filter(|format| format.can_save() && format.can_open() && format.is_available());
    formats.map(Format::extension).collect()
});

/// The formats with a streaming sink that are compiled in.
pub static STREAMED: LazyLock<Vec<Format>> = LazyLock::new(|| {
    let streamed = |format: &Format| format.is_available() && !matches!(format, Format::Arrow | Format::NetCdf);
    fits::formats().filter(streamed).collect()
});

/// The endings of the formats that can be saved and have a streaming sink.
pub static STREAMED_ENDINGS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| STREAMED.iter().filter(|format| format.can_save()).map(|format| format.extension()).collect());

/// A sink of any format.
pub enum AnySink {
    Native(NativeDraws),
    Stan(StanCsvDraws),
    Csv(CsvDraws),
    #[cfg(feature = "parquet")]
    Parquet(ParquetDraws),
    #[cfg(feature = "zarr")]
    Zarr(ZarrDraws),
}

macro_rules! each {
    ($self:expr, $sink:ident => $act:expr) => {
        match $self {
            AnySink::Native($sink) => $act,
            AnySink::Stan($sink) => $act,
            AnySink::Csv($sink) => $act,
            #[cfg(feature = "parquet")]
            AnySink::Parquet($sink) => $act,
            #[cfg(feature = "zarr")]
            AnySink::Zarr($sink) => $act,
        }
    };
}

impl Sink for AnySink {
    type Output = ();

    fn begin(&mut self, schema: &Schema) -> Result<()> {
        each!(self, sink => sink.begin(schema))
    }

    fn record(&mut self, draw: &Draw<'_>) -> Result<()> {
        each!(self, sink => sink.record(draw))
    }

    fn flush(&mut self) -> Result<()> {
        each!(self, sink => sink.flush())
    }

    fn save(&self) -> Result<Vec<u8>> {
        each!(self, sink => sink.save())
    }

    fn restore(&mut self, saved: &[u8]) -> Result<()> {
        each!(self, sink => sink.restore(saved))
    }

    fn finish(self) {
        each!(self, sink => {
            sink.finish();
        });
    }
}

/// Returns a function that creates the sink of each chain of a run that writes to the directory `at`.
pub fn sinks(format: Format, at: &Path) -> Box<dyn Fn(usize) -> AnySink> {
    let at = at.to_path_buf();
    match format {
        Format::Native => {
            std::fs::create_dir_all(&at).unwrap();
            Box::new(move |chain| AnySink::Native(NativeDraws::new(at.join(format!("chain-{chain}.sgmcmc")))))
        }
        // A killed run leaves the native files.
        Format::Json => {
            let fit = JsonFit::new(at).unwrap();
            Box::new(move |chain| AnySink::Native(fit.chain(chain)))
        }
        Format::DrawsCsv => {
            std::fs::create_dir_all(&at).unwrap();
            Box::new(move |chain| AnySink::Csv(CsvDraws::new(at.join(format!("draws-{chain}.csv")))))
        }
        Format::StanCsv => {
            std::fs::create_dir_all(&at).unwrap();
            Box::new(move |chain| AnySink::Stan(StanCsvDraws::new(at.join(format!("chain-{chain}.csv")))))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => Box::new(move |_| AnySink::Parquet(ParquetDraws::new(&at))),
        #[cfg(feature = "zarr")]
        Format::Zarr => {
            let fit = ZarrFit::new(at).unwrap();
            Box::new(move |_| AnySink::Zarr(fit.chain()))
        }
        _ => unreachable!("{format:?}"),
    }
}

/// Returns the path of the draws of a run that writes to `at`, before its end.
pub fn draws_of_run(format: Format, at: &Path) -> PathBuf {
    if format == Format::Json {
        let mut name = at.as_os_str().to_owned();
        name.push(".parts");
        return name.into();
    }
    at.to_path_buf()
}

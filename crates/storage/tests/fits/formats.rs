//! Every format: its ending, and the sinks of its chains.

use std::path::Path;

use sgmcmc_core::Result;
use sgmcmc_samplers::sink::{Draw, Schema, Sink};
use sgmcmc_storage::fits::json::JsonFit;
use sgmcmc_storage::fits::native::NativeDraws;
#[cfg(feature = "parquet")]
use sgmcmc_storage::fits::parquet::ParquetDraws;
use sgmcmc_storage::fits::stan_csv::StanCsvDraws;
#[cfg(feature = "zarr")]
use sgmcmc_storage::fits::zarr::{ZarrDraws, ZarrFit};

pub const ENDINGS: &[&str] = &[
    "sgmcmc",
    "json",
    "csv",
    #[cfg(feature = "parquet")]
    "parquet",
    #[cfg(feature = "zarr")]
    "zarr",
];

/// A sink of any format.
pub enum AnySink {
    Native(NativeDraws),
    Stan(StanCsvDraws),
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

/// Makes the sink of each chain of a run that goes to the directory `at`.
pub fn sinks(ending: &str, at: &Path) -> Box<dyn Fn(usize) -> AnySink> {
    let at = at.to_path_buf();
    match ending {
        "sgmcmc" => {
            std::fs::create_dir_all(&at).unwrap();
            Box::new(move |chain| AnySink::Native(NativeDraws::new(at.join(format!("chain-{chain}.sgmcmc")))))
        }
        // What is left of a killed run are the parts.
        "json" => {
            let fit = JsonFit::new(at).unwrap();
            Box::new(move |chain| AnySink::Native(fit.chain(chain)))
        }
        "csv" => {
            std::fs::create_dir_all(&at).unwrap();
            Box::new(move |chain| AnySink::Stan(StanCsvDraws::new(at.join(format!("chain-{}.csv", chain + 1)))))
        }
        #[cfg(feature = "parquet")]
        "parquet" => Box::new(move |_| AnySink::Parquet(ParquetDraws::new(&at))),
        #[cfg(feature = "zarr")]
        "zarr" => {
            let fit = ZarrFit::new(at).unwrap();
            Box::new(move |_| AnySink::Zarr(fit.chain()))
        }
        _ => unreachable!("{ending}"),
    }
}

/// Where a run that goes to `at` has its draws while it is under way.
pub fn under_way(ending: &str, at: &Path) -> std::path::PathBuf {
    if ending == "json" { JsonFit::new(at).unwrap().parts() } else { at.to_path_buf() }
}

//! The draws of a chain have one writer at a time, in every format that a run writes.

use sgmcmc_fit::sink::Sink;
use sgmcmc_storage::fits::Format;

#[cfg(feature = "zarr")]
use crate::common::{assert_same_draws_in, fit};
use crate::common::{schema, with_draw};
use crate::formats::{STREAMED, sinks};

#[test]
fn a_second_writer_of_a_chain_is_an_error() {
    for format in STREAMED.iter().copied().filter(|format| *format != Format::Zarr) {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join(format!("run.{}", format.extension()));
        let make = sinks(format, &at);
        let mut first = make(0);
        first.begin(&schema(0, 10)).unwrap();
        with_draw(0, 0, |draw| first.record(draw)).unwrap();
        first.flush().unwrap();
        let error = make(0).begin(&schema(0, 10)).unwrap_err().to_string();
        assert!(error.contains("another chain or another process writes to it"), "{format:?}: {error}");
        // Another chain has files of its own.
        make(1).begin(&schema(1, 10)).unwrap();
        // The lock ends with the sink.
        first.finish();
        make(0).begin(&schema(0, 10)).unwrap();
    }
}

#[cfg(all(feature = "zarr", unix))]
#[test]
fn a_store_has_one_output_at_a_time() {
    use sgmcmc_storage::fits::{self, zarr::ZarrFit};

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zarr");
    let output = ZarrFit::new(&path).unwrap();
    let mut chains = [output.chain(), output.chain()];
    for (number, sink) in chains.iter_mut().enumerate() {
        sink.begin(&schema(number, 30)).unwrap();
        (0..30).for_each(|index| with_draw(number, index, |draw| sink.record(draw)).unwrap());
        sink.flush().unwrap();
    }
    drop(output);
    let error = ZarrFit::new(&path).unwrap_err().to_string();
    assert!(error.contains("run.zarr") && error.contains("another run or another process writes to it"), "{error}");
    // Readers need no lock.
    assert_same_draws_in(Format::Zarr, &fits::open(&path).unwrap(), &fit(&[30, 30]));
    for sink in chains {
        sink.finish();
    }
    ZarrFit::new(&path).unwrap();
}

#[cfg(feature = "zarr")]
#[test]
fn temporary_files_of_killed_writers_are_not_read_and_are_removed() {
    use sgmcmc_storage::fits::{self, zarr::ZarrFit};

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.zarr");
    fits::save(&fit(&[30, 20]), &path).unwrap();
    let left = path.join(".unfinished-1-0");
    std::fs::write(&left, "half a chunk").unwrap();
    assert_same_draws_in(Format::Zarr, &fits::open(&path).unwrap(), &fit(&[30, 20]));
    assert!(left.exists(), "a reader changed the store");
    ZarrFit::new(&path).unwrap();
    assert!(!left.exists());
    assert_same_draws_in(Format::Zarr, &fits::open(&path).unwrap(), &fit(&[30, 20]));
}

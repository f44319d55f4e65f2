//! A restored sink continues at its checkpoint and removes what was written later.

use sgmcmc_fit::sink::Sink;
use sgmcmc_storage::fits::{self, Format};

use crate::common::{assert_same_draws_in, fit, schema, with_draw};
use crate::formats::{STREAMED, draws_of_run, sinks};

const DRAWS: usize = 1300;

#[test]
fn a_restored_sink_removes_later_draws() {
    for format in STREAMED.iter().copied() {
        for (saved_at, lost_at) in [(0, 1100), (700, 800), (1000, 1250), (1234, 1234)] {
            let directory = tempfile::tempdir().unwrap();
            let at = directory.path().join(format!("run.{}", format.extension()));
            let saved = {
                let mut sink = sinks(format, &at)(0);
                sink.begin(&schema(0, DRAWS)).unwrap();
                (0..saved_at).for_each(|index| with_draw(0, index, |draw| sink.record(draw)).unwrap());
                sink.flush().unwrap();
                let saved = sink.save().unwrap();
                // These draws differ from those of the resumed chain and must not be read.
                (saved_at..lost_at).for_each(|index| with_draw(9, index, |draw| sink.record(draw)).unwrap());
                sink.flush().unwrap();
                saved
            };
            let mut sink = sinks(format, &at)(0);
            sink.begin(&schema(0, DRAWS)).unwrap();
            sink.restore(&saved).unwrap();
            for index in saved_at..DRAWS {
                with_draw(0, index, |draw| sink.record(draw)).unwrap();
                if index == saved_at + 10 {
                    sink.flush().unwrap();
                    let flushed = fits::open(draws_of_run(format, &at)).unwrap();
                    assert_same_draws_in(format, &flushed, &fit(&[index + 1]));
                }
            }
            sink.finish();
            assert_same_draws_in(format, &fits::open(draws_of_run(format, &at)).unwrap(), &fit(&[DRAWS]));
        }
    }
}

#[test]
fn a_new_run_replaces_an_old_one() {
    for format in STREAMED.iter().copied() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join(format!("run.{}", format.extension()));
        for draws in [2500, 100] {
            let mut sink = sinks(format, &at)(0);
            sink.begin(&schema(0, draws)).unwrap();
            (0..draws).for_each(|index| with_draw(0, index, |draw| sink.record(draw)).unwrap());
            sink.finish();
        }
        assert_same_draws_in(format, &fits::open(draws_of_run(format, &at)).unwrap(), &fit(&[100]));
    }
}

#[test]
fn an_invalid_checkpoint_is_an_error() {
    for format in STREAMED.iter().copied() {
        let directory = tempfile::tempdir().unwrap();
        let mut sink = sinks(format, &directory.path().join("run"))(0);
        sink.begin(&schema(0, 10)).unwrap();
        assert!(sink.restore(b"something else").is_err(), "{format:?}");
        let words = match format {
            Format::StanCsv => 3,
            Format::Parquet | Format::Zarr => 2,
            _ => 1,
        };
        // A position after the end of the file.
        let saved = 1_000_000_u64.to_le_bytes().repeat(words);
        let missing = sink.restore(&saved).unwrap_err().to_string();
        assert!(missing.contains("run"), "{format:?}: {missing}");
    }
}

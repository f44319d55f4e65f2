//! A sink that is restored goes on where it was saved, whatever was written after.

use sgmcmc_samplers::sink::Sink;
use sgmcmc_storage::fits;

use crate::common::{assert_same_draws, fit, schema, with_draw};
use crate::formats::{ENDINGS, sinks, under_way};

const DRAWS: usize = 1300;

#[test]
fn a_restored_sink_cuts_what_came_after() {
    for ending in ENDINGS {
        for (saved_at, lost_at) in [(0, 1100), (700, 800), (1000, 1250), (1234, 1234)] {
            let directory = tempfile::tempdir().unwrap();
            let at = directory.path().join(format!("run.{ending}"));
            let saved = {
                let mut sink = sinks(ending, &at)(0);
                sink.begin(&schema(0, DRAWS)).unwrap();
                (0..saved_at).for_each(|place| with_draw(0, place, |draw| sink.record(draw)).unwrap());
                sink.flush().unwrap();
                let saved = sink.save().unwrap();
                // Other draws than those that follow: they must not be seen again.
                (saved_at..lost_at).for_each(|place| with_draw(9, place, |draw| sink.record(draw)).unwrap());
                sink.flush().unwrap();
                saved
            };
            let mut sink = sinks(ending, &at)(0);
            sink.begin(&schema(0, DRAWS)).unwrap();
            sink.restore(&saved).unwrap();
            for place in saved_at..DRAWS {
                with_draw(0, place, |draw| sink.record(draw)).unwrap();
                if place == saved_at + 10 {
                    sink.flush().unwrap();
                    let there = fits::open(under_way(ending, &at)).unwrap();
                    assert_same_draws(&there, &fit(&[place + 1]));
                }
            }
            sink.finish();
            assert_same_draws(&fits::open(under_way(ending, &at)).unwrap(), &fit(&[DRAWS]));
        }
    }
}

#[test]
fn a_new_run_replaces_an_old_one() {
    for ending in ENDINGS {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join(format!("run.{ending}"));
        for draws in [2500, 100] {
            let mut sink = sinks(ending, &at)(0);
            sink.begin(&schema(0, draws)).unwrap();
            (0..draws).for_each(|place| with_draw(0, place, |draw| sink.record(draw)).unwrap());
            sink.finish();
        }
        assert_same_draws(&fits::open(under_way(ending, &at)).unwrap(), &fit(&[100]));
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    for ending in ENDINGS {
        let directory = tempfile::tempdir().unwrap();
        let mut sink = sinks(ending, &directory.path().join("run"))(0);
        sink.begin(&schema(0, 10)).unwrap();
        assert!(sink.restore(b"something else").is_err(), "{ending}");
        let mut far = 1_000_000_u64.to_le_bytes().to_vec();
        if *ending != "sgmcmc" && *ending != "json" {
            far = far.repeat(if *ending == "csv" { 3 } else { 2 });
        }
        let missing = sink.restore(&far).unwrap_err().to_string();
        assert!(missing.contains("run"), "{ending}: {missing}");
    }
}

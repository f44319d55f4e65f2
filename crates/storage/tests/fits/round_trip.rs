//! What is written reads back.

use sgmcmc_core::Layout;
use sgmcmc_samplers::run::{ChainDraws, Ending, Fit};
use sgmcmc_samplers::sink::{Draw, Sink};
use sgmcmc_storage::fits::{self, Format};

use crate::common::{assert_same_draws, chain, fit, layout, schema, with_draw};
use crate::formats::{ENDINGS, sinks};

#[test]
fn every_format_gives_back_every_number() {
    for ending in ENDINGS {
        for lengths in [&[25, 25][..], &[1], &[1001, 3]] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(format!("fit.{ending}"));
            let written = fit(lengths);
            fits::save(&written, &path).unwrap();
            assert_eq!(Format::of_content(&path).unwrap(), Format::of_name(&path).unwrap(), "{ending}");
            let read = fits::open(&path).unwrap();
            assert_same_draws(&read, &written);
            let names = |fit: &Fit| {
                let blocks = fit.layout().blocks().iter();
                blocks.map(|block| (block.name.clone(), block.shape.clone())).collect::<Vec<_>>()
            };
            // JSON has no place for names that a dimension has.
            if *ending == "json" {
                let mut expected = names(&written);
                expected[5].0 = "draw_".into();
                assert_eq!(names(&read), expected);
                assert_eq!(read.chains()[0].stat_names(), ["alpha", "lp_"]);
            } else {
                assert_eq!(read.layout(), written.layout(), "{ending}");
                assert_eq!(read.chains()[0].stat_names(), written.chains()[0].stat_names(), "{ending}");
                assert_eq!(read.info(), written.info(), "{ending}");
            }
        }
    }
}

#[test]
fn the_native_format_keeps_all() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fit.sgmcmc");
    let written = fit(&[20, 5]);
    fits::save(&written, &path).unwrap();
    let read = fits::open(&path).unwrap();
    assert_eq!(read.endings(), [Ending::Complete, Ending::Stopped]);
    assert_eq!((read.layout(), read.info()), (written.layout(), written.info()));
    assert!(read.layout().blocks()[0].constraint.is_some());
    // Replaced, not appended to.
    fits::save(&written, &path).unwrap();
    assert_same_draws(&fits::open(&path).unwrap(), &written);
}

#[test]
fn streamed_draws_are_those_of_a_fit() {
    for ending in ENDINGS {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join(format!("run.{ending}"));
        let make = sinks(ending, &at);
        for number in 0..2 {
            let mut sink = make(number);
            sink.begin(&schema(number, 1500)).unwrap();
            (0..1500).for_each(|place| with_draw(number, place, |draw| sink.record(draw)).unwrap());
            sink.flush().unwrap();
            sink.finish();
        }
        if *ending == "json" {
            fits::json::JsonFit::new(&at).unwrap().finish().unwrap();
        }
        assert_same_draws(&fits::open(&at).unwrap(), &fit(&[1500, 1500]));
    }
}

#[test]
fn a_fit_without_parameters_or_stats_is_no_trouble() {
    let layout = Layout::new([("x".to_owned(), vec![2], None)]).unwrap();
    let mut chain = ChainDraws::new(2, Vec::new());
    chain.push(&Draw { iteration: 1, values: &[1.0, 2.0], weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
    let written = Fit::new(layout, vec![chain]).unwrap();
    for ending in ENDINGS {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(format!("fit.{ending}"));
        fits::save(&written, &path).unwrap();
        assert_same_draws(&fits::open(&path).unwrap(), &written);
    }
    let empty = Fit::new(self::layout(), vec![self::chain(0, 0)]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("empty.sgmcmc");
    fits::save(&empty, &path).unwrap();
    assert_eq!(fits::open(&path).unwrap(), empty);
}

//! Round trips: fits that are written and read.

use sgmcmc_fit::sink::{Draw, Sink};
use sgmcmc_fit::{ChainDraws, ChainOutcome, Fit, RunInfo};
use sgmcmc_gradient::Layout;
use sgmcmc_storage::fits::{self, Format};

use crate::common::{assert_same_draws, assert_same_draws_in, chain, fit, layout, schema, with_draw};
use crate::formats::{ENDINGS, STREAMED, sinks};

#[test]
fn every_format_keeps_every_number() {
    for ending in ENDINGS.iter() {
        for lengths in [&[25, 25][..], &[1], &[1001, 3]] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(format!("fit.{ending}"));
            // Chains that have fewer draws than planned were stopped. Files have the planned number of draws.
            let written = fit(lengths);
            let planned = lengths.iter().max().filter(|most| lengths.iter().any(|length| length < most)).copied();
            let info = RunInfo { planned, ..written.info().clone() };
            let written = written.with_info(info);
            fits::save(&written, &path).unwrap();
            assert_eq!(Format::from_content(&path).unwrap(), Format::from_name(&path).unwrap(), "{ending}");
            let read = fits::open(&path).unwrap();
            assert_same_draws(&read, &written);
            let names = |fit: &Fit| {
                let blocks = fit.layout().blocks().iter();
                blocks.map(|block| (block.name.clone(), block.shape.clone())).collect::<Vec<_>>()
            };
            // JSON files cannot have a variable with the name of a dimension.
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
fn the_native_format_keeps_everything() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fit.sgmcmc");
    let written = fit(&[20, 5]);
    fits::save(&written, &path).unwrap();
    let read = fits::open(&path).unwrap();
    assert_eq!(read.outcomes(), [ChainOutcome::Complete, ChainOutcome::Stopped]);
    assert_eq!((read.layout(), read.info()), (written.layout(), written.info()));
    assert!(read.layout().blocks()[0].constraint.is_some());
    // The second fit replaces the first.
    fits::save(&written, &path).unwrap();
    assert_same_draws(&fits::open(&path).unwrap(), &written);
}

#[test]
fn streamed_draws_are_those_of_a_fit() {
    for format in STREAMED.iter().copied() {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join(format!("run.{}", format.extension()));
        let make = sinks(format, &at);
        for number in 0..2 {
            let mut sink = make(number);
            sink.begin(&schema(number, 1500)).unwrap();
            (0..1500).for_each(|index| with_draw(number, index, |draw| sink.record(draw)).unwrap());
            sink.flush().unwrap();
            sink.finish();
        }
        if format == Format::Json {
            fits::json::JsonFit::new(&at).unwrap().finish().unwrap();
        }
        assert_eq!(Format::from_content(&at).unwrap(), format);
        assert_same_draws_in(format, &fits::open(&at).unwrap(), &fit(&[1500, 1500]));
    }
}

#[test]
fn a_fit_without_stats_is_written() {
    let layout = Layout::new([("x".to_owned(), vec![2], None)]).unwrap();
    let mut chain = ChainDraws::new(2, Vec::new());
    chain.push(&Draw { iteration: 1, values: &[1.0, 2.0], weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
    let written = Fit::new(layout, vec![chain]).unwrap();
    for ending in ENDINGS.iter() {
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

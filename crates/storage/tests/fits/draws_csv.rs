//! Draws CSV: round trips through the sink, truncated files, and damaged files.

use std::fs;
use std::path::Path;

use sgmcmc_fit::ChainOutcome;
use sgmcmc_fit::sink::{Draw, Schema, Sink};
use sgmcmc_gradient::Layout;
use sgmcmc_storage::fits::draws_csv::CsvDraws;
use sgmcmc_storage::fits::{self, Format};

use crate::common::{assert_same_draws, assert_same_draws_in, fit, layout, schema, with_draw};

/// Writes a chain with the sink.
fn write(path: &Path, chain: usize, draws: usize) {
    let mut sink = CsvDraws::new(path);
    sink.begin(&schema(chain, draws)).unwrap();
    (0..draws).for_each(|index| with_draw(chain, index, |draw| sink.record(draw)).unwrap());
    assert_eq!(sink.finish(), path);
}

#[test]
fn a_file_of_the_sink_is_a_fit() {
    let directory = tempfile::tempdir().unwrap();
    // The content decides, not the name.
    let path = directory.path().join("draws.txt");
    write(&path, 0, 1200);
    assert_eq!(Format::from_content(&path).unwrap(), Format::DrawsCsv);
    let read = fits::open(&path).unwrap();
    assert_same_draws_in(Format::DrawsCsv, &read, &fit(&[1200]));
    // The file does not say how many draws were planned.
    assert_eq!(read.outcomes(), [ChainOutcome::Stopped]);
    // The statistics come first; names and shapes of the parameters are kept.
    let shapes = |layout: &Layout| -> Vec<(String, Vec<usize>)> {
        // A single value has a name without indices, whatever the shape was.
        let shape = |shape: &[usize]| if shape.iter().product::<usize>() == 1 { vec![1] } else { shape.to_vec() };
        layout.blocks().iter().map(|block| (block.name.clone(), shape(&block.shape))).collect()
    };
    let statistics = ["alpha", "lp"].map(|name| (name.to_owned(), vec![1])).to_vec();
    assert_eq!(shapes(read.layout()), [statistics, shapes(&layout())].concat());
}

#[test]
fn names_that_need_quotes_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("draws.csv");
    let names = ["=1+1", "a\"b", "two\nlines", "comma, name", "'plain"];
    let layout = Layout::new(names.map(|name| (name.to_owned(), vec![1], None))).unwrap();
    let mut sink = CsvDraws::new(&path);
    sink.begin(&Schema { layout: layout.clone(), draws: 1, chain: 0, chains: 1, stats: Vec::new() }).unwrap();
    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    sink.record(&Draw { iteration: 1, values: &values, weight: 1.0, log_posterior: 0.0, stats: &[] }).unwrap();
    sink.finish();
    let read = fits::open(&path).unwrap();
    assert_eq!(read.layout(), &layout);
    assert_eq!(read.chains()[0].rows().next().unwrap(), values);
}

#[test]
fn a_truncated_file_has_its_whole_lines() {
    let directory = tempfile::tempdir().unwrap();
    let whole = directory.path().join("whole.csv");
    write(&whole, 0, 20);
    let bytes = fs::read(&whole).unwrap();
    let path = directory.path().join("cut.csv");
    let mut last = 0;
    for cut in 0..=bytes.len() {
        fs::write(&path, &bytes[..cut]).unwrap();
        let read = fits::open(&path);
        let draws = read.as_ref().map_or(0, |fit| fit.chains()[0].len());
        assert!(draws == last || draws == last + 1, "{draws} after {last}");
        last = draws;
        match read {
            Ok(read) => {
                assert_eq!(read.outcomes(), [ChainOutcome::Stopped], "{cut} of {} bytes", bytes.len());
                assert_same_draws_in(Format::DrawsCsv, &read, &fit(&[draws]));
            }
            Err(error) => assert!(error.to_string().contains("cut.csv"), "{error}"),
        }
    }
    assert_eq!(last, 20);
}

#[test]
fn files_of_a_directory_are_chains() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    (0..11).for_each(|chain| write(&path.join(format!("draws-{chain}.csv")), chain, 5));
    fs::write(path.join("notes.csv"), "a,b\n1,2\n").unwrap();
    let read = fits::open(path).unwrap();
    assert_same_draws_in(Format::DrawsCsv, &read, &fit(&[5; 11]));
    assert!(read.outcomes().iter().all(|outcome| *outcome == ChainOutcome::Stopped));
    // A shorter chain and a chain without draws.
    write(&path.join("draws-1.csv"), 1, 3);
    fs::write(path.join("draws-2.csv"), "").unwrap();
    let read = fits::open(path).unwrap();
    let lengths: Vec<usize> = read.chains().iter().map(|chain| chain.len()).collect();
    assert_eq!(lengths, [5, 3, 0, 5, 5, 5, 5, 5, 5, 5, 5]);
    // A part of the header does not hide the draws of the other chains.
    for header in ["itera", "iteration,weight,log_post"] {
        fs::write(path.join("draws-2.csv"), header).unwrap();
        assert_same_draws(&fits::open(path).unwrap(), &read);
    }
}

#[test]
fn a_chain_without_draws_leaves_the_file_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("draws.csv");
    write(&path, 0, 4);
    let before = fs::read(&path).unwrap();
    let mut sink = CsvDraws::new(&path);
    sink.begin(&schema(0, 4)).unwrap();
    sink.finish();
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn messages_name_file_and_location() {
    let directory = tempfile::tempdir().unwrap();
    let message = |content: &str| {
        let path = directory.path().join("draws.csv");
        fs::write(&path, content).unwrap();
        let message = fits::open(&path).unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        message
    };
    let header = "iteration,weight,log_posterior,x\n";
    assert!(message("").contains("there is no draw"));
    assert!(message(header).contains("there is no draw"));
    assert!(message("iteration,weight,log_post").contains("truncated"));
    assert!(message("iteration,weight,\"open\n1,1,1\n").contains("truncated"));
    assert!(message(&format!("{header}1,1,0,two\n")).contains(", line 2, column `x`: `two` is not a number"));
    assert!(message(&format!("{header}1,1,0,2\n2,1,0\n")).contains(", line 3: 3 fields where the first row has 4"));
    assert!(message("iteration,weight,log_posterior,x,x\n1,1,0,2,3\n").contains("two columns are called `x`"));
    fs::write(directory.path().join("draws-1.csv"), "iteration,weight,log_posterior,y\n1,1,0,2\n").unwrap();
    fs::write(directory.path().join("draws.csv"), format!("{header}1,1,0,2\n")).unwrap();
    let message = fits::open(directory.path()).unwrap_err().to_string();
    assert!(message.contains("its columns are not those of the other files"), "{message}");
}

//! Draws in files, and disks that are full.

use sgmcmc::Builder;
use sgmcmc::algorithms::Sgld;
use sgmcmc::fit::ChainOutcome;
use sgmcmc::gradient::FullGradient;
use sgmcmc::sink::Memory;
use sgmcmc::storage::fits::draws_csv::CsvDraws;
use sgmcmc_testkit::models::Case;
use sgmcmc_testkit::models::logistic::Logistic;

#[test]
fn draws_in_a_file_read_back_exactly() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("draws.csv");
    std::fs::write(&path, "what an earlier run left, longer than the header and the first lines\n".repeat(100))
        .unwrap();
    let simulated = Logistic::simulate(50, 1);
    let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3).seed(2);
    let outcome = run.sample_into(&simulated.start, 20, |_| (Memory::default(), CsvDraws::new(&path))).unwrap();
    let ((memory, written), ending) = &outcome[0];
    assert_eq!((written, ending), (&path, &ChainOutcome::Complete));
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    let header = "iteration,weight,log_posterior,bias,beta[0],beta[1],beta[2],beta[3],beta[4]";
    assert_eq!(lines.next().unwrap(), header);
    for (line, row) in lines.by_ref().zip(memory.rows()) {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        assert_eq!(&numbers[3..], row);
    }
    assert_eq!(text.lines().count(), 21);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_chain_and_keeps_what_was_drawn() {
    let simulated = Logistic::simulate(50, 1);
    let run = Builder::new(simulated.by_hand.clone(), Sgld, FullGradient, 1e-3).seed(2);
    let sink = |_| (Memory::default(), CsvDraws::new("/dev/full"));
    let outcome = run.sample_into(&simulated.start, 2000, sink).unwrap();
    let ((memory, _), ending) = &outcome[0];
    let ChainOutcome::Failed(error) = ending else { panic!("the disk was not full") };
    assert!(error.to_string().contains("/dev/full") && error.to_string().contains("No space left"), "{error}");
    assert!(!memory.is_empty() && memory.len() < 2000, "{} draws", memory.len());
}

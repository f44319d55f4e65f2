//! Partitions, co-clustering probabilities and assignments.

use super::exact::all_partitions;
use crate::mixture::{CoClustering, Counts, DirichletProcess, Loss, Partition};

/// The variation of information of two partitions, H(a) + H(b) − 2 I(a, b), by its definition.
fn variation_of_information(a: &[u32], b: &[u32]) -> f64 {
    let n = a.len() as f64;
    let entropy = |same: &dyn Fn(usize, usize) -> bool| -> f64 {
        let share = |i: usize| (0..a.len()).filter(|j| same(i, *j)).count() as f64 / n;
        -(0..a.len()).map(|i| share(i).ln()).sum::<f64>() / n
    };
    let joint = entropy(&|i, j| a[i] == a[j] && b[i] == b[j]);
    2.0 * joint - entropy(&|i, j| a[i] == a[j]) - entropy(&|i, j| b[i] == b[j])
}

fn five() -> Vec<Vec<u32>> {
    all_partitions(5).into_iter().map(|labels| labels.into_iter().map(|label| label as u32).collect()).collect()
}

#[test]
fn expected_losses_agree_with_their_definitions() {
    let truth = [0, 0, 1, 1, 1];
    let matrix = CoClustering::new(&[&truth[..]]).unwrap();
    // The loss leaves out the entropy of the draws, which does not depend on the candidate.
    let entropy = -(2.0 * (0.4_f64).ln() + 3.0 * (0.6_f64).ln()) / 5.0;
    for candidate in five() {
        let partition = Partition::best(&[&candidate], &matrix, Loss::VariationOfInformation).unwrap();
        let expected = variation_of_information(&candidate, &truth);
        let constant = 5.0_f64.ln() - entropy;
        assert!((partition.expected_loss + constant - expected).abs() < 1e-6, "{candidate:?}");
        let binder = Partition::best(&[&candidate], &matrix, Loss::Binder).unwrap().expected_loss;
        let differing = (0..5)
            .flat_map(|i| (i + 1..5).map(move |j| (i, j)))
            .filter(|(i, j)| (candidate[*i] == candidate[*j]) != (truth[*i] == truth[*j]))
            .count();
        assert!((binder - differing as f64 / 10.0).abs() < 1e-6);
    }
}

#[test]
fn the_best_partition_has_the_smallest_loss_of_all() {
    let draws: [&[u32]; 4] = [&[0, 0, 1, 1, 1], &[2, 2, 0, 0, 0], &[0, 0, 0, 1, 1], &[0, 1, 2, 3, 4]];
    let matrix = CoClustering::new(&draws).unwrap();
    assert!((matrix.probability(0, 1) - 0.75).abs() < 1e-6);
    assert!((matrix.probability(1, 2) - 0.25).abs() < 1e-6);
    let all = five();
    let candidates: Vec<&[u32]> = all.iter().map(Vec::as_slice).collect();
    for loss in [Loss::Binder, Loss::VariationOfInformation] {
        let best = Partition::best(&candidates, &matrix, loss).unwrap();
        assert_eq!((best.labels, best.sizes), (vec![0, 0, 1, 1, 1], vec![2, 3]), "{loss:?}");
    }
}

#[test]
fn clusters_of_separated_data_are_found() {
    let rows = (0..60).map(|i| vec![(i % 3, 10), ((i + 1) % 3, 1)]);
    let data = Counts::new(3, rows).unwrap();
    let fit = DirichletProcess::multinomial(0.5).minibatch(10).seed(3).fit(&data, 3000).unwrap();
    assert_eq!(fit.clusters().unwrap().mode(), 3);
    assert!(fit.clusters().unwrap().monte_carlo_error() < 0.3);
    let partition = fit.partition(Loss::Binder).unwrap();
    assert_eq!(partition.sizes, [20, 20, 20]);
    assert!((0..60).all(|i| partition.labels[i] == i % 3));
    let new = Counts::new(3, [vec![(1, 5)], vec![(2, 8)]]).unwrap();
    let assignments = fit.assign(&partition, &new).unwrap();
    assert_eq!((assignments[0].cluster, assignments[1].cluster), (Some(1), Some(2)));
    for assignment in assignments {
        let total: f64 = assignment.probabilities.iter().sum();
        assert!(total <= 3.0 && assignment.new_cluster < 0.2, "{assignment:?}");
    }
}

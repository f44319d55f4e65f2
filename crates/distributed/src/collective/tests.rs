//! Tests of the operations on threads.

use super::*;

/// Values whose sums depend on the order.
fn values(rank: usize, length: usize) -> Vec<f64> {
    (0..length).map(|k| (1.0 + (rank * 7 + k * 3) as f64).sqrt() * 10_f64.powi((k % 7) as i32 - 3)).collect()
}

#[test]
fn sums_are_the_same_on_all_ranks_and_right() {
    for size in [1, 2, 3, 4, 5, 8] {
        for length in [0, 1, 7, 4096, 5001] {
            let all = on_threads(size, |ranks| {
                let mut sum = values(ranks.rank(), length);
                ranks.all_reduce_sum(&mut sum)?;
                Ok(sum)
            })
            .unwrap();
            assert!(all.iter().all(|sum| *sum == all[0]), "{size} ranks, {length} numbers");
            for (k, sum) in all[0].iter().enumerate() {
                let exact: f64 = (0..size).map(|rank| values(rank, length)[k]).sum();
                assert!((sum - exact).abs() <= 1e-14 * exact, "{size} ranks: {sum} {exact}");
            }
        }
    }
}

/// A long vector is added in parts, a short one as a whole: the bits are the same.
#[test]
fn sums_do_not_depend_on_the_length() {
    for size in [2, 4, 6, 8] {
        let sums = on_threads(size, |ranks| {
            let mut long = values(ranks.rank(), 4096);
            let mut short = long[..100].to_vec();
            ranks.all_reduce_sum(&mut long)?;
            ranks.all_reduce_sum(&mut short)?;
            Ok((long[..100].to_vec(), short))
        })
        .unwrap();
        assert!(sums.iter().all(|(long, short)| long == short));
    }
}

#[test]
fn broadcast_and_gather_move_bytes() {
    for size in [1, 2, 3, 5, 8] {
        on_threads(size, |ranks| {
            let (rank, root) = (ranks.rank(), size / 2);
            let mut bytes = if rank == root { *b"from the root" } else { [0; 13] };
            ranks.broadcast(root, &mut bytes)?;
            assert_eq!(&bytes, b"from the root");
            let own = vec![rank as u8; rank];
            let expected: Vec<_> = (0..size).map(|rank| vec![rank as u8; rank]).collect();
            assert_eq!(ranks.gather(root, &own)?, (rank == root).then(|| expected.clone()));
            assert_eq!(ranks.all_gather(&own)?, expected);
            ranks.barrier()
        })
        .unwrap();
    }
}

#[test]
fn a_ring_moves_blocks_while_the_caller_computes() {
    let computed = on_threads(3, |ranks| {
        let (rank, mut block, mut count) = (ranks.rank(), [ranks.rank() as u8], 0);
        for _ in 0..3 {
            let sent = block;
            let outgoing = [Outgoing { to: (rank + 1) % 3, bytes: &sent }];
            let mut incoming = [Incoming { from: (rank + 2) % 3, bytes: &mut block }];
            ranks.exchange(&outgoing, &mut incoming, &mut || count += 1)?;
        }
        let cost = ranks.communication();
        assert_eq!((block, cost.ranks, cost.messages, cost.bytes), ([rank as u8], 3, 3, 3));
        Ok(count)
    });
    assert_eq!(computed.unwrap(), [3; 3]);
}

#[test]
fn failures_name_the_rank() {
    let failed = |body: &(dyn Fn(&dyn Collective) -> Result<()> + Sync)| {
        on_threads(4, |ranks| body(&*ranks)).unwrap_err().to_string()
    };
    let setting = || Error::Setting { name: "h", value: "0".into(), expected: "more" };
    let error = failed(&|ranks| if ranks.rank() == 2 { Err(setting()) } else { ranks.barrier() });
    assert_eq!(error, "rank 2 of 4 failed: h is 0: more");
    let error = failed(&|ranks| if ranks.rank() == 3 { panic!("no more") } else { ranks.barrier() });
    assert_eq!(error, "rank 3 of 4 failed: the program of rank 3 panicked: no more");
    let error = failed(&|ranks| if ranks.rank() == 1 { Ok(()) } else { ranks.barrier() });
    assert!(error.contains("rank 1 of 4 ended"), "{error}");
    let error = failed(&|ranks| {
        let mut values = vec![0.0; 1 + ranks.rank() % 2];
        ranks.all_reduce_sum(&mut values)
    });
    assert!(error.contains("expected 8 bytes from rank") || error.contains("expected 16 bytes from rank"), "{error}");
    let error = failed(&|ranks| ranks.broadcast(4, &mut []));
    assert!(error.contains("the root of an operation is 4"), "{error}");
}

#[test]
fn launchers_are_found_by_their_variables() {
    let with = |name: &'static str, value: &'static str| {
        Launcher::detect(move |asked| (asked == name).then(|| value.to_owned())).map(|found| found.ranks)
    };
    assert_eq!(with("OMPI_COMM_WORLD_SIZE", "8"), Some(8));
    assert_eq!(with("PMI_SIZE", "2"), Some(2));
    assert_eq!(with("SLURM_STEP_NUM_TASKS", "16"), Some(16));
    assert_eq!(with("SLURM_NTASKS", "16"), None);
    assert_eq!(with("PMI_SIZE", "text"), None);
}

//! A few thousand damaged files of every format give errors, without panics and within the memory limit.
//!
//! The long run is `cargo run --release -p lab -- files --count 1000000`.

#[global_allocator]
static GUARD: sgmcmc_fuzzing::Guard = sgmcmc_fuzzing::Guard;

#[test]
fn damaged_files_are_errors() {
    let counts = sgmcmc_fuzzing::run(4000, 1).unwrap();
    for (name, count) in &counts {
        println!("{name:<16} {count:?}");
        assert_eq!((count.panicked, count.slow), (0, 0), "{name}");
        assert!(count.refused > 0 && count.read > 0, "{name}: {count:?}");
    }
    assert!(counts.len() >= 16, "{counts:?}");
}

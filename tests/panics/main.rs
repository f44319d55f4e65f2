//! Panics in closures: nothing is printed, nothing is left behind, and panics elsewhere are as loud as before.

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};

use sgmcmc::Engine;
use sgmcmc::gradient::Evaluator;
use sgmcmc::prelude::*;

/// Panics that reached the hook which was there before the library's.
static HEARD: AtomicUsize = AtomicUsize::new(0);

/// A model whose closure panics where the parameter is above ten.
fn model() -> Posterior<Tensor<1>, Tensor<1>> {
    let model = Model::new(|m: Tensor<1>, x: Tensor<1>| {
        let terms = ((x - m.clone()).square() * -0.5).exp().log();
        let read: f64 = m.clone().into_scalar();
        // Burn's own panic: the shapes do not fit.
        if read > 10.0 { terms + Tensor::cat(vec![m; 3], 0) } else { terms }
    });
    let data = Dataset::new(array(vec![0.1, 0.2, 0.3, 0.4], [4]).unwrap()).unwrap();
    model.with(&data).engine(Engine::Eager)
}

struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("twice");
    }
}

fn fails(evaluator: &mut dyn Evaluator) {
    let rows = evaluator.all_rows();
    let error = evaluator.posterior(&[11.0], rows, &mut [0.0]).unwrap_err().to_string();
    assert!(error.contains("log-likelihood closure panicked"), "{error}");
}

/// Bytes of memory that the process has touched.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

// One test: the hook belongs to the whole process.
#[test]
fn panics_of_closures_are_silent_and_leave_nothing_behind() {
    panic::set_hook(Box::new(|_| {
        HEARD.fetch_add(1, Ordering::SeqCst);
    }));
    let mut evaluator = model().evaluator(&zeros([1])).unwrap();
    fails(evaluator.as_mut());
    assert_eq!(HEARD.load(Ordering::SeqCst), 0, "a panic of a closure is not printed");

    // Panics on other threads are heard while a closure panics on this one.
    let other = std::thread::spawn(|| {
        for _ in 0..50 {
            let _ = panic::catch_unwind(|| panic!("not in a closure"));
        }
    });
    (0..50).for_each(|_| fails(evaluator.as_mut()));
    other.join().unwrap();
    assert_eq!(HEARD.load(Ordering::SeqCst), 50);
    let _ = panic::catch_unwind(|| panic!("after a closure"));
    assert_eq!(HEARD.load(Ordering::SeqCst), 51);

    // A payload that panics again when it is dropped.
    let model = Model::new(|m: Tensor<1>, x: Tensor<1>| {
        if m.clone().into_scalar::<f64>() > 10.0 {
            std::panic::panic_any(PanicsOnDrop);
        }
        (x - m).square() * -0.5
    });
    let data = Dataset::new(array(vec![0.1, 0.2], [2]).unwrap()).unwrap();
    fails(model.with(&data).engine(Engine::Eager).evaluator(&zeros([1])).unwrap().as_mut());

    // Compilation calls the closure too: while it is recorded, and where it is compared with the eager engine.
    for engine in [Engine::Compiled, Engine::Auto] {
        let always = Model::new(|m: Tensor<1>, _: Tensor<1>| if m.dims() == [1] { panic!("boom") } else { m });
        let error = always.with(&data).engine(engine).evaluator(&zeros([1])).unwrap_err().to_string();
        assert!(error.contains("boom"), "{error}");
    }
    assert_eq!(HEARD.load(Ordering::SeqCst), 51, "a panic while a closure is recorded is not printed");

    #[cfg(target_os = "linux")]
    {
        (0..1000).for_each(|_| fails(evaluator.as_mut()));
        let before = resident();
        (0..5000).for_each(|_| fails(evaluator.as_mut()));
        let grown = resident().saturating_sub(before);
        assert!(grown < 1 << 20, "5000 panics left {grown} bytes behind");
    }
}

//! Same seed, same draws; a restored chain continues bit for bit.

use sgmcmc_samplers::chain::Chain;
use sgmcmc_samplers::run::{CheckpointInterval, InMemoryCheckpoints};

use crate::topics::{Corpus, Document, Lda, Method, StochasticSampler, VarianceReduction, Vocabulary};

fn corpus() -> Corpus {
    let documents = (0..30_u32).map(|d| Document::from_tokens((0..5 + d % 4).map(|i| (7 * i + d * (d + i)) % 11)));
    Corpus::new(Vocabulary::numbered(11), documents).unwrap()
}

fn methods() -> Vec<Method> {
    let center = VarianceReduction::ControlVariate { after: 3 };
    let stochastic = [StochasticSampler::scir(), StochasticSampler::sgrld(), StochasticSampler::sgld()]
        .into_iter()
        .flat_map(|kernel| {
            let kernel = kernel.minibatch(7).sweeps(3, 1);
            [
                kernel.clone(),
                kernel.clone().keep_latents(),
                kernel.clone().variance_reduction(center),
                kernel.clone().keep_latents().variance_reduction(VarianceReduction::Saga),
                kernel.minibatch(30).sweeps(1, 0).keep_latents(),
            ]
        });
    [Method::CollapsedGibbs, Method::Gibbs].into_iter().chain(stochastic.map(Method::from)).collect()
}

#[test]
fn a_restored_chain_continues_bit_for_bit() {
    for method in methods() {
        for before in [0, 2, 6] {
            let lda = Lda::new(9).method(method.clone());
            let mut first = lda.clone().seed(1).sampler(&corpus()).unwrap();
            (0..before).for_each(|_| first.step().unwrap());
            let mut second = lda.seed(2).sampler(&corpus()).unwrap();
            (0..5).for_each(|_| second.step().unwrap());
            second.restore(&first.save().unwrap()).unwrap();
            assert_eq!(first.position(), second.position(), "{method:?}");
            for _ in 0..6 {
                first.step().unwrap();
                second.step().unwrap();
                assert_eq!(first.position(), second.position(), "{method:?} after {before}");
                assert_eq!(first.info(), second.info(), "{method:?} after {before}");
            }
        }
    }
}

#[test]
fn the_state_of_another_chain_is_an_error() {
    let saved: Vec<_> = methods()
        .into_iter()
        .map(|method| Lda::new(9).method(method).sampler(&corpus()).unwrap().save().unwrap())
        .collect();
    let mut collapsed = Lda::new(9).sampler(&corpus()).unwrap();
    assert!(collapsed.restore(&saved[1]).is_err());
    assert!(collapsed.restore(&saved[2]).is_err());
    assert!(collapsed.restore(b"x").is_err());
    assert!(Lda::new(8).sampler(&corpus()).unwrap().restore(&saved[0]).is_err());
    let mut scir = Lda::new(8).method(StochasticSampler::scir()).sampler(&corpus()).unwrap();
    assert!(scir.restore(&saved[2]).is_err());
    let mut kept = Lda::new(9).method(StochasticSampler::scir().keep_latents()).sampler(&corpus()).unwrap();
    assert!(kept.restore(&saved[2]).is_err());
    assert!(kept.restore(&saved[3]).is_ok());
}

#[test]
fn draws_do_not_depend_on_the_number_of_threads() {
    for method in methods() {
        let lda = Lda::new(3).method(method).chains(3).seed(5).burn_in(2).thin(2);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| lda.fit(&corpus(), 5).unwrap())
        };
        let (one, many) = (run(1), run(4));
        assert_eq!(one.fit().chains(), many.fit().chains());
        assert_ne!(one.fit().chains()[0].values(), one.fit().chains()[1].values());
    }
}

#[test]
fn a_resumed_run_has_the_draws_of_an_uninterrupted_one() {
    for method in methods() {
        let lda = Lda::new(3).method(method).chains(2).seed(5).burn_in(3).thin(2);
        let whole = lda.run(&corpus()).unwrap().sample(8).unwrap();
        let store = InMemoryCheckpoints::default();
        let every = CheckpointInterval::Steps(1);
        let run = lda.run(&corpus()).unwrap().checkpoint(store.clone(), every);
        run.sample(3).unwrap();
        let resumed = run.sample(8).unwrap();
        assert_eq!(resumed.chains(), whole.chains());
        let other = lda.clone().alpha(0.3).run(&corpus()).unwrap().checkpoint(store, every);
        assert!(other.sample(8).is_err());
    }
}

#[test]
fn a_corpus_on_disk_has_the_same_draws() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("corpus");
    corpus().write(&path).unwrap();
    let disk = Corpus::open(&path).unwrap();
    for method in methods() {
        let lda = Lda::new(3).method(method).burn_in(2);
        assert_eq!(lda.fit(&disk, 3).unwrap().fit().chains(), lda.fit(&corpus(), 3).unwrap().fit().chains());
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    let message = |lda: Lda| lda.fit(&corpus(), 1).unwrap_err().to_string();
    assert!(message(Lda::new(0)).contains("number of topics"));
    assert!(message(Lda::new(70_000)).contains("number of topics"));
    assert!(message(Lda::new(2).alpha(0.0)).contains("alpha"));
    assert!(message(Lda::new(2).alpha(vec![0.1; 3])).contains("alpha"));
    assert!(message(Lda::new(2).beta(f64::NAN)).contains("beta"));
    assert!(message(Lda::new(2).method(StochasticSampler::scir().minibatch(31))).contains("31"));
    assert!(message(Lda::new(2).method(StochasticSampler::scir().sweeps(2, 2))).contains("sweeps"));
    let text = message(Lda::new(2).method(StochasticSampler::scir().step_size(-1.0)));
    assert!(text.contains("step size"), "{text}");
}

#[test]
fn a_diverging_chain_is_an_error() {
    let lda = Lda::new(2).method(StochasticSampler::sgld().step_size(1e6));
    let mut sampler = lda.sampler(&corpus()).unwrap();
    let error = (0..50).find_map(|_| sampler.step().err()).unwrap();
    assert!(error.to_string().contains("topics["), "{error}");
}

//! Every operation on the files of a corpus fails once: the corpus is there as a whole or not at all.

use sgmcmc_storage::output::fault::{Fault, Injector};

use crate::topics::{Corpus, CorpusWriter, Document};

fn write(path: &std::path::Path) -> sgmcmc_storage::Result<()> {
    let mut writer = CorpusWriter::create(path)?;
    (0..20).try_for_each(|index| writer.push(&Document::from_tokens([index % 3, 1])))?;
    writer.finish(&["a", "b", "c"].into_iter().collect())
}

#[test]
fn a_full_disk_leaves_a_whole_corpus_or_none() {
    for fault in [Fault::Fail, Fault::FailFrom] {
        for at in 0.. {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("corpus");
            let injector = Injector::new(directory.path(), fault, at);
            let written = write(&path);
            let operations = injector.operations();
            drop(injector);
            if operations.len() <= at {
                written.unwrap();
                assert_eq!(Corpus::open(&path).unwrap().documents(), 20);
                assert!(at > 15, "{at} injection points");
                break;
            }
            let what = format!("{fault:?} at {at}: {:?}", operations[at]);
            assert!(written.is_err_and(|error| error.to_string().contains("corpus")), "{what}");
            let left = std::fs::read_dir(directory.path()).unwrap().count();
            match Corpus::open(&path) {
                Ok(corpus) => assert_eq!((corpus.documents(), left), (20, 1), "{what}"),
                Err(_) => assert!(!path.exists() && left == 0, "{what}: {left} files are left"),
            }
        }
    }
}

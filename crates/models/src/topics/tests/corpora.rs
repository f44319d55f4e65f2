//! Readers of corpora, and corpora on disk.

use std::io::Write;
use std::path::PathBuf;

use crate::topics::{CompletionSplit, Corpus, CorpusWriter, Document, Lda, Tokenizer, Vocabulary, lda_c, text, uci};

/// A directory with files that is removed at the end of a test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn entries(corpus: &Corpus) -> Vec<Vec<(u32, u32)>> {
    (0..corpus.documents()).map(|index| corpus.document(index).unwrap().iter().collect()).collect()
}

#[test]
fn the_three_formats_agree() {
    let files = Files::new();
    let vocabulary = files.write("vocab.txt", "bread\nmoon\nsun\n");
    let docword = files.write("docword.txt", "2\n3\n3\n1 3 2\n1 2 1\n2 1 1\n");
    let from_uci = uci(docword).vocabulary(&vocabulary).read().unwrap();
    let from_lda_c = lda_c(files.write("lda.dat", "2 2:2 1:1\n1 0:1\n")).vocabulary(&vocabulary).read().unwrap();
    let from_text = text(files.write("text.txt", "sun moon sun\nbread\n")).read().unwrap();
    assert_eq!(entries(&from_uci), [vec![(1, 1), (2, 2)], vec![(0, 1)]]);
    for other in [from_lda_c, from_text] {
        assert_eq!(entries(&other), entries(&from_uci));
        assert_eq!(other.vocabulary(), from_uci.vocabulary());
        assert_eq!(other.fingerprint(), from_uci.fingerprint());
        assert_eq!(other.tokens(), 4);
    }
}

#[test]
fn damaged_uci_files_are_errors_with_a_line() {
    let files = Files::new();
    for (content, line, problem) in [
        ("", "line 1", "truncated"),
        ("2\n3\n", "line 3", "truncated"),
        ("2\nx\n3\n", "line 2", "`x` is not an integer"),
        ("-2\n3\n3\n", "line 1", "out of range"),
        ("2\n3\n1000000000000\n1 1 1\n2 1 1\n", "line 3", "do not fit"),
        ("2\n3\n3\n1 1 1\n2 1 1\n", "line 5", "truncated"),
        ("2\n3\n3\n1 1 1\n2 1 1\n2 2", "line 6", "three integers"),
        ("2\n3\n2\n1 1 1\n2 1 1\n2 2 1\n", "line 6", "more entries"),
        ("2\n3\n3\n1 4 1\n2 1 1\n2 2 1\n", "line 4", "word 4 is out of range: the vocabulary has 3 words"),
        ("2\n3\n3\n1 0 1\n2 1 1\n2 2 1\n", "line 4", "word 0 is out of range"),
        ("2\n3\n3\n1 1 1\n2 1 -4\n2 2 1\n", "line 5", "count -4 is out of range"),
        ("2\n3\n3\n1 1 1\n2 1 0\n2 2 1\n", "line 5", "count 0 is out of range"),
        ("2\n3\n3\n1 1 1\n2 1 1.5\n2 2 1\n", "line 5", "`1.5` is not an integer"),
        ("2\n3\n3\n1 1 1\n3 1 1\n2 2 1\n", "line 5", "document 3 is out of range"),
        ("2\n3\n3\n2 1 1\n1 1 1\n2 2 1\n", "line 4", "document 1 has no words"),
        ("3\n3\n3\n1 1 1\n3 1 1\n3 2 1\n", "line 5", "document 2 has no words"),
        ("3\n3\n3\n1 1 1\n2 1 1\n2 2 1\n", "line 6", "document 3 has no words"),
        ("2\n3\n3\n1 1 1\n2 1 1\n1 2 1\n", "line 6", "increasing order"),
    ] {
        let error = uci(files.write("docword.txt", content)).read().unwrap_err().to_string();
        assert!(
            error.contains(line) && error.contains(problem) && error.contains("docword.txt"),
            "{content:?}: {error}"
        );
    }
    let path = files.write("docword.txt", "3\n3\n2\n1 1 1\n3 1 1\n");
    assert_eq!(entries(&uci(&path).allow_empty().read().unwrap()), [vec![(0, 1)], vec![], vec![(0, 1)]]);
    let error = uci(&path).allow_empty().vocabulary(files.write("vocab.txt", "a\nb\n")).read().unwrap_err();
    assert!(error.to_string().contains("line 2") && error.to_string().contains("has 2 words"), "{error}");
    let error = uci(&path).allow_empty().memory_limit(1000).read().unwrap();
    assert_eq!(error.documents(), 3);
    assert!(uci(&path).allow_empty().memory_limit(301).read().is_ok());
    assert!(uci(&path).allow_empty().memory_limit(299).read().unwrap_err().to_string().contains("memory limit"));
}

#[test]
fn damaged_lda_c_files_are_errors_with_a_line() {
    let files = Files::new();
    let vocabulary = files.write("vocab.txt", "a\nb\n");
    for (content, line, problem) in [
        ("", "lda.dat", "no observation"),
        ("1 0:1\n2 0:1\n", "line 2", "announces 2 pairs and has 1"),
        ("1 0:1\n1 2:1\n", "line 2", "word 2 is out of range: the vocabulary has 2 words"),
        ("1 0:1\n1 0:-1\n", "line 2", "count -1"),
        ("1 0:1\n1 0:0\n", "line 2", "count 0"),
        ("1 0:1\n1 0\n", "line 2", "word:count"),
        ("x 0:1\n", "line 1", "`x` is not an integer"),
        ("1 0:1\n0\n", "line 2", "document 2 has no words"),
        ("1 0:1\n\n1 0:1\n", "line 2", "document 2 has no words"),
    ] {
        let path = files.write("lda.dat", content);
        let error = lda_c(path).vocabulary(&vocabulary).read().unwrap_err().to_string();
        assert!(error.contains(line) && error.contains(problem), "{content:?}: {error}");
    }
    let huge = lda_c(files.write("lda.dat", "1 4000000000:1\n")).read().unwrap_err().to_string();
    assert!(huge.contains("line 1") && huge.contains("out of range"), "{huge}");
}

#[test]
fn vocabularies_are_checked_and_cut() {
    let files = Files::new();
    for (content, line) in [("a\nb\na\n", "line 3"), ("a\n\n", "line 2")] {
        let error = Vocabulary::read(files.write("vocab.txt", content)).unwrap_err().to_string();
        assert!(error.contains(line), "{error}");
    }
    let path = files.write("text.txt", "sun moon star\nsun moon\nsun bread\n");
    let words = |corpus: Corpus| corpus.vocabulary().iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(text(&path).min_documents(2).read().unwrap()), ["moon", "sun"]);
    assert_eq!(words(text(&path).max_words(1).read().unwrap()), ["sun"]);
    let error = text(&path).max_share(0.9).min_documents(2).read().unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("document 3 has no words"), "{error}");
    assert_eq!(words(text(&path).max_share(0.9).min_documents(2).allow_empty().read().unwrap()), ["moon"]);
    assert!(text(files.write("empty.txt", "")).read().is_err());
    std::fs::write(&path, b"sun\n\xff\xfe\n").unwrap();
    assert!(text(&path).read().unwrap_err().to_string().contains("line 2: the file is corrupt"));
}

#[test]
fn a_corpus_on_disk_equals_the_one_in_memory() {
    let files = Files::new();
    let path = files.write("docword.txt", "3\n4\n5\n1 3 2\n1 2 1\n2 1 1\n3 4 7\n3 1 1\n");
    let memory = uci(&path).read().unwrap();
    let target = files.0.path().join("corpus");
    uci(&path).write(&target).unwrap();
    let disk = Corpus::open(&target).unwrap();
    assert_eq!(entries(&disk), entries(&memory));
    assert_eq!((disk.tokens(), disk.fingerprint()), (memory.tokens(), memory.fingerprint()));
    assert!(uci(&path).write(&target).unwrap_err().to_string().contains("not empty"));
    let part = disk.select([2, 0]).unwrap();
    assert_eq!(entries(&part), [entries(&memory)[2].clone(), entries(&memory)[0].clone()]);
    assert_ne!(part.fingerprint(), disk.fingerprint());
    let copy = files.0.path().join("copy");
    part.write(&copy).unwrap();
    assert_eq!(entries(&Corpus::open(copy).unwrap()), entries(&part));
    assert!(disk.document(3).is_err() && disk.select([3]).is_err());
}

#[test]
fn a_damaged_corpus_on_disk_is_an_error() {
    let files = Files::new();
    let target = files.0.path().join("corpus");
    let mut writer = CorpusWriter::create(&target).unwrap();
    (0..100).for_each(|index| writer.push(&Document::from_tokens([index % 3, 1])).unwrap());
    writer.finish(&["a", "b", "c"].into_iter().collect()).unwrap();
    let corpus = Corpus::open(&target).unwrap();
    let path = target.join("entries.mapped");
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 8).unwrap();
    assert!(corpus.document(5).unwrap_err().to_string().contains("can no longer be read"));
    assert!(Corpus::open(&target).unwrap_err().to_string().contains("entries.mapped"));
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&[255; 8]).unwrap();
    let corpus = Corpus::open(&target).unwrap();
    assert!(corpus.document(5).is_ok());
    assert!(corpus.document(99).unwrap_err().to_string().contains("damaged"));
    std::fs::write(target.join("corpus.txt"), "another format\n").unwrap();
    assert!(Corpus::open(&target).unwrap_err().to_string().contains("line 1"));
    let mut outside = CorpusWriter::create(files.0.path().join("outside")).unwrap();
    outside.push(&Document::from_tokens([3])).unwrap();
    assert!(outside.finish(&["a", "b", "c"].into_iter().collect()).unwrap_err().to_string().contains("word 3"));
}

#[test]
fn the_completion_split_is_that_of_the_peers_script() {
    // 16 documents with 12 tokens each of words 0 (5 times), 1 (6 times) and 2 (once).
    let document = Document::from_counts([(0, 5), (1, 6), (2, 1)]);
    let corpus = Corpus::new(Vocabulary::numbered(3), vec![document; 16]).unwrap();
    let split = CompletionSplit::new(&corpus, 8, 10).unwrap();
    assert_eq!((split.train.documents(), split.observed.len()), (14, 2));
    // Tokens 0 and 10 are held out: words 0 and 1.
    assert_eq!(split.held_out[0], Document::from_tokens([0, 1]));
    assert_eq!(split.observed[1], Document::from_counts([(0, 4), (1, 5), (2, 1)]));
    assert!(CompletionSplit::new(&corpus, 1, 10).is_err());
}

#[test]
fn truncated_compressed_files_are_errors_with_a_line() {
    let files = Files::new();
    // The text "2\n3\n3\n1 1 1\n2 1 1\n2 2 1\n".
    let compressed = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 51, 226, 50, 6, 66, 67, 5, 32, 228, 50, 130, 146, 64, 154, 11, 0, 69, 223, 34,
        212, 24, 0, 0, 0,
    ];
    let path = files.0.path().join("docword.txt.gz");
    std::fs::write(&path, compressed).unwrap();
    assert_eq!(entries(&uci(&path).read().unwrap()), [vec![(0, 1)], vec![(0, 1), (1, 1)]]);
    for length in 18..compressed.len() {
        std::fs::write(&path, &compressed[..length]).unwrap();
        let error = uci(&path).read().unwrap_err().to_string();
        assert!(error.contains("line ") && error.contains("truncated"), "{length}: {error}");
    }
}

/// New documents have the numbers of the words of the fit, and words that it does not know are left out.
#[test]
fn new_texts_have_the_words_of_a_fit() {
    let files = Files::new();
    let path = files.write("text.txt", "sun moon sun\nbread butter\nmoon sun moon\nbutter bread bread\n");
    let fit = Lda::new(2).alpha(0.1).seed(1).fit(&text(&path).read().unwrap(), 50).unwrap();
    let new = files.write("new.txt", "The moon, the sun and Mars\n\nButter!\n");
    let error = text(&new).vocabulary(fit.vocabulary()).read().unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("document 2 has no words"), "{error}");
    let corpus = text(&new).vocabulary(fit.vocabulary()).min_documents(2).allow_empty().read().unwrap();
    assert_eq!(corpus.vocabulary(), fit.vocabulary());
    assert_eq!(entries(&corpus), [vec![(2, 1), (3, 1)], vec![], vec![(1, 1)]]);
    let tokenizer = Tokenizer::new().english_stop_words();
    let document = Document::from_text("the moon and the SUN, mars", &tokenizer, fit.vocabulary());
    assert_eq!(document, corpus.document(0).unwrap());
    let [sky, empty, food] = [0, 1, 2].map(|index| fit.proportions(&corpus.document(index).unwrap()).unwrap());
    let largest = |p: &[f64]| usize::from(p[1] > p[0]);
    assert!(sky[largest(&sky)] > 0.8 && food[largest(&food)] > 0.8 && largest(&sky) != largest(&food));
    assert!((empty[0] - 0.5).abs() < 1e-6, "{empty:?}");
}

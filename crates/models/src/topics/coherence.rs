//! Coherence of topics: how often their top words occur in the same documents.

use std::collections::HashMap;

use sgmcmc_gradient::Result;

use super::corpus::{Corpus, Document};

/// A measure of the coherence of the top words of a topic.
///
/// D(v) is the number of documents with word v, D(v, w) of those with both words, and D of all documents.
///
/// # Examples
///
/// See [`TopicsFit::coherence`](super::TopicsFit::coherence).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coherence {
    /// Mimno et al. (2011): the mean over pairs of log((D(v, w) + 1)/D(v)), where v is the more probable word. At most
    /// about 0, and larger is better.
    UMass,
    /// Bouma (2009): the mean over pairs of the normalized pointwise mutual information log(p(v, w)/(p(v) p(w)))/(−log
    /// p(v, w)), with the frequencies of documents as probabilities. From −1 to 1. A pair that never occurs together
    /// has −1.
    Npmi,
}

/// Returns the coherence of lists of words, most probable first, one number per list.
pub(super) fn coherence(measure: Coherence, lists: &[Vec<u32>], corpus: &Corpus) -> Result<Vec<f64>> {
    let mut positions: HashMap<u32, usize> = HashMap::new();
    for word in lists.iter().flatten() {
        let next = positions.len();
        positions.entry(*word).or_insert(next);
    }
    let words = positions.len();
    // The number of documents with both words, and on the diagonal with one word.
    let mut together = vec![0_u64; words * words];
    let (mut document, mut present) = (Document::default(), Vec::<usize>::new());
    for index in 0..corpus.documents() {
        corpus.read(index, &mut document)?;
        present.clear();
        present.extend(document.iter().filter_map(|(word, _)| positions.get(&word)).copied());
        for first in &present {
            present.iter().for_each(|second| together[first * words + second] += 1);
        }
    }
    let documents = corpus.documents() as f64;
    let count = |v: u32, w: u32| together[positions[&v] * words + positions[&w]] as f64;
    let pair = |v: u32, w: u32| match measure {
        Coherence::UMass => ((count(v, w) + 1.0) / count(v, v).max(1.0)).ln(),
        Coherence::Npmi => npmi(count(v, w) / documents, count(v, v) / documents, count(w, w) / documents),
    };
    let mean = |list: &Vec<u32>| {
        let pairs = list.iter().enumerate().flat_map(|(i, w)| list[..i].iter().map(move |v| (*v, *w)));
        let (sum, number) = pairs.fold((0.0, 0.0), |(sum, number), (v, w)| (sum + pair(v, w), number + 1.0));
        if number > 0.0 { sum / number } else { f64::NAN }
    };
    Ok(lists.iter().map(mean).collect())
}

/// Returns the normalized pointwise mutual information of two events.
fn npmi(both: f64, first: f64, second: f64) -> f64 {
    if both <= 0.0 {
        return -1.0;
    }
    // Both words are in all documents: the limit of the ratio for words that always occur together.
    if both >= 1.0 {
        return 1.0;
    }
    (both / (first * second)).ln() / -both.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topics::Vocabulary;

    #[test]
    fn values_are_those_of_a_small_corpus() {
        // Words 0 and 1 are together in 2 of 4 documents; word 0 is in 3, word 1 in 2, word 2 in 1 without the others.
        let documents = [vec![0, 1], vec![0, 1, 1], vec![0], vec![2]].map(Document::from_tokens);
        let corpus = Corpus::new(Vocabulary::numbered(3), documents).unwrap();
        let lists = [vec![0, 1], vec![0, 2], vec![0, 1, 2]];
        let umass = coherence(Coherence::UMass, &lists, &corpus).unwrap();
        let log = |x: f64| x.ln();
        assert!((umass[0] - log(3.0 / 3.0)).abs() < 1e-12);
        assert!((umass[1] - log(1.0 / 3.0)).abs() < 1e-12);
        assert!((umass[2] - (log(1.0) + log(1.0 / 3.0) + log(1.0 / 2.0)) / 3.0).abs() < 1e-12);
        let npmi = coherence(Coherence::Npmi, &lists, &corpus).unwrap();
        let first = log(0.5 / (0.75 * 0.5)) / -log(0.5);
        assert!((npmi[0] - first).abs() < 1e-12);
        assert!((npmi[1] + 1.0).abs() < 1e-12);
        assert!((npmi[2] - (first - 2.0) / 3.0).abs() < 1e-12);
    }
}

//! The data set KOS: blog entries as bags of words.

use std::path::Path;

use rand_distr::{Distribution, Gamma, Poisson};
use sgmcmc_core::Dataset;
use sgmcmc_gradient::data::Column;

use super::synthetic::{Categories, check_size, generator};
use super::trees::Documents;
use super::{Origin, assemble};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::source::Lines;

const ORIGIN: Origin = Origin {
    name: "KOS",
    folder: "bow-kos",
    from: "the UCI Machine Learning Repository, “Bag of Words”, KOS blog entries",
    synthetic: "datasets::kos_like",
};

/// The number of words of the vocabulary.
const WORDS: usize = 6906;

/// The data set KOS: 3430 blog entries over 6906 words, with 353 160 pairs of document and word, and 467 714 words in
/// total.
///
/// # Examples
///
/// ```
/// let kos = sgmcmc::datasets::kos_like(5, 1)?;
/// assert_eq!((kos.documents.observations(), kos.vocabulary.len()), (5, 6906));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Kos {
    /// 3430 observations: the distinct words of a document and their counts.
    pub documents: Dataset<Documents>,
    /// The 6906 words.
    pub vocabulary: Vec<String>,
}

/// Reads the data set KOS from `dir/bow-kos/docword.kos.txt` and `dir/bow-kos/vocab.kos.txt`.
///
/// # Errors
///
/// Returns an error if a file does not exist or is damaged.
///
/// # Examples
///
/// ```
/// use sgmcmc::datasets;
///
/// let error = datasets::kos("missing").unwrap_err();
/// assert!(error.to_string().contains("datasets::kos_like"));
/// ```
pub fn kos(dir: impl AsRef<Path>) -> Result<Kos> {
    let words = ORIGIN.file(dir.as_ref(), "vocab.kos.txt")?;
    let (mut lines, mut vocabulary) = (Lines::open(&words)?, Vec::new());
    while let Some((_, word)) = lines.next_line()? {
        vocabulary.push(String::from_utf8_lossy(word).into_owned());
    }
    let counts = ORIGIN.file(dir.as_ref(), "docword.kos.txt")?;
    Ok(Kos { documents: documents(&counts, vocabulary.len())?, vocabulary })
}

/// Reads three lines with the numbers of documents, words and pairs, and then lines `document word count`.
fn documents(file: &Path, words: usize) -> Result<Dataset<Documents>> {
    let mut lines = Lines::open(file)?;
    let mut head = [0_usize; 3];
    for (number, name) in head.iter_mut().zip(["documents", "words", "pairs"]) {
        let Some((line, text)) = lines.next_line()? else { return Err(Error::file(file, Problem::Empty)) };
        *number = integer(text)
            .map_err(|problem| Error::at_position(file, FilePosition::line(line).column(name), problem))?;
    }
    if head[1] != words {
        let detail = format!("{} words where the vocabulary has {words}", head[1]);
        return Err(Error::at_position(file, FilePosition::line(2), Problem::Corrupt { detail }));
    }
    let mut bags: Vec<Vec<(i64, f32)>> = Vec::new();
    let mut pairs = 0;
    while let Some((line, text)) = lines.next_line()? {
        let fields: Vec<&[u8]> = text.split(u8::is_ascii_whitespace).collect();
        let [document, word, count] = fields.as_slice() else {
            return Err(Error::at_position(
                file,
                FilePosition::line(line),
                Problem::Ragged { found: fields.len(), expected: 3 },
            ));
        };
        let inside = |name: &'static str, text: &[u8], limit: usize| {
            let position = || FilePosition::line(line).column(name);
            match integer(text).map_err(|problem| Error::at_position(file, position(), problem))? {
                number if (1..=limit).contains(&number) => Ok(number),
                number => {
                    let range = format!("1 to {limit}");
                    Err(Error::at_position(
                        file,
                        position(),
                        Problem::OutOfRange { what: name, value: number.to_string(), range },
                    ))
                }
            }
        };
        // The pairs are sorted by document, so a document is at most one after the last. This bounds the allocation
        // below.
        let document = inside("document", document, head[0].min(bags.len() + 1))?;
        let word = inside("word", word, words)?;
        let count = inside("count", count, u32::MAX as usize)?;
        bags.resize_with(bags.len().max(document), Vec::new);
        bags[document - 1].push((word as i64 - 1, count as f32));
        pairs += 1;
    }
    if pairs != head[2] || bags.len() != head[0] {
        let detail = format!("{} documents and {} pairs announced, {} and {pairs} found", head[0], head[2], bags.len());
        return Err(Error::file(file, Problem::Truncated { detail }));
    }
    let columns = padded(bags).map_err(Error::content(file))?;
    assemble(columns, &Documents::template()?, file)
}

/// Parses an integer.
fn integer(text: &[u8]) -> Result<usize, Problem> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
    number.ok_or_else(|| Problem::not_a_number(text, "an integer"))
}

/// Returns the columns of bags of words, padded to the longest.
fn padded(bags: Vec<Vec<(i64, f32)>>) -> sgmcmc_gradient::Result<Vec<Column>> {
    let longest = bags.iter().map(Vec::len).max().unwrap_or_default().max(1);
    let (mut word, mut count) = (vec![0_i64; bags.len() * longest], vec![0.0_f32; bags.len() * longest]);
    for (document, bag) in bags.iter().enumerate() {
        for (index, (id, times)) in bag.iter().enumerate() {
            word[document * longest + index] = *id;
            count[document * longest + index] = *times;
        }
    }
    Ok(vec![Column::new("word", word, [longest])?, Column::new("count", count, [longest])?])
}

/// Simulates `n` documents with the columns of [`kos`], from latent Dirichlet allocation with ten topics.
///
/// The topics have the distribution Dirichlet(0.05), the proportions Dirichlet(0.2), and the lengths Poisson(136).
///
/// # Errors
///
/// Returns an error if `n` is 0.
///
/// # Examples
///
/// ```
/// let kos = sgmcmc::datasets::kos_like(5, 1)?;
/// assert_eq!(kos.documents.observations(), 5);
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn kos_like(n: usize, seed: u64) -> Result<Kos> {
    const TOPICS: usize = 10;
    check_size(n, 1..=usize::MAX, "use at least 1")?;
    let mut rng = generator(seed);
    let impossible = || sgmcmc_gradient::Error::Setting {
        name: "a constant of the synthetic model",
        value: "invalid".into(),
        expected: "it is positive",
    };
    let rare = Gamma::new(0.05, 1.0).map_err(|_| impossible())?;
    let shares = Gamma::new(0.2, 1.0).map_err(|_| impossible())?;
    let lengths = Poisson::new(136.0).map_err(|_| impossible())?;
    let topics: Vec<Categories> =
        (0..TOPICS).map(|_| Categories::new((0..WORDS).map(|_| rare.sample(&mut rng)))).collect();
    let mut bags = Vec::with_capacity(n);
    for _ in 0..n {
        let proportions = Categories::new((0..TOPICS).map(|_| shares.sample(&mut rng)));
        let mut bag = std::collections::BTreeMap::new();
        let length: f64 = lengths.sample(&mut rng);
        for _ in 0..(length as usize).max(1) {
            let topic = &topics[proportions.draw(&mut rng)];
            *bag.entry(topic.draw(&mut rng) as i64).or_insert(0.0_f32) += 1.0;
        }
        bags.push(bag.into_iter().collect());
    }
    let documents = Dataset::from_columns(padded(bags)?)?.typed(&Documents::template()?)?;
    Ok(Kos { documents, vocabulary: (0..WORDS).map(|word| format!("word{word}")).collect() })
}

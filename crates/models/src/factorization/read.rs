//! Readers of ratings.

use std::collections::HashMap;
use std::path::Path;

use sgmcmc_storage::error::{Error, FilePosition, Problem, Result};
use sgmcmc_storage::limit::memory_limit;
use sgmcmc_storage::source::Lines;

use super::entries::{Entries, Entry};

/// Ratings of items by users, with the names of the users and items.
///
/// Rows are users and columns are items, numbered in the order of their first appearance.
///
/// # Examples
///
/// ```
/// use sgmcmc::models::factorization::Ratings;
///
/// let file = std::env::temp_dir().join("sgmcmc-doc-ratings.dat");
/// std::fs::write(&file, "1::1193::5::978300760\n2::661::3::978302109\n")?;
/// let ratings = Ratings::read(&file)?;
/// assert_eq!((ratings.users(), ratings.items()), (&["1".to_owned(), "2".to_owned()][..], &["1193".to_owned(), "661".to_owned()][..]));
/// assert_eq!(ratings.entries().mean(), 4.0);
/// # std::fs::remove_file(file)?;
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ratings {
    entries: Entries,
    users: Vec<String>,
    items: Vec<String>,
}

/// The separators of fields, in the order in which they are tried.
const SEPARATORS: [&str; 4] = ["::", "\t", ",", ";"];

/// The memory of an entry in bytes.
const ENTRY_BYTES: u64 = size_of::<Entry>() as u64;

/// Names and their numbers.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
    /// True if a new name is an error.
    closed: bool,
}

impl Names {
    /// Creates the numbers of known names. New names are errors.
    fn closed(names: &[String]) -> Self {
        let numbers = names.iter().cloned().zip(0..).collect();
        Self { numbers, names: names.to_vec(), closed: true }
    }

    /// Returns the number of `name`, or `None` if it is new and new names are errors.
    fn number(&mut self, name: &str) -> Option<usize> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        if self.closed {
            return None;
        }
        self.numbers.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        Some(self.names.len() - 1)
    }
}

impl Ratings {
    /// Reads a file of ratings.
    ///
    /// Each line has at least three fields: user, item, rating; further fields, such as a time, are ignored. The fields
    /// are separated by `::`, tabs, commas or semicolons, as in the files of MovieLens. Users and items may be any
    /// text. A first line whose third field is not a number is a header. The file may be compressed by gzip.
    ///
    /// # Errors
    ///
    /// Returns an error that names the file and the line if the file cannot be read, a line has another number of
    /// fields than the first, or a rating is not a finite number; an error if the file has no ratings or needs more
    /// memory than the [limit](sgmcmc_storage::limit).
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        Self::parse(path.as_ref(), Names::default(), Names::default())
    }

    /// Reads further ratings by the same users of the same items, such as a test set.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](Self::read), and an error that names the line if a user or an item is not in
    /// this set.
    pub fn read_more(&self, path: impl AsRef<Path>) -> Result<Self> {
        Self::parse(path.as_ref(), Names::closed(&self.users), Names::closed(&self.items))
    }

    /// Returns the ratings as entries of a matrix.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// Returns the names of the users, in the order of the rows.
    pub fn users(&self) -> &[String] {
        &self.users
    }

    /// Returns the names of the items, in the order of the columns.
    pub fn items(&self) -> &[String] {
        &self.items
    }

    fn parse(path: &Path, mut users: Names, mut items: Names) -> Result<Self> {
        let mut lines = Lines::open(path)?;
        let mut entries: Vec<Entry> = Vec::new();
        let (mut separator, mut expected, mut names_bytes) = (None, 0, 0_u64);
        while let Some((line, text)) = lines.next_line()? {
            if text.is_empty() {
                continue;
            }
            let fail = |problem| Error::at_position(path, FilePosition::line(line), problem);
            let column = |name: &str, problem| Error::at_position(path, FilePosition::line(line).column(name), problem);
            let corrupt = |detail: &str| fail(Problem::Corrupt { detail: detail.into() });
            let text = std::str::from_utf8(text).map_err(|_| corrupt("the line is not UTF-8 text"))?;
            let first = separator.is_none();
            let separator = match separator {
                Some(separator) => separator,
                None => {
                    let found = SEPARATORS.into_iter().find(|separator| text.contains(separator));
                    let found =
                        found.ok_or_else(|| corrupt("user, item and rating are separated by `::`, tab or comma"))?;
                    *separator.insert(found)
                }
            };
            let fields: Vec<&str> = text.split(separator).map(|field| field.trim().trim_matches('"')).collect();
            if first {
                expected = fields.len();
                if expected < 3 {
                    return Err(corrupt("there are fewer than three fields: user, item and rating are needed"));
                }
                if fields[2].parse::<f64>().is_err() && fields[2].chars().any(char::is_alphabetic) {
                    continue;
                }
            }
            if fields.len() != expected {
                return Err(fail(Problem::Ragged { found: fields.len(), expected }));
            }
            let value: f64 = fields[2]
                .parse()
                .map_err(|_| column("rating", Problem::not_a_number(fields[2].as_bytes(), "a number")))?;
            if !value.is_finite() {
                return Err(column("rating", Problem::NotFinite { text: fields[2].to_owned() }));
            }
            if fields[0].is_empty() || fields[1].is_empty() {
                return Err(corrupt("the name of the user or of the item is empty"));
            }
            let known = |what| move || column(what, Problem::Corrupt { detail: format!("this {what} is new") });
            let before = users.names.len() + items.names.len();
            let row = users.number(fields[0]).ok_or_else(known("user"))?;
            let col = items.number(fields[1]).ok_or_else(known("item"))?;
            if users.names.len() + items.names.len() > before {
                names_bytes += 4 * (fields[0].len() + fields[1].len() + size_of::<String>()) as u64;
            }
            entries.push(Entry { row, column: col, value });
            if entries.len() as u64 * ENTRY_BYTES + names_bytes > memory_limit() {
                let detail =
                    format!("the ratings up to here need more than the memory limit of {} bytes", memory_limit());
                return Err(fail(Problem::TooLarge { detail }));
            }
        }
        if entries.is_empty() {
            return Err(Error::file(path, Problem::Empty));
        }
        let (rows, columns) = (users.names.len(), items.names.len());
        let entries = Entries::new(rows, columns, entries).map_err(Error::content(path))?;
        Ok(Self { entries, users: users.names, items: items.names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Ratings> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ratings.txt");
        std::fs::write(&path, text).unwrap();
        Ratings::read(&path)
    }

    #[test]
    fn formats_of_movielens_are_read() {
        let texts = [
            "1::10::5::97\n2::20::3::98\n1::20::4::99\n",
            "1\t10\t5\t97\n2\t20\t3\t98\n1\t20\t4\t99\n",
            "userId,movieId,rating,timestamp\n1,10,5.0,97\n2,20,3.0,98\n\n1,20,4.0,99\n",
            "\"1\";\"10\";\"5\"\n\"2\";\"20\";\"3\"\n\"1\";\"20\";\"4\"\n",
        ];
        for text in texts {
            let ratings = read(text).unwrap();
            assert_eq!(ratings.users(), ["1", "2"], "{text}");
            assert_eq!(ratings.items(), ["10", "20"]);
            let expected = [(0, 0, 5.0), (1, 1, 3.0), (0, 1, 4.0)];
            let found: Vec<_> = ratings.entries().iter().map(|e| (e.row, e.column, e.value)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        let cases = [
            ("1,10,5\n2,20\n", "line 2: 2 fields where the first row has 3"),
            ("1,10,5\n2,20,x\n", "line 2, column `rating`: `x` is not a number"),
            ("1,10,5\n2,20,NaN\n", "line 2, column `rating`: the value is NaN"),
            ("1,10,5\n,20,3\n", "line 2: the file is corrupt"),
            ("1 10 5\n", "line 1: the file is corrupt"),
            ("a,b\n", "line 1: the file is corrupt"),
            ("", "there is no observation"),
            ("user,item,rating\n", "there is no observation"),
        ];
        for (text, expected) in cases {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(expected) && message.contains("ratings.txt"), "{text:?}: {message}");
        }
    }

    #[test]
    fn further_ratings_need_known_names() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let train = Ratings::read(file("train", "a,x,1\nb,y,2\n")).unwrap();
        let test = train.read_more(file("test", "b,x,3\n")).unwrap();
        assert_eq!(test.entries().entry(0), Entry { row: 1, column: 0, value: 3.0 });
        assert_eq!((test.entries().rows(), test.entries().columns()), (2, 2));
        let message = train.read_more(file("other", "b,x,3\nc,x,3\n")).unwrap_err().to_string();
        assert!(message.contains("line 2, column `user`"), "{message}");
    }
}

//! The data set msweb: visits to the areas of a web site.

use std::path::Path;

use rand::RngExt;
use sgmcmc_core::Dataset;
use sgmcmc_gradient::data::Column;

use super::synthetic::{Categories, check_size, generator, normal};
use super::trees::Visits;
use super::{Origin, assemble};
use sgmcmc_storage::error::{Error, FilePosition, Problem, Result, shortened};
use sgmcmc_storage::source::Lines;

const ORIGIN: Origin = Origin {
    name: "msweb",
    folder: "msweb",
    from: "the UCI Machine Learning Repository, “Anonymous Microsoft Web Data”",
    synthetic: "datasets::msweb_like",
};

/// The number of areas.
const AREAS: usize = 294;

/// The data set msweb: the areas of a web site that each user visited in one week, out of 294.
///
/// # Examples
///
/// ```
/// let msweb = sgmcmc::datasets::msweb_like(12, 1)?;
/// assert_eq!((msweb.train.observations(), msweb.areas.len()), (12, 294));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Msweb {
    /// 32 711 observations, with 98 654 visits to 285 areas.
    pub train: Dataset<Visits>,
    /// 5000 observations, with 15 191 visits.
    pub test: Dataset<Visits>,
    /// The titles of the areas in the order of the columns, which is that of the published numbers.
    pub areas: Vec<String>,
}

/// Reads the data set msweb from `dir/msweb/anonymous-msweb.data` and `dir/msweb/anonymous-msweb.test`.
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
/// let error = datasets::msweb("missing").unwrap_err();
/// assert!(error.to_string().contains("datasets::msweb_like"));
/// ```
pub fn msweb(dir: impl AsRef<Path>) -> Result<Msweb> {
    let (train, areas) = part(dir.as_ref(), "anonymous-msweb.data")?;
    let (test, _) = part(dir.as_ref(), "anonymous-msweb.test")?;
    Ok(Msweb { train, test, areas })
}

/// Reads lines `A,id,1,"title","url"` for areas, `C,"id",id` for users, and `V,area,1` for visits of the preceding
/// user.
fn part(dir: &Path, name: &str) -> Result<(Dataset<Visits>, Vec<String>)> {
    let file = ORIGIN.file(dir, name)?;
    let mut lines = Lines::open(&file)?;
    let mut areas: Vec<(u32, String)> = Vec::new();
    let mut visits: Vec<(usize, u32, u64)> = Vec::new();
    let mut users = 0;
    while let Some((line, text)) = lines.next_line()? {
        let position = |column: &str| FilePosition::line(line).column(column);
        let mut fields = text.splitn(3, |byte| *byte == b',');
        let (kind, id) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let number = || {
            let number = std::str::from_utf8(id).ok().and_then(|id| id.parse::<u32>().ok());
            number.ok_or_else(|| Error::at_position(&file, position("area"), Problem::not_a_number(id, "an integer")))
        };
        match kind {
            b"A" => areas.push((number()?, title(fields.next().unwrap_or_default()))),
            b"C" => users += 1,
            b"V" if users == 0 => {
                let detail = "a visit before the first user".into();
                return Err(Error::at_position(&file, FilePosition::line(line), Problem::Corrupt { detail }));
            }
            b"V" => visits.push((users - 1, number()?, line)),
            b"I" | b"T" | b"N" | b"" => {}
            other => {
                let detail = format!("a line of the unknown kind `{}`", shortened(other));
                return Err(Error::at_position(&file, FilePosition::line(line), Problem::Corrupt { detail }));
            }
        }
    }
    if users == 0 || areas.is_empty() {
        return Err(Error::file(&file, Problem::Empty));
    }
    areas.sort();
    let mut visited = vec![0.0_f32; users * areas.len()];
    for (user, id, line) in visits {
        let Ok(area) = areas.binary_search_by_key(&id, |(id, _)| *id) else {
            let range = "no line `A` announces it".into();
            let problem = Problem::OutOfRange { what: "area", value: id.to_string(), range };
            return Err(Error::at_position(&file, FilePosition::line(line).column("area"), problem));
        };
        visited[user * areas.len() + area] = 1.0;
    }
    let column = Column::new("visited", visited, [areas.len()]).map_err(Error::content(&file))?;
    let data = assemble(vec![column], &Visits::template()?, &file)?;
    Ok((data, areas.into_iter().map(|(_, title)| title).collect()))
}

/// Returns the title in `1,"title","url"`.
fn title(rest: &[u8]) -> String {
    let quoted = rest.splitn(3, |byte| *byte == b'"').nth(1).unwrap_or_default();
    String::from_utf8_lossy(quoted).into_owned()
}

/// Simulates `n` training and ⌈n/6⌉ test users with the columns of [`msweb`], from a mixture of eight types of users.
///
/// Each type has its own probabilities of the areas.
///
/// # Errors
///
/// Returns an error if `n` is 0.
///
/// # Examples
///
/// ```
/// let msweb = sgmcmc::datasets::msweb_like(12, 1)?;
/// assert_eq!((msweb.train.observations(), msweb.test.observations()), (12, 2));
/// # Ok::<(), sgmcmc::Error>(())
/// ```
pub fn msweb_like(n: usize, seed: u64) -> Result<Msweb> {
    check_size(n, 1..=usize::MAX, "use at least 1")?;
    let mut rng = generator(seed);
    let types: Vec<Categories> = (0..8)
        .map(|_| Categories::new((0..AREAS).map(|rank| (1.5 * normal(&mut rng)).exp() / (rank as f64 + 3.0))))
        .collect();
    let mut part = |n: usize| {
        let mut visited = vec![0.0_f32; n * AREAS];
        for row in visited.chunks_exact_mut(AREAS) {
            let kind = &types[rng.random_range(0..types.len())];
            row[kind.draw(&mut rng)] = 1.0;
            // A user has one visit, and each further visit with probability 0.7: about three in total, as in the data
            // set.
            while rng.random::<f64>() < 0.7 {
                row[kind.draw(&mut rng)] = 1.0;
            }
        }
        let column = Column::new("visited", visited, [AREAS])?;
        Ok::<_, Error>(Dataset::from_columns(vec![column])?.typed(&Visits::template()?)?)
    };
    let (train, test) = (part(n)?, part(n.div_ceil(6))?);
    Ok(Msweb { train, test, areas: (0..AREAS).map(|area| format!("area {area}")).collect() })
}

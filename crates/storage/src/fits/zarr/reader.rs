//! Zarr back into a fit: stores of this library, of ArviZ and xarray, version 2 and 3.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use sgmcmc_samplers::run::Fit;
use zarrs::array::{Array, ArraySubset, ElementOwned};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::Group;
use zarrs::storage::{ListableStorageTraits, StorePrefix};

use super::OWN;
use super::schema::{DIMENSIONS, FIRST, GROUPS, arrays};
use crate::error::{Error, Place, Problem, Result};
use crate::fits::table::{self, Extra};

/// What compression can make of a byte, at most: a store that announces more numbers than that is damaged.
const MOST_PER_BYTE: u64 = 1000;

/// An array of draws, whole.
struct Draws {
    name: String,
    /// Chains, draws, and the shape of one draw.
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Draws {
    fn width(&self) -> usize {
        self.shape[2..].iter().product()
    }

    /// One element along a chain.
    fn column(&self, chain: usize, draws: usize, element: usize) -> Vec<f64> {
        let width = self.width();
        let first = chain * self.shape[1];
        (first..first + draws).map(|draw| self.values[draw * width + element]).collect()
    }
}

/// Reads the groups `posterior` and `sample_stats` of a store.
///
/// Arrays whose first two dimensions are not `chain` and `draw` are passed over, and so are sample statistics that are no single
/// number per draw. Chunks may be compressed by gzip or Zstandard.
///
/// # Errors
///
/// With store and array: if metadata or a chunk is damaged or missing, or compressed in another way.
pub fn read(path: impl AsRef<Path>) -> Result<Fit> {
    let path = path.as_ref();
    // For whoever reads a damaged store, a panic of the `zarrs` crate is an error like any other.
    catch_unwind(AssertUnwindSafe(|| read_store(path)))
        .unwrap_or_else(|_| Err(Error::file(path, Problem::Corrupt { detail: "its arrays make no sense".into() })))
}

fn read_store(path: &Path) -> Result<Fit> {
    let corrupt = |detail: String| Error::file(path, Problem::Corrupt { detail });
    let store = Arc::new(FilesystemStore::new(path).map_err(|error| corrupt(error.to_string()))?);
    let posterior = group(path, &store, GROUPS[0])?;
    let statistics = if path.join(GROUPS[1]).is_dir() { group(path, &store, GROUPS[1])? } else { Vec::new() };
    let all = || posterior.iter().chain(statistics.iter().filter(|array| array.shape.len() == 2));
    let chains = posterior.iter().map(|array| array.shape[0]).min().unwrap_or(0);
    // A run killed between two arrays may have made one longer than another.
    let draws = all().map(|array| array.shape[1]).min().unwrap_or(0);
    if chains == 0 || draws == 0 || all().any(|array| array.shape[0] < chains) {
        return Err(Error::file(path, Problem::NoDraws));
    }
    let extra = attribute(path).and_then(|text| Extra::from_json(&text));
    // Of this library's stores the names of arrays are known; of others, the arrays are all there is.
    let known = extra.as_ref().and_then(|extra| {
        let (named, found): (Vec<_>, Vec<_>) = (arrays(&extra.layout, &extra.stats), all().collect());
        let find = |wanted: &super::schema::Array| {
            let group = if wanted.group == GROUPS[0] { &posterior } else { &statistics };
            group.iter().find(|array| array.name == wanted.name && array.shape[2..] == wanted.shape)
        };
        let matched: Option<Vec<&Draws>> = named.iter().map(find).collect();
        matched.filter(|matched| matched.len() <= found.len())
    });
    let (layout, values, statistics): (_, Vec<&Draws>, Vec<(String, &Draws)>) = match (&extra, &known) {
        (Some(extra), Some(known)) => {
            let split = known.len() - FIRST.len() - extra.stats.len();
            let names = FIRST.iter().map(|name| (*name).to_owned()).chain(extra.stats.iter().cloned());
            (extra.layout.clone(), known[..split].to_vec(), names.zip(known[split..].iter().copied()).collect())
        }
        _ => {
            let shapes = posterior.iter().map(|array| (array.name.clone(), array.shape[2..].to_vec()));
            let flat = statistics.iter().filter(|array| array.shape.len() == 2);
            let named = flat.map(|array| (array.name.clone(), array)).collect();
            (table::layout(path, shapes)?, posterior.iter().collect(), named)
        }
    };
    let chain = |chain: usize| {
        let mut columns = table::Chain::default();
        for array in &values {
            columns.values.extend((0..array.width()).map(|element| array.column(chain, draws, element)));
        }
        for (place, (name, array)) in statistics.iter().enumerate() {
            let column = array.column(chain, draws, 0);
            // A statistic of the run may be called as one of ours is, but comes after it.
            let own = FIRST.iter().position(|own| own == name).filter(|_| known.is_none() || place < FIRST.len());
            match own {
                Some(0) => columns.iterations = Some(column.into_iter().map(|number| number as u64).collect()),
                Some(1) => columns.weights = Some(column),
                Some(_) => columns.log_posterior = Some(column),
                None => columns.stats.push((name.clone(), column)),
            }
        }
        (columns, draws)
    };
    let fit = table::fit(path, layout, (0..chains).map(chain).collect())?;
    match extra.filter(|_| known.is_some()) {
        Some(extra) => extra.dress(path, fit),
        None => Ok(fit),
    }
}

/// All arrays of draws of a group, in the order of their names.
fn group(path: &Path, store: &Arc<FilesystemStore>, name: &str) -> Result<Vec<Draws>> {
    let corrupt = |detail: String| Error::at(path, Place::default().column(name), Problem::Corrupt { detail });
    let group = Group::open(Arc::clone(store), &format!("/{name}")).map_err(|error| corrupt(error.to_string()))?;
    let mut arrays = group.child_arrays().map_err(|error| corrupt(error.to_string()))?;
    arrays.sort_by_key(|array| array.path().to_string());
    let mut read = Vec::new();
    for array in arrays {
        if dimensions(&array).is_some_and(|names| names.len() >= 2 && names[..2] == DIMENSIONS) {
            let full = array.path().as_str().trim_start_matches('/').to_owned();
            read.push(
                read_array(store, &array)
                    .map_err(|detail| Error::at(path, Place::default().column(full), Problem::Corrupt { detail }))?,
            );
        }
    }
    Ok(read)
}

/// The names of dimensions: a field of version 3, an attribute of version 2.
fn dimensions(array: &Array<FilesystemStore>) -> Option<Vec<String>> {
    if let Some(names) = array.dimension_names() {
        return names.iter().cloned().collect();
    }
    let names = array.attributes().get("_ARRAY_DIMENSIONS")?.as_array()?;
    names.iter().map(|name| name.as_str().map(str::to_owned)).collect()
}

fn read_array(store: &FilesystemStore, array: &Array<FilesystemStore>) -> Result<Draws, String> {
    let full = array.path().as_str();
    let prefix = StorePrefix::new(format!("{}/", full.trim_start_matches('/'))).map_err(|error| error.to_string())?;
    let bytes = store.size_prefix(&prefix).map_err(|error| error.to_string())?;
    let most = bytes.saturating_mul(MOST_PER_BYTE);
    let chunk = array.chunk_shape(&vec![0; array.shape().len()]).map_err(|error| error.to_string())?;
    let numbers = array.shape().iter().try_fold(1_u64, |count, size| count.checked_mul(*size));
    let per_chunk = chunk.iter().try_fold(1_u64, |count, size| count.checked_mul(size.get()));
    if [numbers, per_chunk].iter().any(|count| count.is_none_or(|count| count > most)) {
        return Err(format!("the shape {:?} and the {bytes} bytes that are there do not go together", array.shape()));
    }
    let whole = ArraySubset::new_with_shape(array.shape().to_vec());
    let values = numbers_of(array, &whole)?;
    let shape: Vec<usize> = array.shape().iter().map(|size| *size as usize).collect();
    let name = full.rsplit('/').next().unwrap_or(full).to_owned();
    if values.len() as u64 != numbers.unwrap_or(0) {
        return Err("it has another number of values than its shape says".into());
    }
    Ok(Draws { name, shape, values })
}

/// All numbers of an array of any type of number.
fn numbers_of(array: &Array<FilesystemStore>, whole: &ArraySubset) -> Result<Vec<f64>, String> {
    fn pull<T: ElementOwned>(
        array: &Array<FilesystemStore>,
        whole: &ArraySubset,
        convert: impl Fn(T) -> f64,
    ) -> Result<Vec<f64>, String> {
        let values: Vec<T> = array.retrieve_array_subset(whole).map_err(|error| error.to_string())?;
        Ok(values.into_iter().map(convert).collect())
    }
    let metadata = serde_json::to_value(array.metadata()).map_err(|error| error.to_string())?;
    // "float64" in version 3, "<f8" in version 2.
    let kind = metadata["data_type"].as_str().or(metadata["dtype"].as_str()).unwrap_or_default();
    match kind.trim_start_matches(['<', '>', '|', '=']) {
        "float64" | "f8" => pull(array, whole, |number: f64| number),
        "float32" | "f4" => pull(array, whole, |number: f32| number.into()),
        "int64" | "i8" => pull(array, whole, |number: i64| number as f64),
        "int32" | "i4" => pull(array, whole, |number: i32| number.into()),
        "int16" | "i2" => pull(array, whole, |number: i16| number.into()),
        "int8" | "i1" => pull(array, whole, |number: i8| number.into()),
        "uint64" | "u8" => pull(array, whole, |number: u64| number as f64),
        "uint32" | "u4" => pull(array, whole, |number: u32| number.into()),
        "uint8" | "u1" => pull(array, whole, |number: u8| number.into()),
        "bool" | "b1" => pull(array, whole, |value: bool| value.into()),
        other => Err(format!("`{other}` is no type of numbers")),
    }
}

/// What only this library knows of a fit, if it wrote the store.
fn attribute(path: &Path) -> Option<String> {
    let root: serde_json::Value = serde_json::from_slice(&fs::read(path.join("zarr.json")).ok()?).ok()?;
    Some(root["attributes"][OWN].as_str()?.to_owned())
}

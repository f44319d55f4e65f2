//! Groups other than the draws.

use std::io;

use serde_json::Value;

use super::array::{chunk_key, metadata};
use super::schema::{DIMENSIONS, GROUPS};
use super::store::{Store, coordinate, group_metadata};
use crate::error::{Error, FilePosition, Problem, Result};
use crate::fits::append::failed;
use sgmcmc_fit::Variable;

/// The largest number of numbers in a chunk of an array of draws.
const CHUNK: usize = 1 << 21;

/// Writes a group of arrays and updates the metadata of the store.
pub(super) fn write(store: &mut Store, group: &str, variables: &[Variable]) -> Result<()> {
    let refuse = |column: &str, detail: String| {
        Err(Error::at_position(
            store.path(),
            FilePosition::default().column(column),
            Problem::MismatchedChunk { detail },
        ))
    };
    let plain = |name: &str| !name.is_empty() && !name.contains(['/', '\\']) && !name.starts_with(['.', '_']);
    if GROUPS.contains(&group) || !plain(group) {
        return refuse(group, "the group needs another name, without `/` and not starting with `.` or `_`".into());
    }
    for Variable { name, dimensions, shape, values } in variables {
        let count = shape.iter().try_fold(1_usize, |count, size| count.checked_mul(*size));
        if count != Some(values.len()) || shape.len() != dimensions.len() {
            let (values, named) = (values.len(), dimensions.len());
            return refuse(name, format!("{values} values and {named} named dimensions for the shape {shape:?}"));
        }
        if !plain(name) || dimensions.contains(name) {
            return refuse(
                name,
                "a name must have no `/`, not start with `.` or `_`, and not be that of a dimension".into(),
            );
        }
    }
    let mut nodes = vec![(group.to_owned(), group_metadata())];
    for variable in variables {
        let written = write_array(store, group, variable, &mut nodes);
        written.map_err(|error| failed(&store.path().join(group).join(&variable.name), error))?;
    }
    store.added.retain(|name, _| name.split('/').next() != Some(group));
    store.added.extend(nodes);
    Ok(store.commit(None)?)
}

/// Writes the chunks of an array and appends its metadata to `nodes`.
fn write_array(store: &Store, group: &str, variable: &Variable, nodes: &mut Vec<(String, Value)>) -> io::Result<()> {
    let Variable { name, dimensions, shape, values } = variable;
    let mut chunk = shape.clone();
    let path = format!("{group}/{name}");
    if variable.has_draws() {
        // A chunk has draws of one chain.
        let (width, draws) = (variable.width(), shape[1]);
        let block = (CHUNK / width.max(1)).clamp(1, draws.max(1));
        (chunk[0], chunk[1]) = (1, block);
        for (chain, values) in values.chunks_exact((draws * width).max(1)).enumerate() {
            for (number, part) in values.chunks(block * width).enumerate() {
                let mut index = vec![0; shape.len()];
                (index[0], index[1]) = (chain as u64, number as u64);
                let missing = std::iter::repeat_n(f64::NAN, block * width - part.len());
                let bytes: Vec<u8> = part.iter().copied().chain(missing).flat_map(f64::to_le_bytes).collect();
                store.files.replace(&chunk_key(&path, &index), &bytes)?;
            }
        }
    } else if !values.is_empty() {
        let bytes: Vec<u8> = values.iter().flat_map(|number| number.to_le_bytes()).collect();
        store.files.replace(&chunk_key(&path, &vec![0; shape.len()]), &bytes)?;
    }
    let sizes = |sizes: &[usize], least: u64| sizes.iter().map(|size| (*size as u64).max(least)).collect::<Vec<_>>();
    nodes.push((path, metadata(&sizes(shape, 0), &sizes(&chunk, 1), false, dimensions)));
    for (dimension, size) in dimensions.iter().zip(shape).filter(|(name, _)| DIMENSIONS.contains(&name.as_str())) {
        let path = format!("{group}/{dimension}");
        nodes.push((path.clone(), coordinate(&store.files, &path, dimension, *size as u64, 0)?));
    }
    Ok(())
}

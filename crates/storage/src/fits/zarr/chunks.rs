//! Assembly of an array from its chunks.

use std::path::Path;

use super::array::ArrayInfo;
use crate::error::Problem;
use crate::limit::Budget;

/// Reads all numbers of the array in `directory` in row-major order.
///
/// # Errors
///
/// Returns an error if a chunk is damaged or the budget is exceeded.
pub(super) fn read_all(info: &ArrayInfo, directory: &Path, budget: &mut Budget) -> Result<Vec<f64>, Problem> {
    let corrupt = |detail| Problem::Corrupt { detail };
    let ArrayInfo { shape, chunk, .. } = info;
    if shape.len() != chunk.len() || chunk.contains(&0) {
        return Err(corrupt(format!("chunks of {chunk:?} do not make an array of {shape:?}")));
    }
    let count = |sizes: &[u64]| sizes.iter().try_fold(8_u64, |bytes, size| bytes.checked_mul(*size));
    if count(chunk).is_none_or(|bytes| bytes > budget.left()) {
        return Err(budget.exceeded());
    }
    budget.take(count(shape).unwrap_or(u64::MAX))?;
    let numbers = |sizes: &[u64]| sizes.iter().product::<u64>() as usize;
    let mut values = vec![f64::NAN; numbers(shape)];
    if values.is_empty() {
        return Ok(values);
    }
    let per_chunk = numbers(chunk);
    let grid: Vec<u64> = shape.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
    let mut index = vec![0; shape.len()];
    loop {
        let read = info.read_chunk(directory, &index, per_chunk).map_err(corrupt)?;
        copy(&mut values, shape, &read, chunk, &index);
        if !advance(&mut index, &grid) {
            return Ok(values);
        }
    }
}

/// Increments a multi-index below `sizes` in row-major order. Returns `false` after the last one.
fn advance(index: &mut [u64], sizes: &[u64]) -> bool {
    for (subscript, size) in index.iter_mut().zip(sizes).rev() {
        *subscript += 1;
        if *subscript < *size {
            return true;
        }
        *subscript = 0;
    }
    false
}

/// Copies the part of chunk number `index` that lies inside the array, one run along the last axis at a time.
fn copy(values: &mut [f64], shape: &[u64], read: &[f64], chunk: &[u64], index: &[u64]) {
    let first: Vec<u64> = index.iter().zip(chunk).map(|(index, size)| index * size).collect();
    let inside: Vec<u64> =
        shape.iter().zip(&first).zip(chunk).map(|((size, first), chunk)| (size - first).min(*chunk)).collect();
    let Some((run, outer)) = inside.split_last() else {
        values.copy_from_slice(read);
        return;
    };
    let mut row = vec![0; outer.len()];
    loop {
        let flat = |sizes: &[u64], offset: &dyn Fn(usize) -> u64| {
            sizes.iter().enumerate().fold(0, |flat, (axis, size)| flat * size + offset(axis))
        };
        let subscript = |axis: usize| row.get(axis).copied().unwrap_or(0);
        let from = flat(chunk, &subscript) as usize;
        let to = flat(shape, &|axis| first[axis] + subscript(axis)) as usize;
        let run = *run as usize;
        values[to..to + run].copy_from_slice(&read[from..from + run]);
        if !advance(&mut row, outer) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_assembled() {
        let directory = tempfile::tempdir().unwrap();
        let metadata = super::super::array::metadata(&[3, 5], &[2, 2], false, &["a".into(), "b".into()]);
        std::fs::write(directory.path().join("zarr.json"), metadata.to_string()).unwrap();
        let number = |row: u64, column: u64| (10 * row + column) as f64;
        for i in 0..2 {
            for j in 0..3 {
                let cells = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| number(2 * i + a, 2 * j + b).to_le_bytes());
                let file = directory.path().join(format!("c/{i}/{j}"));
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, cells.concat()).unwrap();
            }
        }
        let info = ArrayInfo::read(directory.path()).unwrap().unwrap();
        let expected: Vec<f64> = (0..3).flat_map(|row| (0..5).map(move |column| number(row, column))).collect();
        let read = |limit| read_all(&info, directory.path(), &mut Budget::new(limit));
        assert_eq!(read(1 << 20).unwrap(), expected);
        assert!(read(100).unwrap_err().to_string().contains("the memory limit of 100 bytes"));
    }
}

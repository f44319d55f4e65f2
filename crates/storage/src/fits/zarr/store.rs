//! The files of a store, and what all its chains share.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};
use sgmcmc_core::Result;
use zarrs::array::{ArrayBuilder, data_type};
use zarrs::storage::{Bytes, OffsetBytesIterator, StorageError, StoreKey, StorePrefix, WritableStorageTraits};

use super::OWN;
use super::schema::{Array, DIMENSIONS, GROUPS};
use crate::error::{Error, Problem};
use crate::fits::append::failed;
use crate::fits::table::Extra;

/// Elements of a chunk of the coordinates.
const COORDINATES: u64 = 1 << 14;

/// A directory whose files are replaced all or nothing.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    unfinished: AtomicU64,
}

impl Files {
    /// Removes the chunks of `array` that belong to `chain` and do not come before chunk `first`.
    pub(super) fn remove_chunks(&self, array: &Array, chain: usize, first: u64) -> io::Result<()> {
        let directory = self.root.join(array.path()).join("c").join(chain.to_string());
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let number: Option<u64> = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if number.is_some_and(|number| number >= first) {
                let path = entry.path();
                if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
            }
        }
        Ok(())
    }

    /// Whether a chunk of `array` of `chain` is there.
    pub(super) fn has_chunk(&self, array: &Array, chain: usize, chunk: u64) -> bool {
        self.root.join(array.path()).join(format!("c/{chain}/{chunk}")).exists()
    }

    fn remove(&self, name: &str) -> Result<(), StorageError> {
        let path = self.root.join(name);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Arc::new(error).into()),
            _ => Ok(()),
        }
    }
}

impl WritableStorageTraits for Files {
    fn set(&self, key: &StoreKey, value: Bytes) -> Result<(), StorageError> {
        let path = self.root.join(key.as_str());
        let number = self.unfinished.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.root.join(format!(".unfinished-{}-{number}", std::process::id()));
        let write = || -> io::Result<()> {
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
            File::create(&unfinished)?.write_all(&value)?;
            fs::rename(&unfinished, &path)
        };
        write().map_err(|error| Arc::new(error).into())
    }

    fn set_partial_many(&self, key: &StoreKey, _: OffsetBytesIterator<'_>) -> Result<(), StorageError> {
        Err(StorageError::Unsupported(format!("{key} is written whole")))
    }

    fn erase(&self, key: &StoreKey) -> Result<(), StorageError> {
        self.remove(key.as_str())
    }

    fn erase_prefix(&self, prefix: &StorePrefix) -> Result<(), StorageError> {
        self.remove(prefix.as_str())
    }

    fn supports_set_partial(&self) -> bool {
        false
    }
}

/// What all chains of a store share.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    pub(super) files: Arc<Files>,
    /// Metadata of the groups that were added, by path.
    pub(super) added: BTreeMap<String, Value>,
    run: Option<RunArrays>,
    extra: Option<Extra>,
}

/// The arrays the chains of a run write to, and how far each chain has come.
#[derive(Debug)]
struct RunArrays {
    arrays: Vec<Array>,
    block: u64,
    draws: BTreeMap<usize, u64>,
    /// Elements of the coordinates that were written.
    coordinates: [u64; 2],
}

impl Store {
    pub(super) fn open(path: &Path) -> crate::Result<Self> {
        let fail = |error| Error::file(path, Problem::Io(error));
        fs::create_dir_all(path).map_err(fail)?;
        let files = Arc::new(Files { root: path.to_path_buf(), unfinished: AtomicU64::new(0) });
        let mut store = Self { path: path.to_path_buf(), files, added: BTreeMap::new(), run: None, extra: None };
        // Groups that were added before stay.
        if let Ok(root) = fs::read(path.join("zarr.json")) {
            let root: Value = serde_json::from_slice(&root).map_err(|error| {
                Error::file(&path.join("zarr.json"), Problem::Corrupt { detail: error.to_string() })
            })?;
            let nodes = root["consolidated_metadata"]["metadata"].as_object().cloned().unwrap_or_default();
            let own = |name: &str| GROUPS.iter().any(|group| name.split('/').next() == Some(group));
            store.added = nodes.into_iter().filter(|(name, _)| !own(name)).collect();
        }
        Ok(store)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Says what the chains write. The first of them decides.
    pub(super) fn begin(&mut self, extra: Extra, arrays: Vec<Array>, block: u64) {
        if self.run.is_none() {
            self.run = Some(RunArrays { arrays, block, draws: BTreeMap::new(), coordinates: [0; 2] });
            self.extra = Some(extra);
        }
    }

    /// Makes `draws` draws of `chain` visible, whose chunks are there.
    pub(super) fn extend(&mut self, chain: usize, draws: u64) -> Result<()> {
        if let Some(run) = &mut self.run {
            run.draws.insert(chain, draws);
        }
        self.commit(None)
    }

    /// Writes the metadata: of every array and group, then, in one file, of them all.
    pub(super) fn commit(&mut self, extra: Option<Extra>) -> Result<()> {
        self.extra = extra.or(self.extra.take());
        let mut nodes: BTreeMap<String, Value> = BTreeMap::new();
        if let Some(run) = &mut self.run {
            run.describe(&self.files, &mut nodes).map_err(|error| failed(&self.path, error))?;
        }
        nodes.extend(self.added.clone());
        for (name, node) in &nodes {
            self.put(&format!("{name}/zarr.json"), node)?;
        }
        let mut attributes = Map::new();
        attributes.insert("creation_library".into(), json!("sgmcmc"));
        attributes.insert("creation_library_version".into(), json!(env!("CARGO_PKG_VERSION")));
        attributes.insert("creation_library_language".into(), json!("Rust"));
        attributes.insert("inference_library".into(), json!("sgmcmc"));
        attributes.insert("inference_library_version".into(), json!(env!("CARGO_PKG_VERSION")));
        attributes.insert("sample_dims".into(), json!(DIMENSIONS));
        if let Some(extra) = &self.extra {
            attributes.insert(OWN.into(), extra.to_json().into());
        }
        let consolidated = json!({"kind": "inline", "must_understand": false, "metadata": nodes});
        let root = json!({
            "zarr_format": 3, "node_type": "group", "attributes": attributes, "consolidated_metadata": consolidated,
        });
        self.put("zarr.json", &root)
    }

    fn put(&self, name: &str, content: &Value) -> Result<()> {
        let key = StoreKey::new(name).map_err(|error| failed(&self.path, error))?;
        let bytes = serde_json::to_vec_pretty(content).map_err(|error| failed(&self.path, error))?;
        self.files.set(&key, bytes.into()).map_err(|error| failed(&self.path.join(name), error))
    }
}

impl RunArrays {
    /// Adds the metadata of the groups, their arrays and coordinates.
    fn describe(
        &mut self,
        files: &Arc<Files>,
        nodes: &mut BTreeMap<String, Value>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let chains = self.draws.keys().last().map_or(0, |last| *last as u64 + 1);
        let draws = self.draws.values().max().copied().unwrap_or(0);
        for group in GROUPS {
            nodes.insert(group.into(), group_metadata());
            for (place, (name, size)) in DIMENSIONS.into_iter().zip([chains, draws]).enumerate() {
                let path = format!("{group}/{name}");
                coordinate(files, &path, name, size, self.coordinates[place])
                    .map(|metadata| nodes.insert(path, metadata))?;
            }
        }
        self.coordinates = [chains, draws];
        for array in &self.arrays {
            let metadata = array.builder(chains, draws, self.block)?.build_metadata()?;
            nodes.insert(array.path(), serde_json::to_value(metadata)?);
        }
        Ok(())
    }
}

pub(super) fn group_metadata() -> Value {
    json!({"zarr_format": 3, "node_type": "group", "attributes": {}})
}

/// Writes a coordinate, 0, 1, … below `size`, of which `written` are there, and gives its metadata.
pub(super) fn coordinate(
    files: &Arc<Files>,
    path: &str,
    name: &str,
    size: u64,
    written: u64,
) -> Result<Value, Box<dyn std::error::Error>> {
    let mut builder = ArrayBuilder::new(vec![size], vec![COORDINATES], data_type::int64(), 0_i64);
    builder.dimension_names(Some([name]));
    let array = builder.build(Arc::clone(files), &format!("/{path}"))?;
    // Chunks are written whole; what lies behind the size is not seen.
    for chunk in written.div_ceil(COORDINATES)..size.div_ceil(COORDINATES) {
        let first = chunk * COORDINATES;
        array.store_chunk(&[chunk], (first..first + COORDINATES).map(|i| i as i64).collect::<Vec<i64>>())?;
    }
    Ok(serde_json::to_value(builder.build_metadata()?)?)
}

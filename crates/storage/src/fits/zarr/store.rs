//! The files of a store, and the state that all chains share.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};
use sgmcmc_gradient::{Axis, Result};

use super::OWN;
use super::array::{chunk_key, metadata};
use super::schema::{Array, DIMENSIONS, GROUPS};
use crate::error::{Error, Problem};
use crate::fits::append::failed;
use crate::fits::extra::{self, Extra};
use crate::fits::time;
use crate::output::{self, DirectoryLock, File};

/// The prefix of the names of temporary files.
pub(super) const UNFINISHED: &str = ".unfinished-";

/// The number of elements in a chunk of a coordinate.
const COORDINATES: u64 = 1 << 14;

/// A directory whose files are replaced atomically.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    /// The number of temporary files created so far.
    unfinished: AtomicU64,
    /// The files that may not be on the disk yet.
    pending: Mutex<BTreeSet<PathBuf>>,
    /// The lock of a store that other processes may open.
    lock: Option<DirectoryLock>,
}

impl Files {
    /// Returns the files of a directory that no other process uses.
    fn unshared(root: &Path) -> Self {
        Self { root: root.to_path_buf(), unfinished: AtomicU64::new(0), pending: Mutex::default(), lock: None }
    }

    /// Locks a directory and removes the temporary files of killed processes.
    fn locked(root: &Path) -> io::Result<Self> {
        let Some(lock) = DirectoryLock::try_acquire(root)? else {
            return Err(io::Error::other("another run or another process writes to it"));
        };
        for entry in fs::read_dir(root)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                output::remove_file(entry.path())?;
            }
        }
        Ok(Self { lock: Some(lock), ..Self::unshared(root) })
    }

    /// Waits until all files are on the disk. A checkpoint that counts their draws must not be there before.
    pub(super) fn sync(&self) -> io::Result<()> {
        let pending = std::mem::take(&mut *self.pending());
        let synced = if pending.is_empty() { Ok(()) } else { output::sync_files(&self.root, &pending) };
        if synced.is_err() {
            self.pending().extend(pending);
        }
        synced
    }

    fn pending(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the chunks of `array` and `chain` from chunk `first` on.
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
                if path.is_dir() { output::remove_dir_all(path)? } else { output::remove_file(path)? }
            }
        }
        Ok(())
    }

    /// Returns whether a chunk of `array` and `chain` exists.
    pub(super) fn has_chunk(&self, array: &Array, chain: usize, chunk: u64) -> bool {
        self.root.join(array.path()).join(format!("c/{chain}/{chunk}")).exists()
    }

    /// Replaces a file atomically.
    pub(super) fn replace(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.root.join(key);
        let number = self.unfinished.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.root.join(format!("{UNFINISHED}{}-{number}", std::process::id()));
        if let Some(directory) = path.parent() {
            output::create_dir_all(directory)?;
        }
        let written = File::create(&unfinished)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| output::rename(&unfinished, &path));
        match written {
            Err(_) => _ = output::remove_file(&unfinished),
            // A fit under a temporary name is on the disk before it gets its name.
            Ok(()) if self.lock.is_some() => _ = self.pending().insert(path),
            Ok(()) => {}
        }
        written
    }
}

/// The state that all chains of a store share.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    pub(super) files: Arc<Files>,
    /// The metadata of other groups, by path.
    pub(super) added: BTreeMap<String, Value>,
    /// The time at which the store was created.
    created: String,
    run: Option<RunArrays>,
    extra: Option<Extra>,
}

/// The arrays of a run and the progress of each chain.
#[derive(Debug)]
struct RunArrays {
    arrays: Vec<Array>,
    /// The number of draws per chunk.
    block: u64,
    /// The number of draws of each chain.
    draws: BTreeMap<usize, u64>,
    /// The number of elements of each coordinate that were written.
    coordinates: [u64; 2],
}

impl Store {
    /// Returns a store in an empty directory that no other process uses.
    pub(super) fn create(path: &Path) -> Self {
        Self::with_files(path, Files::unshared(path))
    }

    fn with_files(path: &Path, files: Files) -> Self {
        let (path, created) = (path.to_path_buf(), time::now());
        Self { path, files: Arc::new(files), added: BTreeMap::new(), created, run: None, extra: None }
    }

    /// Opens or creates the store at `path` and locks it until the store is dropped.
    pub(super) fn open(path: &Path) -> crate::Result<Self> {
        let fail = |error| Error::file(path, Problem::Io(error));
        output::create_dir_all(path).map_err(fail)?;
        let mut store = Self::with_files(path, Files::locked(path).map_err(fail)?);
        // Other groups in the store are kept.
        if let Ok(root) = fs::read(path.join("zarr.json")) {
            let root: Value = serde_json::from_slice(&root).map_err(|error| {
                Error::file(&path.join("zarr.json"), Problem::Corrupt { detail: error.to_string() })
            })?;
            let nodes = root["consolidated_metadata"]["metadata"].as_object().cloned().unwrap_or_default();
            let own = |name: &str| GROUPS.iter().any(|group| name.split('/').next() == Some(group));
            if let Some(created) = root["attributes"]["created_at"].as_str() {
                store.created = created.to_owned();
            }
            store.added = nodes.into_iter().filter(|(name, _)| !own(name)).collect();
        }
        Ok(store)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Registers the arrays of a chain that begins. The first chain determines the arrays of the run.
    pub(super) fn begin(&mut self, extra: Extra, arrays: Vec<Array>, block: u64) {
        match &mut self.extra {
            Some(first) if self.run.is_some() => first.planned.extend(extra.planned),
            _ => {
                self.run = Some(RunArrays { arrays, block, draws: BTreeMap::new(), coordinates: [0; 2] });
                self.extra = Some(extra);
            }
        }
    }

    /// Extends the arrays to `draws` draws of `chain`, whose chunks have been written.
    pub(super) fn extend(&mut self, chain: usize, draws: u64) -> Result<()> {
        if let Some(run) = &mut self.run {
            run.draws.insert(chain, draws);
        }
        self.commit(None)
    }

    /// Writes the metadata of every array and group, and then the consolidated metadata.
    pub(super) fn commit(&mut self, extra: Option<Extra>) -> Result<()> {
        self.extra = extra.or(self.extra.take());
        let attributes = self.attributes();
        let mut nodes: BTreeMap<String, Value> = BTreeMap::new();
        if let Some(run) = &mut self.run {
            run.describe(&self.files, &mut nodes).map_err(|error| failed(&self.path, error))?;
        }
        nodes.extend(self.added.clone());
        // Readers of single groups see the attributes of their group only.
        for node in nodes.values_mut().filter(|node| node["node_type"] == "group") {
            node["attributes"] = attributes.clone().into();
        }
        for (name, node) in &nodes {
            self.write_json(&format!("{name}/zarr.json"), node)?;
        }
        let mut attributes = attributes;
        if let Some(extra) = &self.extra {
            attributes.insert(OWN.into(), extra.to_json().into());
        }
        let consolidated = json!({"kind": "inline", "must_understand": false, "metadata": nodes});
        let root = json!({
            "zarr_format": 3, "node_type": "group", "attributes": attributes, "consolidated_metadata": consolidated,
        });
        self.write_json("zarr.json", &root)
    }

    /// Returns the attributes of the store and of every group.
    fn attributes(&self) -> Map<String, Value> {
        let mut attributes = Map::new();
        attributes.insert("created_at".into(), json!(self.created));
        attributes.insert("creation_library".into(), json!("sgmcmc"));
        attributes.insert("creation_library_version".into(), json!(env!("CARGO_PKG_VERSION")));
        attributes.insert("creation_library_language".into(), json!("Rust"));
        attributes.insert("inference_library".into(), json!("sgmcmc"));
        attributes.insert("inference_library_version".into(), json!(env!("CARGO_PKG_VERSION")));
        attributes.insert("sample_dims".into(), json!(DIMENSIONS));
        let info = self.extra.as_ref().and_then(|extra| extra.info.as_ref());
        attributes.extend(info.into_iter().flat_map(extra::attributes).map(|(name, value)| (name.to_owned(), value)));
        attributes
    }

    fn write_json(&self, name: &str, content: &Value) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(content).map_err(|error| failed(&self.path, error))?;
        self.files.replace(name, &bytes).map_err(|error| failed(&self.path.join(name), error))
    }
}

impl RunArrays {
    /// Adds the metadata of the groups, arrays and coordinates to `nodes`, and writes the coordinates.
    fn describe(&mut self, files: &Files, nodes: &mut BTreeMap<String, Value>) -> io::Result<()> {
        let chains = self.draws.keys().last().map_or(0, |last| *last as u64 + 1);
        let draws = self.draws.values().max().copied().unwrap_or(0);
        for group in GROUPS {
            nodes.insert(group.into(), group_metadata());
            for (axis, (name, size)) in DIMENSIONS.into_iter().zip([chains, draws]).enumerate() {
                let path = format!("{group}/{name}");
                coordinate(files, &path, name, size, self.coordinates[axis])
                    .map(|metadata| nodes.insert(path, metadata))?;
            }
        }
        self.coordinates = [chains, draws];
        for axis in self.arrays.iter().flat_map(|array| &array.axes).filter(|axis| !axis.labels.is_empty()) {
            let path = format!("{}/{}", GROUPS[0], axis.name);
            if let Entry::Vacant(entry) = nodes.entry(path) {
                let metadata = labels(files, entry.key(), axis)?;
                entry.insert(metadata);
            }
        }
        for array in &self.arrays {
            nodes.insert(array.path(), array.metadata(chains, draws, self.block));
        }
        Ok(())
    }
}

pub(super) fn group_metadata() -> Value {
    json!({"zarr_format": 3, "node_type": "group", "attributes": {}})
}

/// Writes the labels of an axis as the coordinate of its dimension, and returns its metadata.
fn labels(files: &Files, path: &str, axis: &Axis) -> io::Result<Value> {
    // The codec `vlen-utf8`: the number of texts, and the length and the bytes of each.
    let mut bytes = (axis.labels.len() as u32).to_le_bytes().to_vec();
    for label in &axis.labels {
        bytes.extend((label.len() as u32).to_le_bytes());
        bytes.extend_from_slice(label.as_bytes());
    }
    files.replace(&chunk_key(path, &[0]), &bytes)?;
    let shape = [axis.labels.len() as u64];
    let mut metadata = metadata(&shape, &shape, false, std::slice::from_ref(&axis.name));
    metadata["data_type"] = json!("string");
    metadata["fill_value"] = json!("");
    metadata["codecs"] = json!([{"name": "vlen-utf8", "configuration": {}}]);
    Ok(metadata)
}

/// Writes the coordinate 0, 1, …, `size` − 1, of which the first `written` elements exist, and returns its metadata.
pub(super) fn coordinate(files: &Files, path: &str, name: &str, size: u64, written: u64) -> io::Result<Value> {
    // Chunks are written whole. Readers ignore elements after the size.
    for chunk in written.div_ceil(COORDINATES)..size.div_ceil(COORDINATES) {
        let first = chunk * COORDINATES;
        let bytes: Vec<u8> = (first..first + COORDINATES).flat_map(u64::to_le_bytes).collect();
        files.replace(&chunk_key(path, &[chunk]), &bytes)?;
    }
    Ok(metadata(&[size], &[COORDINATES], true, &[name.to_owned()]))
}

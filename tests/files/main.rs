//! Files: readers of data, mapped data, and data sets.

mod checkpoint_files;
mod datasets;
mod mapped;
mod readers;

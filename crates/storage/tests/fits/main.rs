//! Fits in files: round trips, damaged files, and the files of killed runs.

mod common;
mod damaged;
mod draws_csv;
mod faults;
mod formats;
#[cfg(unix)]
mod killed;
mod resumed;
mod round_trip;
mod writers;

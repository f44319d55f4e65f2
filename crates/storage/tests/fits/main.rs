//! Fits in files: what is written reads back, what is damaged is refused by name, and what a killed run left is readable.

mod common;
mod damaged;
mod faults;
mod formats;
#[cfg(unix)]
mod killed;
mod resumed;
mod round_trip;

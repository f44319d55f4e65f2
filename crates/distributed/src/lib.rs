//! Shards, combination of subposteriors, and runs on many machines.

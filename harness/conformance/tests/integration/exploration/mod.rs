//! Random sequences of steps: generation, shrinking, saved files, and broken edges and services that only sequences
//! reveal.

mod broken_edge;
mod broken_service;
mod fake_target;
mod generation;
mod program;
mod saved_files;
mod searching;
mod shrinking;

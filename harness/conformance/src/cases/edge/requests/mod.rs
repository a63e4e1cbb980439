//! Requests beside the plain collection: other fields, random values, other paths, and visitors that are no browsers.

pub(super) mod fields;
pub(super) mod fuzz;
pub(super) mod other_paths;
pub(super) mod visitors;

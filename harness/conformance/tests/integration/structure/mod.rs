//! Structure of the source: which files import which.

mod circles;
mod documents;
mod imports;

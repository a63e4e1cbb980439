//! Structure of the source: which files import which.

mod circles;
mod codes;
mod documents;
mod ignored;
mod imports;

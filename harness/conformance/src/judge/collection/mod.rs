//! What anyone in transit can read in a posted collection, whatever its format.

mod encodings;
mod key_stream;
mod readable;

pub(crate) use key_stream::shared_stream;
pub(crate) use readable::{decoded_forms, is_disguised, places_in};

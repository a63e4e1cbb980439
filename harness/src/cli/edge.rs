use super::args::Edge;
use super::failure::Failure;

/// `edgeproof edge`.
pub(super) fn main(_args: &Edge) -> Result<u8, Failure> {
    Err(Failure::plain("x", "y"))
}

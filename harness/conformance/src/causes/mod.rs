//! Probable causes of failures.

/// Ids of the causes that usually fail this case, the most typical one first. Empty until the data of the kill matrix is
/// built in.
pub fn typical_causes(_case_id: &str) -> Vec<String> {
    Vec::new()
}

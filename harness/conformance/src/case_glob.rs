use globset::{GlobBuilder, GlobMatcher};

/// Compiles a glob of case ids, in which `*` matches dots as well.
pub(crate) fn case_glob(text: &str) -> Result<GlobMatcher, globset::Error> {
    GlobBuilder::new(text).literal_separator(false).build().map(|glob| glob.compile_matcher())
}

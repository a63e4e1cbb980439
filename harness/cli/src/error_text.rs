/// An error and its sources in one line.
pub fn error_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let under = error.to_string();
        // Transparent errors repeat their source.
        if !text.contains(&under) {
            text = format!("{text}: {under}");
        }
        source = error.source();
    }
    text
}

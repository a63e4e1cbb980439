//! HTML pages: one file, no network, no script.

use super::escape::markup;

/// Colours, boxes and tables of conformance and mutation pages.
pub const STYLE: &str = include_str!("page.css");

/// A page. `style` is CSS, `body` is HTML. The page is well-formed XML if the body is.
pub fn page(title: &str, style: &str, body: &str) -> String {
    let title = markup(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// A section with a heading and a list of HTML items; empty without items.
pub(crate) fn list(heading: &str, items: impl Iterator<Item = String>) -> String {
    let mut list = String::new();
    for item in items {
        put!(list, "<li>{item}</li>\n");
    }
    if list.is_empty() {
        return list;
    }
    format!("<section>\n<h2>{heading}</h2>\n<ul>\n{list}</ul>\n</section>\n")
}

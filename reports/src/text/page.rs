//! HTML pages: one file, no network. A page runs no script but those that its own policy admits.

use askama::Template;

use super::escape::visible;

/// Colours, boxes and tables of conformance and mutation pages.
pub const STYLE: &str = include_str!("../../templates/page.css");

/// A page whose body is written in code.
#[derive(Template)]
#[template(path = "written.html")]
struct WrittenPage<'a> {
    title: &'a str,
    style: &'a str,
    body: &'a str,
}

/// A page. `style` is CSS, `body` is HTML. The page is well-formed XML if the body is.
pub fn page(title: &str, style: &str, body: &str) -> String {
    rendered(&WrittenPage { title, style, body })
}

/// The page of a template. askama escapes what is markup. A template has no hidden characters, so that all of them come from
/// values.
pub(crate) fn rendered(template: &impl Template) -> String {
    let html = template.render().expect("no value of a template can fail");
    visible(&html).into_owned() + "\n"
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

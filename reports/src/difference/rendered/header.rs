use super::text::Rendered;
use crate::difference::choice::{CacheRule, CodingRule};
use crate::difference::value::{HeaderRule, Lifetime, Wire};

pub(super) fn header(name: &str, rule: &HeaderRule, actual: Option<&Wire>) -> Rendered {
    let value = |none: &str| actual.map_or_else(|| none.to_owned(), |value| value.text.clone());
    let named = |name: &str, none: &str| {
        actual.map_or_else(|| none.to_owned(), |value| format!("{name}: {}", value.text))
    };
    let what = format!("header {name}");
    match rule {
        HeaderRule::ListsPost => Rendered::new(what, "a list with POST", value("no such header")),
        HeaderRule::Bearer => Rendered::new(what, "Bearer", value("no such header")),
        HeaderRule::EntityTag => Rendered::new(what, "an entity tag in quotes", value("no such header")),
        HeaderRule::JsonType => Rendered::new(what, "application/json", value("no such header")),
        HeaderRule::Methods => Rendered::new(
            "method POST allowed",
            "a list of methods, or no header (POST need not be listed)",
            named("Access-Control-Allow-Methods", "no Access-Control-Allow-Methods"),
        ),
        HeaderRule::ListsContentType => Rendered::new(
            "header content-type allowed",
            "Access-Control-Allow-Headers with content-type",
            named("Access-Control-Allow-Headers", "no such header"),
        ),
        HeaderRule::VaryOrigin { allowed, other } => {
            let grant = |grant: &Option<Wire>| {
                grant.as_ref().map_or("none".into(), |grant| format!("{:?}", grant.text))
            };
            let actual = if allowed == other {
                "the same Access-Control-Allow-Origin".to_owned()
            } else {
                format!(
                    "{}; Access-Control-Allow-Origin for the allowed origin {}, for another origin {}",
                    named("Vary", "no Vary"),
                    grant(allowed),
                    grant(other)
                )
            };
            Rendered::new(
                what,
                "Vary: Origin, or the same Access-Control-Allow-Origin for every origin",
                actual,
            )
        }
        HeaderRule::NotOfService => {
            let actual = if name.is_empty() { "none" } else { name };
            Rendered::new("headers of the service in the answer", "none", actual)
        }
        HeaderRule::SameAs(expected) => {
            let expected = expected.as_ref().map_or_else(|| "none".to_owned(), |value| value.text.clone());
            Rendered::new(what, expected, value("none"))
        }
    }
}

pub(super) fn grant(origin: &str, expected: bool, actual: Option<&Wire>) -> Rendered {
    let value = |none: &str| {
        actual.map_or(none.into(), |grant| format!("Access-Control-Allow-Origin: {}", grant.text))
    };
    if expected {
        let expected = format!("Access-Control-Allow-Origin: {origin}");
        return Rendered::new("readable by the page", expected, value("no such header"));
    }
    let expected = format!("no grant to {origin}");
    Rendered::new("grant to another origin", expected, value("no Access-Control-Allow-Origin"))
}

pub(super) fn cache(rule: CacheRule, longest_s: u64, actual: &[Lifetime]) -> Rendered {
    let text = |lifetime: &Lifetime| match lifetime {
        Lifetime::Directives(text) => text.text.clone(),
        Lifetime::Expires(Some(seconds)) => format!("Expires in {seconds} seconds"),
        Lifetime::Expires(None) => "Expires".into(),
    };
    let lifetimes: Vec<String> = actual.iter().map(text).collect();
    match rule {
        CacheRule::Lifetime => Rendered::new(
            "cache lifetime",
            format!("at most {longest_s} seconds"),
            joined(&lifetimes, "no cache lifetime"),
        ),
        CacheRule::StaleIncluded => Rendered::new(
            "cache lifetime, stale use included",
            format!("a cache lifetime of at most {longest_s} seconds, stale use included"),
            joined(&lifetimes, "none"),
        ),
        CacheRule::NotShared => Rendered::new(
            "Cache-Control",
            "neither public nor s-maxage nor must-revalidate",
            joined(&lifetimes, "no Cache-Control"),
        ),
    }
}

pub(super) fn coded(
    rule: CodingRule,
    expected: Option<&Wire>,
    actual: Option<&Wire>,
    coding: Option<&Wire>,
) -> Rendered {
    let text =
        |value: Option<&Wire>, absent: &str| value.map_or(absent.to_owned(), |value| value.text.clone());
    match rule {
        CodingRule::Transfer => Rendered::new(
            "transfer coding in an answer to HTTP/1.0",
            "none",
            if actual.is_some() { "in the answer" } else { "none" },
        ),
        CodingRule::Intact => Rendered::new(
            format!("body in {}", text(coding, "")),
            "complete",
            if actual.is_some() { "cut off, or not in this coding" } else { "complete" },
        ),
        CodingRule::Accepted => {
            Rendered::new("content coding", "one that the request accepts", text(coding, ""))
        }
        CodingRule::Vary => {
            Rendered::new("header vary of a coded answer", "Accept-Encoding", text(actual, ""))
        }
        CodingRule::HeadLength => Rendered::new(
            "header content-length of HEAD",
            format!("{}, or none", text(expected, "that of GET")),
            text(actual, "none"),
        ),
    }
}

fn joined(texts: &[String], none: &str) -> String {
    if texts.is_empty() { none.to_owned() } else { texts.join(", ") }
}

use super::text::{Rendered, several};
use crate::difference::count::{Count, Counted};
use crate::difference::value::Wire;

pub(super) fn rendered(count: &Count) -> Rendered {
    let Count { expected, actual, of, part, seed, .. } = count;
    let (expected, of) = (expected.unwrap_or_default(), of.unwrap_or_default());
    let (part, seed) = (part.unwrap_or_default(), seed.unwrap_or_default());
    let text = |wire: &Option<Wire>| wire.as_ref().map(|wire| wire.text.clone()).unwrap_or_default();
    let (wanted, first) = (text(&count.wanted), text(&count.first));
    let or_none = |some: &str| if *actual == 0 { "none".to_owned() } else { some.to_owned() };
    let number = actual.to_string();
    let or_session = |number| count.session.as_ref().map_or(number, ToString::to_string);
    let as_expected = |word| format!("{} as expected", several(expected, word));
    match count.counted {
        Counted::Collections => Rendered::new("collections", expected.to_string(), or_session(number)),
        Counted::SomeCollections => {
            Rendered::new("collections at the edge", "at least 1", or_session(number))
        }
        Counted::LateCollections => {
            Rendered::new("collections after the abort", "none", or_none("a collection arrived at the edge"))
        }
        Counted::KeptCollections => Rendered::new(
            "requests with a collection after the abort",
            "none",
            or_none("a request goes on, so the edge may still relay it"),
        ),
        Counted::Posts => Rendered::new("POSTs", format!("at most {expected}"), number),
        Counted::AcceptedCollections => Rendered::new("accepted collections", expected.to_string(), number),
        Counted::Copies => Rendered::new("copies of a collection", "none", number),
        Counted::SameBodies => Rendered::new(
            "requests at the service",
            format!("{expected} with this body"),
            format!("{actual} of {of} with this body"),
        ),
        Counted::WrongAnswers => {
            let foreign = match part {
                0 => String::new(),
                foreign => format!(", {foreign} of them with the reason of another request"),
            };
            Rendered::new(
                "unexpected answers",
                format!("{expected} of {of}"),
                format!("{actual} of {of}{foreign}"),
            )
        }
        Counted::KeptFiles => Rendered::new(
            "files and sockets that the edge keeps open",
            format!("fewer than one for every second refusal, in one of two batches of {of}"),
            format!("{actual} more after the first batch, {part} more after the second one"),
        ),
        Counted::ChangedBodies => Rendered::new(
            "bodies that did not arrive once and unchanged",
            format!("{expected} of {of}"),
            format!("{actual} of {of}"),
        ),
        Counted::LostBodies => {
            let actual = match actual {
                0 => format!("all {of} arrive (seed {seed})"),
                _ => format!("body {part} of {of} is lost or changed (shown shrunk; seed {seed})"),
            };
            Rendered::new("generated bodies", "all arrive", actual)
        }
        Counted::FollowedRedirects => {
            let license = if part > 0 { " with the license" } else { "" };
            let actual = or_none(&format!("a {first} request{license}"));
            Rendered::new("requests to the redirect's location", "none", actual)
        }
        Counted::RequestsElsewhere => {
            let license = if part > 0 { " with the license" } else { "" };
            let actual = or_none(&format!("a {first} request{license}"));
            Rendered::new("requests to the host that the client named", "none", actual)
        }
        Counted::RequestTargets => {
            let expected = match &count.wanted {
                None => "as without the slash in SERVICE_URL".to_owned(),
                Some(_) => format!("below {wanted}"),
            };
            Rendered::new("request target at the service", expected, first)
        }
        Counted::ForeignRequests => {
            Rendered::new("requests at the service", "none of this case", or_none("one"))
        }
        Counted::BrokenRequests => Rendered::new("request", "complete", "broke off"),
        Counted::OtherMethods => Rendered::new("method", "POST", first),
        Counted::WaitingRequests => {
            Rendered::new("waiting requests", "none", or_none("the disconnected one"))
        }
        Counted::RevealingHeaders => Rendered::new("header fields for an old verdict", wanted, first),
        Counted::Sequences => {
            let played = format!("{} in {}", several(part, "step"), several(of, "sequence"));
            let actual = match (of.saturating_sub(*actual), expected.saturating_sub(of)) {
                (0, _) => format!("{played} (seed {seed})"),
                (failed, 0) => format!("{failed} of {of} failed (seed {seed}): {played}"),
                (failed, rest) => {
                    format!("{failed} of {of} failed (seed {seed}): {played}; {rest} not played")
                }
            };
            Rendered::new("sequences", format!("{expected} as expected"), actual)
        }
        Counted::SavedSequences => Rendered::new(
            "saved sequence",
            "a file in the folder of --save",
            format!("cannot write to {first}"),
        ),
        Counted::Steps | Counted::ShrunkSteps => {
            let shrunk = if count.counted == Counted::ShrunkSteps { ", shrunk" } else { "" };
            let what = count.part.map_or("saved sequence".into(), |part| format!("sequence {part}{shrunk}"));
            if expected == *actual {
                return Rendered::new(what, as_expected("step"), as_expected("step"));
            }
            Rendered::new(what, "each step as expected", format!("step {} of {expected}", actual + 1))
        }
        Counted::Exchanges => {
            let unreduced = match part {
                0 => String::new(),
                part => format!(", {part} of them not reduced"),
            };
            let actual = if expected == *actual {
                as_expected("exchange")
            } else {
                format!(
                    "{actual} as expected, {} not{unreduced}, {} not played",
                    of.saturating_sub(*actual),
                    expected.saturating_sub(of)
                )
            };
            Rendered::new("exchanges", as_expected("exchange"), actual)
        }
        Counted::JudgedExchanges => {
            let fail = if *actual == 1 { "fails" } else { "fail" };
            let exchanges = several(*actual, "exchange");
            let actual =
                format!("{exchanges} {fail} because of {first}; the case of this dimension judges it");
            Rendered::new("exchanges", "as expected", actual)
        }
        Counted::LimitedRequests => Rendered::new(
            "requests that the target refuses by itself",
            "none",
            format!("{actual} of {of}, with status {part}"),
        ),
    }
}

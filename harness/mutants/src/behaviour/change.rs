use bytes::Bytes;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_TYPE, VARY};
use serde_json::Value;

use super::answer::{Answer, remove_cors};
use super::history::{History, Memory, Which};
use super::page::Page;
use super::seen::Seen;

/// Change of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Status(u16),
    Content(&'static str),
    /// Content type and body.
    Typed(&'static str, &'static str),
    /// JSON of this status, with the other headers and the log.
    Rewritten(u16, &'static str),
    /// This page, with the CORS headers only, as a middleware sets them.
    Becomes(Page),
    /// This page and nothing else.
    Replaced(Page),
    SetHeader(&'static str, &'static str),
    RemoveHeader(&'static str),
    /// Removes the headers that let pages read the answer.
    NoCors,
    /// Grants the origin of the request, if it fits to the allowed origin.
    Grants(fn(&str, &str) -> bool),
    SetMember(&'static str, fn(&Seen<'_>) -> Value),
    RemoveMember(&'static str),
    /// Changes a member of a body that is a JSON object.
    EditMember(&'static str, fn(&mut Value)),
    /// One change after the other.
    Each(&'static [Change]),
    /// The answer of a remembered exchange, if there is one.
    Repeats(Which, Memory),
    /// The reference of a remembered exchange, if there is one.
    RepeatsReference(Which, Memory),
    By(fn(&Seen<'_>, Answer) -> Answer),
}

impl Change {
    /// The changed answer.
    pub(crate) fn apply(&self, seen: &Seen<'_>, history: &History, right: Answer) -> Answer {
        let mut answer = right;
        match *self {
            Self::Status(status) => answer.status = status,
            Self::Content(body) => answer.body = Bytes::from_static(body.as_bytes()),
            Self::Typed(kind, body) => {
                answer = Answer { body: body.into(), ..answer }.with(CONTENT_TYPE.as_str(), kind);
            }
            Self::Rewritten(status, body) => {
                answer = Answer { status, body: body.into(), ..answer };
                answer = answer.with(CONTENT_TYPE.as_str(), "application/json");
            }
            Self::Becomes(page) => {
                let mut other = page.answer(seen);
                for name in [ACCESS_CONTROL_ALLOW_ORIGIN, VARY] {
                    other.headers.extend(answer.headers.remove(&name).map(|value| (name, value)));
                }
                answer = other;
            }
            Self::Replaced(page) => answer = page.answer(seen),
            Self::SetHeader(name, value) => answer = answer.with(name, value),
            Self::RemoveHeader(name) => answer = answer.without(name),
            Self::NoCors => remove_cors(&mut answer.headers),
            Self::Grants(fits) => {
                if let Some(origin) = seen.origin()
                    && origin.to_str().is_ok_and(|origin| fits(origin, &seen.setup.allowed_origin))
                {
                    answer.headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
                }
            }
            Self::SetMember(name, value) => answer = answer.with_member(name, value(seen)),
            Self::RemoveMember(name) => answer = answer.edit(|body| drop(body.shift_remove(name))),
            Self::EditMember(name, edit) => {
                answer = answer.edit(|body| body.get_mut(name).into_iter().for_each(edit));
            }
            Self::Each(changes) => {
                answer = changes.iter().fold(answer, |answer, change| change.apply(seen, history, answer));
            }
            Self::Repeats(which, memory) => {
                answer = history.recall(which, memory, seen).map_or(answer, |past| past.answer.clone());
            }
            Self::RepeatsReference(which, memory) => {
                if let Some(past) = history.recall(which, memory, seen) {
                    answer = answer.with_member("ref", &*past.reference);
                }
            }
            Self::By(change) => answer = change(seen, answer),
        }
        answer
    }

    /// What it has to be able to recall.
    pub(crate) fn memory(&self) -> Option<Memory> {
        match self {
            Self::Repeats(_, memory) | Self::RepeatsReference(_, memory) => Some(*memory),
            _ => None,
        }
    }
}

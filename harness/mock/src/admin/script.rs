use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use edgeproof_fixtures::spec::{Fact, Profile, Spec, Table, fill};
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use super::AdminError;
use super::chance::{DRAWN, draw};
use super::error::{parse, span};
use crate::decision::ReplyShape;
use crate::scripts::{Action, Match, Reply, Script, When};

/// Maximum of `skip` and `count`.
const MAX_REQUESTS: u32 = 10_000;

/// A script from a body, ready to be registered.
pub(super) struct ScriptRequest {
    pub(super) on: Match,
    pub(super) script: Script,
    /// Seed of its random faults.
    pub(super) seed: Option<u64>,
}

/// What the answer of a row is made of.
pub(super) struct RowAnswers<'a> {
    pub(super) spec: &'a Spec,
    pub(super) profile: &'a Profile,
    pub(super) shape: &'a ReplyShape,
}

/// Suffix of a code that takes one.
const SUFFIX: &str = "scripted";

/// Body of `POST /scripts`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptBody {
    #[serde(rename = "match")]
    on: ScriptTarget,
    #[serde(default)]
    skip: u32,
    count: Option<u32>,
    delay: Option<String>,
    answer: Option<ScriptedAnswer>,
    row: Option<String>,
    fault: Option<ConnectionFault>,
    chance: Option<f64>,
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScriptTarget {
    Relay,
    Marker(String),
    Verdicts,
    Verdict(String),
    Keys,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedAnswer {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<Value>,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ConnectionFault {
    Close,
    Reset,
    Silence,
    HeadCut,
    CloseAfter(usize),
    #[serde(rename = "raw")]
    RawText(String),
}

impl ScriptRequest {
    /// Parses a body. `seed` is the default seed of random faults.
    pub(super) fn parse(body: &[u8], rows: &RowAnswers<'_>, seed: u64) -> Result<Self, AdminError> {
        let body: ScriptBody = parse(body)?;
        let delay = body.delay.as_deref().map(span).transpose()?.unwrap_or_default();
        let on = match body.on {
            ScriptTarget::Relay => Match::Everything,
            ScriptTarget::Marker(text) if text.is_empty() => {
                return Err(AdminError::bad("the marker is empty; give a text that the body contains"));
            }
            ScriptTarget::Marker(text) => Match::Marker(text.into()),
            ScriptTarget::Verdicts => Match::Verdicts,
            ScriptTarget::Verdict(reference) => Match::VerdictOf(reference),
            ScriptTarget::Keys => Match::KeySet,
        };
        let action = match (body.answer, body.row, body.fault) {
            (Some(answer), None, None) => answer.action()?,
            (None, Some(row), None) => rows.row(&row, &on)?,
            (None, None, Some(fault)) => fault.action(),
            (None, None, None) if delay > Duration::ZERO => Action::Decide,
            (None, None, None) => {
                return Err(AdminError::bad(
                    "the script changes nothing; give \"answer\", \"row\", \"fault\" or \"delay\"",
                ));
            }
            _ => return Err(AdminError::bad("give only one of \"answer\", \"row\" and \"fault\"")),
        };
        let reply = Reply { delay, when: When::AfterBody, action };
        for (name, number) in [("skip", Some(body.skip)), ("count", body.count)] {
            if number.is_some_and(|number| number > MAX_REQUESTS) {
                return Err(AdminError::bad(format!("\"{name}\" exceeds the maximum of {MAX_REQUESTS}")));
            }
        }
        if body.count == Some(0) {
            return Err(AdminError::bad("\"count\" is 0; the script would match no request"));
        }
        let (drawn, seed) = match (body.chance, body.seed) {
            (Some(chance), given) if chance > 0.0 && chance <= 1.0 => {
                let seed = given.unwrap_or(seed);
                (
                    Some(draw(&reply, chance, seed, body.count.map_or(DRAWN, |count| count as usize))),
                    Some(seed),
                )
            }
            (Some(chance), _) => {
                return Err(AdminError::bad(format!(
                    "\"chance\" is {chance}; it must be above 0 and at most 1"
                )));
            }
            (None, Some(_)) => {
                return Err(AdminError::bad("\"seed\" needs \"chance\": it is for random faults"));
            }
            (None, None) => (None, None),
        };
        let mut replies = vec![Reply::now(Action::Decide); body.skip as usize];
        let ends = body.count.is_some() || drawn.is_some();
        match drawn {
            Some(drawn) => replies.extend(drawn),
            None => replies.extend(vec![reply; body.count.map_or(1, |count| count as usize)]),
        }
        if ends {
            replies.push(Reply::now(Action::Pass));
        }
        Ok(Self { on, script: Script { replies }, seed })
    }
}

impl ScriptedAnswer {
    fn action(self) -> Result<Action, AdminError> {
        let Self { status, headers, body, text } = self;
        if !StatusCode::from_u16(status).is_ok_and(|status| !status.is_informational()) {
            return Err(AdminError::bad(format!("invalid status {status}; it must be between 200 and 999")));
        }
        let mut fields: Vec<(String, String)> = headers.into_iter().collect();
        for (name, value) in &fields {
            let valid =
                HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(value.as_str()).is_ok();
            let set_by_server = ["content-length", "transfer-encoding", "connection"];
            if !valid || set_by_server.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(AdminError::bad(format!("header {name:?} cannot be set in an answer")));
            }
        }
        let body = match (body, text) {
            (Some(_), Some(_)) => {
                return Err(AdminError::bad("give only one of \"body\" (JSON) and \"text\""));
            }
            (Some(json), None) => {
                if !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                    fields.push(("content-type".to_owned(), "application/json".to_owned()));
                }
                Bytes::from(json.to_string())
            }
            (None, text) => Bytes::from(text.unwrap_or_default()),
        };
        Ok(Action::Answer { status, headers: fields, body })
    }
}

impl ConnectionFault {
    fn action(self) -> Action {
        match self {
            Self::Close => Action::Close,
            Self::Reset => Action::Reset,
            Self::Silence => Action::Silence,
            Self::HeadCut => Action::CutHead,
            Self::CloseAfter(after) => Action::CutDecision { after },
            Self::RawText(text) => Action::RawBytes(text.into()),
        }
    }
}

impl RowAnswers<'_> {
    /// The answer of a row. Fails for a row whose answer depends on the request.
    fn row(&self, id: &str, on: &Match) -> Result<Action, AdminError> {
        let row = self.spec.row(id).ok_or_else(|| AdminError::bad(format!("unknown row {id:?}")))?;
        let table = match on {
            Match::Everything | Match::Marker(_) => Table::Relay,
            Match::Verdicts | Match::VerdictOf(_) => Table::Verdict,
            Match::KeySet => Table::Keys,
        };
        if row.table != table {
            return Err(AdminError::bad(format!("row {id:?} is not of the endpoint that \"match\" names")));
        }
        let unfit = || AdminError::bad(format!("the answer of row {id:?} depends on the request"));
        let status = row.status().ok_or_else(unfit)?;
        let body = match (&row.fact, row.body()) {
            (Fact::Reason { code, .. }, _) => self.shape.render(status, code),
            (Fact::Verdict { .. }, Some(body)) if !body.to_string().contains("<session_ref>") => body.clone(),
            (Fact::Verdict { code: Some(code), suffixed, .. }, None) => {
                let code = if *suffixed { format!("{code}:{SUFFIX}") } else { code.clone() };
                fill(&self.profile.verdict_refused, &[("<reason>", code.into())])
            }
            _ => return Err(unfit()),
        };
        ScriptedAnswer { status, headers: BTreeMap::new(), body: Some(body), text: None }.action()
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;

    use super::*;

    fn read(body: &str) -> Result<ScriptRequest, AdminError> {
        let spec = Spec::builtin(Version::Current);
        let shape = ReplyShape::from_profile(spec.profile());
        let rows = RowAnswers { spec: &spec, profile: spec.profile(), shape: &shape };
        ScriptRequest::parse(body.as_bytes(), &rows, 42)
    }

    fn actions(body: &str) -> Vec<Action> {
        read(body).unwrap().script.replies.into_iter().map(|reply| reply.action).collect()
    }

    #[test]
    fn skip_and_count_select_the_second_request() {
        let actions = actions(r#"{"match":"relay","skip":1,"count":1,"answer":{"status":503}}"#);
        let answer = Action::Answer { status: 503, headers: Vec::new(), body: Bytes::new() };
        assert_eq!(actions, [Action::Decide, answer, Action::Pass]);
    }

    #[test]
    fn row_gives_its_status_and_body() {
        let [Action::Answer { status, body, .. }] =
            &actions(r#"{"match":"relay","row":"relay.401.revoked"}"#)[..]
        else {
            panic!("one answer")
        };
        assert_eq!((*status, &body[..]), (401, &br#"{"error":"revoked","reason":"revoked"}"#[..]));
        let [Action::Answer { body, .. }] =
            &actions(r#"{"match":"verdicts","row":"verdict.401.wrong-env"}"#)[..]
        else {
            panic!("one answer")
        };
        assert_eq!(&body[..], br#"{"error":"wrong_env"}"#);
    }

    #[test]
    fn chance_uses_the_default_seed_unless_one_is_given() {
        let wanted = read(r#"{"match":"verdicts","chance":0.5,"fault":"reset","count":8}"#).unwrap();
        assert_eq!((wanted.seed, wanted.script.replies.len()), (Some(42), 9));
        let named = read(r#"{"match":"verdicts","chance":0.5,"fault":"reset","count":8,"seed":42}"#).unwrap();
        assert_eq!(named.script, wanted.script);
    }

    #[rstest]
    #[case::nothing("", "the body is missing")]
    #[case::not_json("{", "EOF while parsing")]
    #[case::unknown(r#"{"match":"relay","answr":{}}"#, "unknown field `answr`, expected one of")]
    #[case::unknown_match(r#"{"match":"all","fault":"close"}"#, "unknown variant `all`")]
    #[case::idle(r#"{"match":"relay"}"#, "changes nothing")]
    #[case::two(r#"{"match":"relay","fault":"close","answer":{"status":200}}"#, "only one of")]
    #[case::status(r#"{"match":"relay","answer":{"status":99}}"#, "between 200 and 999")]
    #[case::header(
        r#"{"match":"relay","answer":{"status":200,"headers":{"a b":"c"}}}"#,
        "header \"a b\" cannot be set"
    )]
    #[case::length(
        r#"{"match":"relay","answer":{"status":200,"headers":{"Content-Length":"1"}}}"#,
        "cannot be set"
    )]
    #[case::span(r#"{"match":"relay","delay":"soon"}"#, "invalid duration \"soon\"")]
    #[case::row(r#"{"match":"relay","row":"x"}"#, "unknown row \"x\"")]
    #[case::other_table(r#"{"match":"relay","row":"verdict.401.expired"}"#, "is not of the endpoint")]
    #[case::open(r#"{"match":"verdicts","row":"verdict.404.pending"}"#, "depends on the request")]
    #[case::count(r#"{"match":"relay","fault":"close","count":0}"#, "\"count\" is 0")]
    #[case::many(
        r#"{"match":"relay","fault":"close","skip":10001}"#,
        "\"skip\" exceeds the maximum of 10000"
    )]
    #[case::chance(r#"{"match":"relay","fault":"close","chance":1.5}"#, "\"chance\" is 1.5")]
    #[case::seed(r#"{"match":"relay","fault":"close","seed":1}"#, "\"seed\" needs \"chance\"")]
    #[case::empty(
        r#"{"match":{"marker":""},"fault":"close"}"#,
        "the marker is empty; give a text that the body contains"
    )]
    fn invalid_script_is_refused(#[case] body: &str, #[case] why: &str) {
        let Err(AdminError::BadRequest(message)) = read(body) else { panic!("{body} was accepted") };
        assert!(message.contains(why), "{message}");
    }
}

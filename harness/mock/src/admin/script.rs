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

/// Most requests that are counted.
const MOST: u32 = 10_000;

/// What a body asks for, ready to be registered.
pub(super) struct ScriptRequest {
    pub(super) on: Match,
    pub(super) script: Script,
    /// What its random faults come from.
    pub(super) seed: Option<u64>,
}

/// What rows answer with.
pub(super) struct RowAnswers<'a> {
    pub(super) spec: &'a Spec,
    pub(super) profile: &'a Profile,
    pub(super) shape: &'a ReplyShape,
}

/// What a code that carries a suffix carries here.
const SUFFIX: &str = "scripted";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptBody {
    #[serde(rename = "match")]
    on: Target,
    #[serde(default)]
    skip: u32,
    #[serde(default)]
    count: Option<u32>,
    #[serde(default)]
    delay: Option<String>,
    #[serde(default)]
    answer: Option<ScriptedAnswer>,
    #[serde(default)]
    row: Option<String>,
    #[serde(default)]
    fault: Option<ConnectionFault>,
    #[serde(default)]
    chance: Option<f64>,
    #[serde(default)]
    seed: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Target {
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
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
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
    Raw(String),
}

impl ScriptRequest {
    /// Reads a body. `seed` is for random faults that name none.
    pub(super) fn parse(body: &[u8], rows: &RowAnswers<'_>, seed: u64) -> Result<Self, AdminError> {
        let body: ScriptBody = parse(body)?;
        let delay = body.delay.as_deref().map(span).transpose()?.unwrap_or_default();
        let on = match body.on {
            Target::Relay => Match::Everything,
            Target::Marker(text) if text.is_empty() => return Err(AdminError::bad("the marker is empty")),
            Target::Marker(text) => Match::Marker(text.into()),
            Target::Verdicts => Match::Verdicts,
            Target::Verdict(reference) => Match::VerdictOf(reference),
            Target::Keys => Match::KeySet,
        };
        let action = match (body.answer, body.row, body.fault) {
            (Some(answer), None, None) => answer.action()?,
            (None, Some(row), None) => rows.row(&row, &on)?,
            (None, None, Some(fault)) => fault.action(),
            (None, None, None) if delay > Duration::ZERO => Action::Decide,
            (None, None, None) => {
                return Err(AdminError::bad(
                    "it changes nothing: say \"answer\", \"row\", \"fault\" or \"delay\"",
                ));
            }
            _ => return Err(AdminError::bad("say only one of \"answer\", \"row\" and \"fault\"")),
        };
        let reply = Reply { delay, when: When::AfterBody, action };
        for (name, number) in [("skip", Some(body.skip)), ("count", body.count)] {
            if number.is_some_and(|number| number > MOST) {
                return Err(AdminError::bad(format!("\"{name}\" goes up to {MOST}")));
            }
        }
        if body.count == Some(0) {
            return Err(AdminError::bad("\"count\" is 0: it would be for nothing"));
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
                return Err(AdminError::bad(format!("\"chance\" is {chance}, not above 0 and up to 1")));
            }
            (None, Some(_)) => {
                return Err(AdminError::bad("\"seed\" is for random faults: say \"chance\" as well"));
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
            return Err(AdminError::bad(format!("an answer's status goes from 200 to 999, not {status}")));
        }
        let mut fields: Vec<(String, String)> = headers.into_iter().collect();
        for (name, value) in &fields {
            let valid =
                HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(value.as_str()).is_ok();
            let ours = ["content-length", "transfer-encoding", "connection"];
            if !valid || ours.contains(&name.to_ascii_lowercase().as_str()) {
                return Err(AdminError::bad(format!("{name:?} is no header that an answer can be given")));
            }
        }
        let body = match (body, text) {
            (Some(_), Some(_)) => {
                return Err(AdminError::bad("say only one of \"body\" (JSON) and \"text\""));
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
            Self::Raw(text) => Action::Raw(text.into()),
        }
    }
}

impl RowAnswers<'_> {
    /// The answer of a row, where it is one that can be given without knowing the request.
    fn row(&self, id: &str, on: &Match) -> Result<Action, AdminError> {
        let row = self.spec.row(id).ok_or_else(|| AdminError::bad(format!("there is no row {id:?}")))?;
        let table = match on {
            Match::Everything | Match::Marker(_) => Table::Relay,
            Match::Verdicts | Match::VerdictOf(_) => Table::Verdict,
            Match::KeySet => Table::Keys,
        };
        if row.table != table {
            return Err(AdminError::bad(format!("row {id:?} does not answer such requests")));
        }
        let unfit =
            || AdminError::bad(format!("row {id:?} has no answer that is the same for every request"));
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
    fn the_second_post_gets_503() {
        let actions = actions(r#"{"match":"relay","skip":1,"count":1,"answer":{"status":503}}"#);
        let answer = Action::Answer { status: 503, headers: Vec::new(), body: Bytes::new() };
        assert_eq!(actions, [Action::Decide, answer, Action::Pass]);
    }

    #[test]
    fn a_row_answers_in_its_words() {
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
    fn chance_comes_from_the_seed() {
        let wanted = read(r#"{"match":"verdicts","chance":0.5,"fault":"reset","count":8}"#).unwrap();
        assert_eq!((wanted.seed, wanted.script.replies.len()), (Some(42), 9));
        let named = read(r#"{"match":"verdicts","chance":0.5,"fault":"reset","count":8,"seed":42}"#).unwrap();
        assert_eq!(named.script, wanted.script);
    }

    #[rstest]
    #[case::nothing("", "a body in JSON is needed")]
    #[case::not_json("{", "EOF while parsing")]
    #[case::unknown(r#"{"match":"relay","answr":{}}"#, "unknown field `answr`, expected one of")]
    #[case::unknown_match(r#"{"match":"all","fault":"close"}"#, "unknown variant `all`")]
    #[case::idle(r#"{"match":"relay"}"#, "it changes nothing")]
    #[case::two(r#"{"match":"relay","fault":"close","answer":{"status":200}}"#, "only one of")]
    #[case::status(r#"{"match":"relay","answer":{"status":99}}"#, "goes from 200 to 999")]
    #[case::header(
        r#"{"match":"relay","answer":{"status":200,"headers":{"a b":"c"}}}"#,
        "\"a b\" is no header"
    )]
    #[case::length(
        r#"{"match":"relay","answer":{"status":200,"headers":{"Content-Length":"1"}}}"#,
        "is no header"
    )]
    #[case::span(r#"{"match":"relay","delay":"soon"}"#, "\"soon\" is no time span")]
    #[case::row(r#"{"match":"relay","row":"x"}"#, "there is no row \"x\"")]
    #[case::other_table(r#"{"match":"relay","row":"verdict.401.expired"}"#, "does not answer such requests")]
    #[case::open(r#"{"match":"verdicts","row":"verdict.404.pending"}"#, "no answer that is the same")]
    #[case::count(r#"{"match":"relay","fault":"close","count":0}"#, "\"count\" is 0")]
    #[case::many(r#"{"match":"relay","fault":"close","skip":10001}"#, "\"skip\" goes up to 10000")]
    #[case::chance(r#"{"match":"relay","fault":"close","chance":1.5}"#, "\"chance\" is 1.5")]
    #[case::seed(r#"{"match":"relay","fault":"close","seed":1}"#, "\"seed\" is for random faults")]
    #[case::empty(r#"{"match":{"marker":""},"fault":"close"}"#, "the marker is empty")]
    fn mistakes_are_told(#[case] body: &str, #[case] why: &str) {
        let Err(AdminError::BadRequest(message)) = read(body) else { panic!("{body} was taken") };
        assert!(message.contains(why), "{message}");
    }
}

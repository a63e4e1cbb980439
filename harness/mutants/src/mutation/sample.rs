use std::time::SystemTime;

use bytes::Bytes;
use edgeproof_edge::{EdgeAnswer, EdgeDecision, EdgeRules, RelayResult, RequestFacts, conclude, decide};
use edgeproof_fixtures::credentials::{ALLOWED_ORIGIN, ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table};
use edgeproof_fixtures::verdict::VerdictKeys;
use edgeproof_mock::{ReadOutage, ReplyShape, SessionFact, VerdictFacts, decide_verdict};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, Method, StatusCode};

use crate::behaviour::Answer;

/// Session reference of samples.
pub(super) const REFERENCE: &str = "edgeproof-sample";

/// Right answers of rows: of the reference edge and the mock service, caused by the row's own stimulus.
pub(super) struct Samples<'a> {
    spec: &'a Spec,
    rules: Option<EdgeRules>,
}

impl<'a> Samples<'a> {
    pub(super) fn new(spec: &'a Spec) -> Self {
        Self { spec, rules: EdgeRules::new(spec, spec.profile(), Some(ALLOWED_ORIGIN)).ok() }
    }

    /// The right answer of a row; `None` if no sample can be made.
    pub(super) fn of(&self, row: &Row) -> Option<Answer> {
        match row.table {
            Table::Edge | Table::Relay => self.edge(row),
            Table::Keys => self.keys(row),
            _ => self.verdict(row),
        }
    }

    fn edge(&self, row: &Row) -> Option<Answer> {
        let rules = self.rules.as_ref()?;
        let shape = ReplyShape::from_profile(self.spec.profile());
        let refused = |status: u16, body: String| RelayResult::Answered {
            status: StatusCode::from_u16(status).unwrap_or_default(),
            headers: HeaderMap::new(),
            body: Some(Bytes::from(body)),
        };
        if row.table == Table::Relay {
            let (status, code) = (row.status()?, row.code()?);
            return Some(answer_to(rules, &refused(status, shape.render(status, code).to_string())).into());
        }
        let relayed = match row.stimuli.first()? {
            Stimulus::ServiceAccepts => {
                RelayResult::Answered { status: StatusCode::OK, headers: HeaderMap::new(), body: None }
            }
            Stimulus::ShortBody => RelayResult::BodyBroken,
            Stimulus::ServicePortClosed => RelayResult::NoAnswer,
            Stimulus::ServiceRefuses => refused(403, shape.render(403, "edgeproof_sample").to_string()),
            Stimulus::ReplyEmpty => refused(403, String::new()),
            Stimulus::OtherMethod => return direct(rules, &Method::PUT),
            Stimulus::Preflight => return direct(rules, &Method::OPTIONS),
            _ => return None,
        };
        Some(answer_to(rules, &relayed).into())
    }

    fn keys(&self, row: &Row) -> Option<Answer> {
        if *row.stimuli.first()? != Stimulus::KeySetFetched {
            return None;
        }
        let content_type = HeaderValue::from_str(&self.spec.profile().keys_content_type).ok()?;
        Some(Answer {
            status: row.status()?,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, content_type)]),
            body: Bytes::from(VerdictKeys::fresh().key_set().to_json()),
            log: None,
        })
    }

    fn verdict(&self, row: &Row) -> Option<Answer> {
        let stimulus = *row.stimuli.first()?;
        let sessions = [
            SessionFact::Ready(Bytes::from_static(b"{}")),
            SessionFact::Pending,
            SessionFact::TooOld,
            SessionFact::Unknown,
            SessionFact::OtherLicense,
        ];
        let session = sessions.into_iter().find(|session| session.stimulus() == stimulus);
        let outage = ReadOutage::for_stimulus(stimulus);
        let token = match (&session, outage) {
            (None, None) => Err(ReadTokenFault { stimulus, suffix: Some("sample".into()) }),
            _ => Ok(ReadClaims { license_id: String::new(), expires: SystemTime::UNIX_EPOCH }),
        };
        let session = session.unwrap_or(SessionFact::Unknown);
        let facts = VerdictFacts { token: &token, outage, reference: REFERENCE, session };
        let decision = decide_verdict(self.spec, self.spec.profile(), &facts);
        (Some(decision.status) == row.status()).then(|| decision.into())
    }
}

fn answer_to(rules: &EdgeRules, relayed: &RelayResult) -> EdgeAnswer {
    conclude(rules, &facts(rules, &Method::POST), relayed)
}

fn direct(rules: &EdgeRules, method: &Method) -> Option<Answer> {
    match decide(rules, &facts(rules, method)) {
        EdgeDecision::Answer(answer) => Some(answer.into()),
        EdgeDecision::Relay | EdgeDecision::Measure => None,
    }
}

fn facts(rules: &EdgeRules, method: &Method) -> RequestFacts {
    RequestFacts {
        method: method.clone(),
        path: rules.signals_path().to_owned(),
        origin: Some(HeaderValue::from_static(ALLOWED_ORIGIN)),
        websocket: false,
    }
}

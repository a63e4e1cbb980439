use std::time::SystemTime;

use bytes::Bytes;
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_fixtures::spec::{Coverage, Row, Spec, Stimulus, Table, fill};
use edgeproof_fixtures::verdict::VerdictKeys;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use super::at_row::{AtServiceRow, Fault, as_answer};
use crate::derive::Derived;
use crate::kind::{Kind, says_the_same};
use edgeproof_mock::{ReadOutage, ServiceDecision, SessionFact, VerdictFacts, decide_verdict};

/// A session reference for samples.
const REFERENCE: &str = "edgeproof-sample";

/// Deviates at every answer of the verdict endpoint and the key set in every way that there is. `spec` alone says what
/// there is.
pub fn derive_serving(spec: &Spec) -> Derived<AtServiceRow> {
    let mut derived = Derived::default();
    for table in [Table::Verdict, Table::Keys] {
        let answered = |row: &&Row| row.coverage == Coverage::Cases && row.status().is_some();
        let rows: Vec<&Row> = spec.table(table).filter(answered).collect();
        for (index, row) in rows.iter().enumerate() {
            let Some(right) = sample(spec, row) else {
                derived.without_sample.push(row.id.clone());
                continue;
            };
            let after = rows[index + 1..].iter().chain(&rows[..index]);
            let neighbour = after.copied().find_map(|other| neighbour(spec, other));
            for fault in faults(row, &right, neighbour) {
                let (breaks, same) = (breaks(row, &fault), is_right(&fault, &right));
                let deviation = AtServiceRow { row: (*row).clone(), fault, breaks };
                if same { &mut derived.equivalent } else { &mut derived.deviations }.push(deviation);
            }
        }
    }
    derived
}

/// Every way to deviate at a row. What the interface does not show of its body is free: members of a verdict, and where a
/// code stands.
fn faults(row: &Row, right: &ServiceDecision, neighbour: Option<Kind>) -> Vec<Fault> {
    let mut kinds = vec![Kind::OtherClass, Kind::OtherStatus, Kind::Withheld];
    let members = match serde_json::from_slice(&right.body) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let names = members.iter().map(|(name, value)| (name.clone(), value.is_string()));
    if row.table == Table::Keys {
        for (name, _) in names {
            kinds.extend([Kind::WrongType(name.clone()), Kind::Missing(name.clone()), Kind::Renamed(name)]);
        }
        kinds.push(Kind::TextType);
    } else if row.body().is_some() || row.code().is_some() {
        for (name, is_text) in names {
            kinds.push(Kind::OtherValue(name.clone()));
            kinds.extend(is_text.then(|| Kind::Capitals(name.clone())));
            kinds.push(Kind::Missing(name.clone()));
            if row.body().is_some() {
                kinds.extend([Kind::WrongType(name.clone()), Kind::Renamed(name)]);
            }
        }
        kinds.extend(row.body().is_some().then_some(Kind::Extra));
        kinds.push(Kind::TextType);
    }
    kinds.extend(neighbour);
    let refuses = right.status == StatusCode::UNAUTHORIZED.as_u16();
    kinds.into_iter().map(Fault::Answer).chain(refuses.then_some(Fault::Unchecked)).collect()
}

/// The row that such a deviation breaks.
fn breaks(row: &Row, fault: &Fault) -> String {
    match (row.table, fault) {
        (Table::Keys, Fault::Answer(Kind::TextType)) => "keys.content-type".into(),
        (Table::Keys, Fault::Answer(Kind::Missing(_) | Kind::Renamed(_) | Kind::WrongType(_))) => {
            "keys.shape".into()
        }
        (_, Fault::Answer(Kind::TextType)) => "statement.json-content-type".into(),
        _ => row.id.clone(),
    }
}

fn is_right(fault: &Fault, right: &ServiceDecision) -> bool {
    match fault {
        Fault::Answer(kind) => {
            let right = as_answer(right.clone());
            says_the_same(&right, &kind.change(right.clone()))
        }
        Fault::Unchecked => false,
    }
}

/// The whole answer of a row, if the row alone says what it is.
fn neighbour(spec: &Spec, row: &Row) -> Option<Kind> {
    let body = match row.body_with(&[("<session_ref>", REFERENCE.into())]) {
        Some(body) => body,
        None => fill(&spec.profile().verdict_refused, &[("<reason>", row.code()?.into())]),
    };
    Some(Kind::Neighbour { row: row.id.clone(), status: row.status()?, body })
}

/// A right answer for a row: the mock service's, brought about by the row's own stimulus.
fn sample(spec: &Spec, row: &Row) -> Option<ServiceDecision> {
    let cause = *row.stimuli.first()?;
    if cause == Stimulus::KeySetFetched {
        let kind = HeaderValue::from_str(&spec.profile().keys_content_type).ok()?;
        let body = Bytes::from(VerdictKeys::fresh().key_set().to_json());
        return Some(ServiceDecision {
            status: row.status()?,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, kind)]),
            body,
            stimulus: None,
        });
    }
    let claims = ReadClaims { license_id: String::new(), expires: SystemTime::UNIX_EPOCH };
    let states = [
        SessionFact::Ready(Bytes::from_static(b"{}")),
        SessionFact::Pending,
        SessionFact::TooOld,
        SessionFact::Unknown,
        SessionFact::OtherLicense,
    ];
    let state = states.into_iter().find(|state| state.stimulus() == cause);
    let outage = ReadOutage::for_stimulus(cause);
    let token = match (&state, outage) {
        (None, None) => Err(ReadTokenFault { stimulus: cause, suffix: Some("sample".into()) }),
        _ => Ok(claims),
    };
    let session = state.unwrap_or(SessionFact::Unknown);
    let facts = VerdictFacts { token: &token, outage, reference: REFERENCE, session };
    let decision = decide_verdict(spec, spec.profile(), &facts);
    (Some(decision.status) == row.status()).then_some(decision)
}

use bytes::Bytes;
use edgeproof_fixtures::spec::{Coverage, Level, Row, Spec, Stimulus, Table};
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use super::kind::{Kind, says_the_same};
use edgeproof::target::ALLOWED_ORIGIN;
use edgeproof_edge::{EdgeAnswer, EdgeDecision, EdgeRules, RelayResult, RequestFacts, conclude, decide};
use edgeproof_mock::ReplyShape;

/// An edge that deviates at one row: where the right answer is that row's, it gives another.
#[derive(Debug, Clone, PartialEq)]
pub struct AtRow {
    /// The row whose answer is changed.
    pub row: Row,
    /// How.
    pub kind: Kind,
    /// The row that is broken by that: the changed one, or the statement about all answers that it is an instance of.
    pub breaks: String,
    /// How much that weighs, where it is less than the row does.
    pub level: Option<Level>,
}

/// What came of deriving.
#[derive(Debug)]
pub struct Derived<T> {
    /// The deviations.
    pub deviations: Vec<T>,
    /// What turned out to be the right answer: as it was generated, and found by comparing.
    pub equivalent: Vec<T>,
    /// Rows that no right answer could be had for.
    pub without_sample: Vec<String>,
}

/// Deviates at every row of the edge and relay tables in every way that there is. `spec` alone says what there is.
pub fn derive(spec: &Spec) -> Derived<AtRow> {
    let mut derived = Derived::default();
    let Ok(rules) = EdgeRules::new(spec, spec.profile(), Some(ALLOWED_ORIGIN)) else { return derived };
    for table in [Table::Edge, Table::Relay] {
        let rows: Vec<&Row> = spec.table(table).filter(|row| row.coverage == Coverage::Cases).collect();
        for (index, row) in rows.iter().enumerate() {
            let Some(right) = sample(spec, &rules, row) else {
                derived.without_sample.push(row.id.clone());
                continue;
            };
            let after = rows[index + 1..].iter().chain(&rows[..index]);
            let neighbour = after.copied().find_map(|other| neighbour(spec, other));
            for kind in kinds(row, &right, neighbour) {
                let breaks = breaks(row, &kind);
                let same = says_the_same(&right, &kind.change(right.clone()));
                let level = level(row, &kind);
                let deviation = AtRow { row: (*row).clone(), kind, breaks, level };
                if same { &mut derived.equivalent } else { &mut derived.deviations }.push(deviation);
            }
        }
    }
    derived
}

impl<T> Default for Derived<T> {
    fn default() -> Self {
        Self { deviations: Vec::new(), equivalent: Vec::new(), without_sample: Vec::new() }
    }
}

/// Every way to deviate at a row.
fn kinds(row: &Row, right: &EdgeAnswer, neighbour: Option<Kind>) -> Vec<Kind> {
    let mut kinds = vec![Kind::OtherClass];
    // Of a preflight, only the class counts (Fetch); all other answers have the status that is stated or passed on.
    if row.status().is_some() || row.body().is_some() {
        kinds.push(Kind::OtherStatus);
    }
    if let Ok(Value::Object(members)) = serde_json::from_slice(&right.body) {
        kinds.extend(members.contains_key("reason").then_some(Kind::Unknown));
        for (name, value) in members {
            kinds.push(Kind::OtherValue(name.clone()));
            kinds.extend(value.is_string().then(|| Kind::Capitals(name.clone())));
            kinds.push(Kind::WrongType(name.clone()));
            kinds.push(Kind::Missing(name.clone()));
            kinds.push(Kind::Renamed(name));
        }
        kinds.push(Kind::Extra);
        kinds.extend(neighbour);
    }
    kinds.extend([Kind::TextType, Kind::NoCors, Kind::Withheld]);
    kinds
}

/// The row that such a deviation breaks.
fn breaks(row: &Row, kind: &Kind) -> String {
    let preflight = row.stimuli.contains(&Stimulus::Preflight);
    let other_method = row.stimuli.contains(&Stimulus::OtherMethod);
    match kind {
        Kind::TextType => "statement.json-content-type".into(),
        Kind::NoCors if other_method => "statement.cors-readable-405".into(),
        Kind::NoCors if !preflight => "statement.cors-readable".into(),
        _ => row.id.clone(),
    }
}

/// Many HTTP stacks close the connection on a broken body before the edge's own code has a say: a warning, no failure.
fn level(row: &Row, kind: &Kind) -> Option<Level> {
    let broken = row.stimuli.contains(&Stimulus::ShortBody);
    (broken && *kind == Kind::Withheld).then_some(Level::Should)
}

/// The whole answer of a row, if the row alone says what it is.
fn neighbour(spec: &Spec, row: &Row) -> Option<Kind> {
    let status = row.status()?;
    let body = match row.table {
        Table::Relay => {
            let values = [("<reason>", json!(row.code()?)), ("<status>", json!(status))];
            spec.row("edge.refused")?.body_with(&values)?
        }
        _ => row.body()?.clone(),
    };
    Some(Kind::Neighbour { row: row.id.clone(), status, body })
}

/// A right answer of the edge for a row: of the real edge, brought about by the row's own stimulus.
fn sample(spec: &Spec, rules: &EdgeRules, row: &Row) -> Option<EdgeAnswer> {
    let refused = |status: u16, body: String| RelayResult::Answered {
        status: StatusCode::from_u16(status).unwrap_or_default(),
        body: Some(Bytes::from(body)),
    };
    let shape = ReplyShape::from_profile(spec.profile());
    if row.table == Table::Relay {
        let (status, code) = (row.status()?, row.code()?);
        return Some(answer_to(rules, &refused(status, shape.render(status, code).to_string())));
    }
    let relayed = match row.stimuli.first()? {
        Stimulus::ServiceAccepts => RelayResult::Answered { status: StatusCode::OK, body: None },
        Stimulus::ShortBody => RelayResult::BodyBroken,
        Stimulus::ServicePortClosed => RelayResult::NoAnswer,
        Stimulus::ServiceRefuses => refused(403, shape.render(403, "edgeproof_sample").to_string()),
        Stimulus::ReplyEmpty => refused(403, String::new()),
        Stimulus::OtherMethod => return direct(rules, &Method::PUT),
        Stimulus::Preflight => return direct(rules, &Method::OPTIONS),
        _ => return None,
    };
    Some(answer_to(rules, &relayed))
}

fn answer_to(rules: &EdgeRules, relayed: &RelayResult) -> EdgeAnswer {
    conclude(rules, &facts(rules, &Method::POST), relayed)
}

fn direct(rules: &EdgeRules, method: &Method) -> Option<EdgeAnswer> {
    match decide(rules, &facts(rules, method)) {
        EdgeDecision::Answer(answer) => Some(answer),
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

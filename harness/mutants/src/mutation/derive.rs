use edgeproof_fixtures::spec::{Level, Row, Spec, Stimulus, Table, fill};
use http::StatusCode;
use serde_json::{Map, Value, json};

use super::answer::AnswerMutation;
use super::row::RowMutation;
use super::sample::{REFERENCE, Samples};
use crate::behaviour::Answer;

/// Row mutations of all tables with answers.
#[derive(Debug, Default)]
pub(crate) struct DerivedMutations {
    /// The mutations, in the order of the rows.
    pub(crate) all: Vec<DerivedMutation>,
    /// Rows without a sample of the right answer, so that nothing can be derived from them.
    pub(crate) without_sample: Vec<String>,
}

/// Row mutation with the requirement that it breaks.
#[derive(Debug)]
pub(crate) struct DerivedMutation {
    /// The mutation.
    pub(crate) mutation: RowMutation,
    /// Id of the broken row: the mutated row, or a statement about all answers.
    pub(crate) breaks: String,
    /// Level of the mutation, if it is lower than the level of the broken row.
    pub(crate) level: Option<Level>,
    /// The mutated answer means the same as the right one.
    pub(crate) is_equivalent: bool,
}

/// Derives every answer mutation of every row in the edge, relay, verdict and key set tables.
pub(crate) fn derive(spec: &Spec) -> DerivedMutations {
    let mut derived = DerivedMutations::default();
    let samples = Samples::new(spec);
    for table in [Table::Edge, Table::Relay, Table::Verdict, Table::Keys] {
        let rows: Vec<&Row> = spec.table(table).filter(|row| has_answer(row)).collect();
        for (index, row) in rows.iter().enumerate() {
            let Some(right) = samples.of(row) else {
                derived.without_sample.push(row.id.clone());
                continue;
            };
            let after = rows[index + 1..].iter().chain(&rows[..index]);
            let neighbour = after.copied().find_map(|other| neighbour(spec, other));
            for answer in mutations(row, &right, neighbour) {
                derived.all.push(DerivedMutation {
                    breaks: breaks(row, &answer),
                    level: level(row, &answer),
                    is_equivalent: answer.is_equivalent(&right),
                    mutation: RowMutation { row: (*row).clone(), answer },
                });
            }
        }
    }
    derived
}

/// Whether cases test an answer of this row. Service and key set rows without a status describe no answer.
fn has_answer(row: &Row) -> bool {
    row.excluded.is_none() && (is_of_edge(row) || row.status().is_some())
}

fn is_of_edge(row: &Row) -> bool {
    matches!(row.table, Table::Edge | Table::Relay)
}

/// All answer mutations of a row. Where the interface does not show a body, its members are free.
fn mutations(row: &Row, right: &Answer, neighbour: Option<AnswerMutation>) -> Vec<AnswerMutation> {
    use AnswerMutation as M;
    let keys = row.table == Table::Keys;
    let exact = is_of_edge(row) || (!keys && row.body().is_some());
    // Such a row shows the code and leaves its place in the body open.
    let values = exact || (!keys && row.code().is_some());
    let object = match serde_json::from_slice(&right.body) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    };
    let mut all = vec![M::OtherClass, M::NoAnswer];
    // Of a preflight's status only the class counts (Fetch).
    all.extend((row.status().is_some() || row.body().is_some()).then_some(M::OtherStatus));
    for (name, value) in object.iter().flat_map(Map::iter) {
        if values {
            all.push(M::OtherValue(name.clone()));
            all.extend(value.is_string().then(|| M::UpperCase(name.clone())));
        }
        all.extend((values || keys).then(|| M::Missing(name.clone())));
        if exact || keys {
            all.extend([M::WrongType(name.clone()), M::Renamed(name.clone())]);
        }
    }
    if let Some(members) = &object {
        all.extend(exact.then_some(M::Extra));
        all.extend((is_of_edge(row) && members.contains_key("reason")).then_some(M::Unknown));
        all.extend(neighbour);
    }
    all.extend((values || keys).then_some(M::TextPlain));
    all.extend(is_of_edge(row).then_some(M::NoCors));
    let refuses_token = row.table == Table::Verdict && right.status == StatusCode::UNAUTHORIZED.as_u16();
    all.extend(refuses_token.then_some(M::SkippedCheck));
    all
}

/// Id of the row that a mutation breaks.
fn breaks(row: &Row, answer: &AnswerMutation) -> String {
    use AnswerMutation as M;
    let id = match (row.table, answer) {
        (Table::Keys, M::TextPlain) => "keys.content-type",
        (Table::Keys, M::Missing(_) | M::Renamed(_) | M::WrongType(_)) => "keys.shape",
        (_, M::TextPlain) => "statement.json-content-type",
        (_, M::NoCors) if row.stimuli.contains(&Stimulus::OtherMethod) => "statement.cors-readable-405",
        (_, M::NoCors) if row.stimuli.contains(&Stimulus::ShortBody) => "statement.read-failed-cors",
        (_, M::NoCors) if !row.stimuli.contains(&Stimulus::Preflight) => "statement.cors-readable",
        _ => &row.id,
    };
    id.to_owned()
}

/// Many HTTP stacks answer a broken body, or close the connection, before the edge's own code runs: a warning, no failure.
/// An answer without the edge's code could be the stack's.
fn level(row: &Row, answer: &AnswerMutation) -> Option<Level> {
    let broken = row.stimuli.contains(&Stimulus::ShortBody);
    let could_be_the_stacks = matches!(answer, AnswerMutation::NoAnswer | AnswerMutation::Missing(_));
    (broken && could_be_the_stacks).then_some(Level::Should)
}

/// The answer of a row, if the row defines it completely.
fn neighbour(spec: &Spec, row: &Row) -> Option<AnswerMutation> {
    let status = row.status()?;
    let body = match row.table {
        Table::Relay => {
            let values = [("<reason>", json!(row.code()?)), ("<status>", json!(status))];
            spec.row("edge.refused")?.body_with(&values)?
        }
        Table::Edge => row.body()?.clone(),
        _ => match row.body_with(&[("<session_ref>", REFERENCE.into())]) {
            Some(body) => body,
            None => fill(&spec.profile().verdict_refused, &[("<reason>", row.code()?.into())]),
        },
    };
    Some(AnswerMutation::OtherRow { row: row.id.clone(), status, body })
}

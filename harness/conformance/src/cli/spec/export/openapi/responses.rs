use edgeproof_fixtures::spec::Row;
use serde_json::{Map, Value, json};

use super::schema::any;

/// The answers of an operation, by status.
#[derive(Default)]
pub(super) struct Responses(Vec<(String, Vec<Answer>)>);

/// The answer of a row.
struct Answer {
    id: String,
    condition: String,
    body: Option<(Value, Value)>,
}

/// Content type of bodies.
pub(super) const JSON: &str = "application/json";

impl Responses {
    /// Adds the answer of a row, with its body and the schema of the body. The interface leaves a body of None open.
    pub(super) fn add(&mut self, status: &str, row: &Row, body: Option<(Value, Value)>) {
        let answer = Answer { id: row.id.clone(), condition: row.condition.clone(), body };
        match self.0.iter_mut().find(|(known, _)| known == status) {
            Some((_, answers)) => answers.push(answer),
            None => self.0.push((status.to_owned(), vec![answer])),
        }
    }

    /// The responses of an operation, with bodies of this content type.
    pub(super) fn into_value(mut self, content_type: &str) -> Value {
        self.0.sort_by(|(one, _), (other, _)| one.cmp(other));
        let responses = self.0.into_iter();
        responses
            .map(|(status, answers)| (status, response(&answers, content_type)))
            .collect::<Map<_, _>>()
            .into()
    }
}

fn response(answers: &[Answer], content_type: &str) -> Value {
    let description = match answers {
        [answer] => answer.condition.clone(),
        _ => answers
            .iter()
            .map(|answer| format!("- `{}`: {}", answer.id, answer.condition))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    let ids: Vec<_> = answers.iter().map(|answer| answer.id.as_str()).collect();
    let bodies = answers.iter().filter_map(|answer| Some((answer, answer.body.as_ref()?)));
    let schemas: Vec<_> = bodies.clone().map(|(_, (_, schema))| schema.clone()).collect();
    let examples: Map<_, _> = bodies
        .map(|(answer, (body, _))| (answer.id.clone(), json!({ "summary": answer.condition, "value": body })))
        .collect();
    let mut response = json!({ "description": description, "x-rows": ids });
    if !examples.is_empty() {
        response["content"] = json!({ content_type: { "schema": any(schemas), "examples": examples } });
    }
    response
}

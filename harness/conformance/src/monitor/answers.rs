use edgeproof_fixtures::spec::Advice;
use edgeproof_http::Answer;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, DifferenceKind, Invariant, SecretPlace, Secrets};
use http::header::ACCESS_CONTROL_ALLOW_ORIGIN;

use super::breaches::{Breaches, by_case};
use super::edge_record::EdgeRecord;
use crate::cases::TracedRequest;
use crate::judge::{self, Check};

/// No answer has a secret. Each answer to a posted collection is JSON, and a page of the allowed origin and no other can read it.
pub(super) fn judge(edge: &EdgeRecord) -> Vec<Check> {
    let (mut json, mut readable, mut granted) =
        (Breaches::default(), Breaches::default(), Breaches::default());
    let mut wrong_grant = None;
    for request in edge.requests.iter().filter(|request| is_collection(request, edge)) {
        let Some(sent) = &request.sent else { continue };
        let Ok(answer) = &sent.reply else { continue };
        let breach = |check: &Check| Breach {
            status: Some(answer.status),
            difference: check.kind().cloned().map(Box::new),
            ..by_case(&request.sender.case)
        };
        let (origin, level) = (request.draft.header_value("origin"), request.sender.level);
        // What an edge answers to a redirect of the service is open.
        let redirects = (300..400).contains(&answer.status);
        let is_json = judge::is_json(&sent.reply);
        if !redirects && !is_json.ok && !judge::is_unread(&request.draft, &sent.reply) {
            json.push_at(level, breach(&is_json));
        }
        let Some(allowed) = &edge.origin else { continue };
        match origin {
            Some(origin) if origin == allowed => {
                let check = judge::readable(origin, &sent.reply);
                if !check.ok {
                    if answer.headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
                        wrong_grant = wrong_grant.or_else(|| Some(check.advice.clone()));
                    }
                    readable.push_at(level, breach(&check));
                }
            }
            Some(origin) => {
                let check = judge::no_grant(origin, &sent.reply);
                if !check.ok {
                    granted.push_at(level, breach(&check));
                }
            }
            None => {}
        }
        if has_wildcard(answer) {
            let check = judge::no_grant(origin.unwrap_or_default(), &sent.reply);
            granted.push_at(level, Breach { value: Some("*".into()), ..breach(&check) });
        }
    }
    vec![
        secrets(edge).check(Invariant::SecretsInAnswers).advise(Advice::SecretInError),
        json.check(Invariant::JsonBodies),
        readable
            .check(Invariant::ReadableAnswers)
            .advise_all(wrong_grant.unwrap_or_else(|| vec![Advice::GrantOnEveryAnswer])),
        granted.check(Invariant::ForeignGrants).advise(Advice::GrantForeign),
    ]
}

/// Secrets in answers of any kind.
fn secrets(edge: &EdgeRecord) -> Breaches {
    let mut secrets = Breaches::default();
    for request in &edge.requests {
        let Some(Ok(answer)) = request.sent.as_ref().map(|sent| &sent.reply) else { continue };
        let field = answer.headers.iter().find(|(_, value)| edge.redactor.finds(value.as_bytes()));
        let place = match field {
            Some((name, _)) => SecretPlace::Header(name.to_string()),
            None if edge.redactor.finds(&answer.body) => SecretPlace::Body,
            None => continue,
        };
        let difference = DifferenceKind::Secret { secrets: Secrets::Edge, place: Some(place) };
        secrets.push(Breach {
            status: Some(answer.status),
            difference: Some(Box::new(difference)),
            ..by_case(&request.sender.case)
        });
    }
    secrets
}

/// Whether the interface defines the answer to this request: an ordinary POST to the path for collections. The interface
/// leaves the maximum of a body open, so an edge may refuse a longer one by itself.
fn is_collection(request: &TracedRequest, edge: &EdgeRecord) -> bool {
    edge.posts(request)
        && request.draft.path == edge.signals
        && request.sender.level != CaseLevel::Open
        && !request.is_broken()
        && request.draft.body.bytes().len() < edge.max_body
}

fn has_wildcard(answer: &Answer) -> bool {
    answer.headers.get_all(ACCESS_CONTROL_ALLOW_ORIGIN).iter().any(|grant| grant == "*")
}

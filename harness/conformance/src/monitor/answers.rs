use edgeproof_fixtures::spec::Endpoint;
use edgeproof_http::Answer;
use edgeproof_reports::CaseLevel;
use http::header::ACCESS_CONTROL_ALLOW_ORIGIN;

use super::breaches::Breaches;
use super::edge_record::EdgeRecord;
use crate::cases::TracedRequest;
use crate::judge::{self, Check};

/// No answer has a secret. Each answer to a posted collection is JSON, and a page of the allowed origin and no other can read it.
pub(super) fn judge(edge: &EdgeRecord) -> Vec<Check> {
    let (mut json, mut readable, mut granted) =
        (Breaches::default(), Breaches::default(), Breaches::default());
    let mut wrong_grant = None;
    for request in edge.requests.iter().filter(|request| is_collection(request, edge.max_body)) {
        let Some(sent) = &request.sent else { continue };
        let Ok(answer) = &sent.reply else { continue };
        let place = format!("{} to a request of {}", answer.status, request.sender.case);
        let origin = request.draft.header_value("origin");
        // What an edge answers to a redirect of the service is open.
        let redirects = (300..400).contains(&answer.status);
        if !redirects && !judge::is_json(&sent.reply).ok {
            json.push(format!("{place}: {}", judge::excerpt(&answer.body)));
        }
        let Some(allowed) = &edge.origin else { continue };
        match origin {
            Some(origin) if origin == allowed => {
                let check = judge::readable(origin, &sent.reply);
                if !check.ok {
                    if answer.headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
                        wrong_grant = wrong_grant.or(check.hint);
                    }
                    readable.push(format!("{place}: {}", check.actual));
                }
            }
            Some(origin) if !judge::no_grant(origin, &sent.reply).ok => {
                granted.push(format!("{place} from {origin}"));
            }
            _ => {}
        }
        if has_wildcard(answer) {
            granted.push(format!("{place}: a grant to every origin"));
        }
    }
    vec![
        secrets(edge).check("secrets in answers", "none").hint(
            "an error of an HTTP client can contain its request; build each answer from status and reason",
        ),
        json.check("bodies of the answers", "JSON"),
        readable.check("answers to the allowed origin", "readable by its page").hint(
            wrong_grant
                .as_deref()
                .unwrap_or("send Access-Control-Allow-Origin with every answer to POST, errors included"),
        ),
        granted
            .check("grants to other origins", "none")
            .hint("compare Origin with ALLOWED_ORIGIN as whole strings; never answer with `*`"),
    ]
}

/// Secrets in answers of any kind.
fn secrets(edge: &EdgeRecord) -> Breaches {
    let mut secrets = Breaches::default();
    for request in &edge.requests {
        let Some(Ok(answer)) = request.sent.as_ref().map(|sent| &sent.reply) else { continue };
        let field = answer.headers.iter().find(|(_, value)| edge.redactor.finds(value.as_bytes()));
        let place = match field {
            Some((name, _)) => format!("header {name}"),
            None if edge.redactor.finds(&answer.body) => "the body".to_owned(),
            None => continue,
        };
        secrets.push(format!("{place} of {} to a request of {}", answer.status, request.sender.case));
    }
    secrets
}

/// Whether the interface defines the answer to this request: an ordinary POST to the path for collections. The interface
/// leaves the maximum of a body open, so an edge may refuse a longer one by itself.
fn is_collection(request: &TracedRequest, max_body: usize) -> bool {
    request.draft.method == "POST"
        && request.draft.path == Endpoint::Signals.path()
        && request.sender.level != CaseLevel::Open
        && !request.is_broken()
        && request.draft.body.bytes().len() < max_body
}

fn has_wildcard(answer: &Answer) -> bool {
    answer.headers.get_all(ACCESS_CONTROL_ALLOW_ORIGIN).iter().any(|grant| grant == "*")
}

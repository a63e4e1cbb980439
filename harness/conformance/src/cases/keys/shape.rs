use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel as Level;

use super::super::backend::{Reply, fetch_keys, shown};
use super::super::{Ask, Backend, Catalog, Phase, summary};
use super::PUBLISHED;
use crate::judge::{self, Check};
use edgeproof_http::Draft;

/// What is published (RFC 7517).
pub(super) fn add(cases: &mut Catalog<'_>) {
    for (id, phase, title) in [
        ("keys.sanity.first", Phase::First, "the key set is there, before all other cases"),
        ("keys.sanity.last", Phase::Last, "the key set is there, after all other cases"),
    ] {
        let status = cases.row(PUBLISHED).status().unwrap_or_default();
        cases
            .asks(PUBLISHED, id, title, move |backend| {
                Box::pin(async move {
                    let reply = backend.ask_keys(&fetch_keys()).await;
                    let words = status.to_string();
                    backend.check(judge::status_in(&words, |seen| seen == status, &reply));
                    backend.check(judge::is_json(&shown(reply)));
                })
            })
            .phase(phase)
            .also("endpoint.keys.jwks")
            .stimulus(Stimulus::KeySetFetched);
    }
    look(cases, "keys.shape", "keys.shape", "the key set is an object with an array of keys", |_| Vec::new());
    look(cases, PUBLISHED, "keys.not-empty", "there is a key", |set| vec![judge::has_keys(set)])
        .level(Level::Should);
    look(cases, "keys.distinct-ids", "keys.distinct-ids", "different keys have different ids", |set| {
        vec![judge::distinct_ids(set)]
    });
    look(cases, "keys.public-only", "keys.public-only", "no key shows a private or symmetric part", |set| {
        vec![judge::public_only(set)]
    });
    look(
        cases,
        "keys.types",
        "keys.types",
        "each key is whole, and of a type that readers know",
        judge::typed_keys,
    );
    content_type(cases);
    credential(cases);
    methods(cases);
}

/// The key set of an answer; where it is none, that is a mismatch.
pub(super) fn read(backend: &mut Backend, reply: &Reply) -> Option<KeySet> {
    let expected = "a JSON object with an array \"keys\" of objects";
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => {
            backend.check(Check::new("answer", expected, why.to_string(), false));
            return None;
        }
    };
    match KeySet::parse(&answer.body) {
        Ok(set) => {
            backend.check(Check::new("key set", expected, expected, true));
            Some(set)
        }
        Err(why) => {
            backend.check(Check::new("key set", expected, why.to_string(), false));
            None
        }
    }
}

fn look<'c>(
    cases: &'c mut Catalog<'_>,
    row: &str,
    id: &str,
    title: &str,
    judge: fn(&KeySet) -> Vec<Check>,
) -> &'c mut super::super::Case {
    cases.asks(row, id, title, move |backend| {
        Box::pin(async move {
            let reply = backend.ask_keys(&fetch_keys()).await;
            if let Some(set) = read(backend, &reply) {
                backend.checks(judge(&set));
            }
        })
    })
}

fn content_type(cases: &mut Catalog<'_>) {
    cases.asks("keys.content-type", "keys.content-type", "the key set says that it is JSON", |backend| {
        Box::pin(async move {
            let reply = backend.ask_keys(&fetch_keys()).await;
            backend.check(summary::json_content_type(&reply));
            let kind = reply.ok().and_then(|answer| answer.headers.get("content-type").cloned());
            let kind = kind.and_then(|kind| kind.to_str().ok().map(str::to_owned));
            backend.observe("keys.content-type", kind.unwrap_or_else(|| "none".into()));
        })
    });
}

fn credential(cases: &mut Catalog<'_>) {
    cases.asks(
        "keys.credential",
        "keys.credential",
        "whether the key set asks for a credential",
        |backend| {
            Box::pin(async move {
                let reply = backend.ask_keys(&fetch_keys()).await;
                let saw = match &reply {
                    Ok(answer) if answer.status == 200 => "none".to_owned(),
                    Ok(answer) if matches!(answer.status, 401 | 403) => "asks for one".to_owned(),
                    other => summary::status(other),
                };
                backend.observe("keys.credential", saw);
            })
        },
    );
}

fn methods(cases: &mut Catalog<'_>) {
    cases.asks("keys.head", "keys.head", "HEAD is answered with the status of GET", |backend| {
        Box::pin(async move {
            let draft = Draft { method: "HEAD".into(), ..fetch_keys() };
            let reply = backend.ask_keys(&draft).await;
            backend.check(judge::status_in("200", |status| status == 200, &reply));
        })
    });
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let point = format!("keys.method.{}", method.to_lowercase());
        let title = format!("what {method} is answered where the key set is");
        cases.asks("keys.methods", &point.clone(), &title, move |backend| {
            let point = point.clone();
            Box::pin(async move {
                let reply = backend.ask_keys(&Draft { method: method.into(), ..fetch_keys() }).await;
                backend.observe(&point, summary::status(&reply));
            })
        });
    }
}

/// A request for a verdict with the read token.
pub(super) fn with_token(backend: &Backend, reference: &str) -> Ask {
    Ask::new(reference).bearer(&backend.read_token())
}

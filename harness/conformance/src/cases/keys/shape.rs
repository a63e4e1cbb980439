use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, KeyRule, KeySetValue};

use crate::cases::{Case, CaseList, Keys, Phase, ServiceCaseContext, summary, without_private_keys};
use crate::judge::{self, AnswerResult, Check};
use edgeproof_http::Draft;

/// Row of the key set.
const PUBLISHED: &str = "keys.200.published";

/// Format and contents of the key set (RFC 7517).
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    for (id, phase, title) in [
        ("keys.sanity.first", Phase::First, "before all other cases, the key set is available"),
        ("keys.sanity.last", Phase::Last, "after all other cases, the key set is available"),
    ] {
        let status = cases.row(PUBLISHED).status().unwrap_or_default();
        cases
            .steps(
                PUBLISHED,
                id,
                title,
                steps!(async |context| {
                    let reply = context.fetch_key_set(&context.key_set()).await;
                    context.check(judge::status_is(status, &reply));
                    context.check(judge::is_json(&without_private_keys(reply)));
                }),
            )
            .phase(phase)
            .also("endpoint.keys.jwks")
            .stimulus(Stimulus::KeySetFetched);
    }
    key_set_case(
        cases,
        "keys.shape",
        "keys.shape",
        "the key set is a JSON object with an array of keys",
        |_| Vec::new(),
    );
    key_set_case(cases, PUBLISHED, "keys.not-empty", "the key set contains a key", |set| {
        vec![judge::has_keys(set)]
    })
    .level(CaseLevel::Should);
    key_set_case(
        cases,
        "keys.distinct-ids",
        "keys.distinct-ids",
        "different keys have different ids",
        |set| vec![judge::distinct_ids(set)],
    );
    key_set_case(
        cases,
        "keys.public-only",
        "keys.public-only",
        "no key contains a private or symmetric member",
        |set| vec![judge::public_only(set)],
    );
    key_set_case(
        cases,
        "keys.types",
        "keys.types",
        "each key is complete and has a registered type",
        judge::typed_keys,
    );
    content_type(cases);
    credential(cases);
    methods(cases);
}

/// The key set of an answer. Adds a failed check if the body is no key set.
pub(super) fn parse_key_set(context: &mut ServiceCaseContext, reply: &AnswerResult) -> Option<KeySet> {
    let answer = match reply {
        Ok(answer) => answer,
        Err(why) => {
            context.check(Check::unanswered(why, DifferenceKind::key_set(KeyRule::Readable, None)));
            return None;
        }
    };
    let parsed = KeySet::parse(&answer.body);
    let error = parsed.as_ref().err().map(|why| KeySetValue::Unreadable(why.to_string().into()));
    context.check(Check::judged(DifferenceKind::key_set(KeyRule::Readable, error), parsed.is_ok()));
    parsed.ok()
}

fn key_set_case<'c>(
    cases: &'c mut CaseList<'_, Keys>,
    row: &str,
    id: &str,
    title: &str,
    judge: fn(&KeySet) -> Vec<Check>,
) -> &'c mut Case<Keys> {
    cases.steps(
        row,
        id,
        title,
        steps!(async |context| {
            let reply = context.fetch_key_set(&context.key_set()).await;
            if let Some(set) = parse_key_set(context, &reply) {
                context.checks(judge(&set));
            }
        }),
    )
}

fn content_type(cases: &mut CaseList<'_, Keys>) {
    cases.steps(
        "keys.content-type",
        "keys.content-type",
        "the key set has the content type JSON",
        steps!(async |context| {
            let reply = context.fetch_key_set(&context.key_set()).await;
            context.check(judge::json_content_type(&reply));
            let kind = reply.ok().and_then(|answer| answer.headers.get("content-type").cloned());
            let kind = kind.and_then(|kind| kind.to_str().ok().map(str::to_owned));
            context.observe("keys.content-type", kind.unwrap_or_else(|| "none".into()));
        }),
    );
}

fn credential(cases: &mut CaseList<'_, Keys>) {
    cases.steps(
        "keys.credential",
        "keys.credential",
        "whether the key set requires a credential",
        steps!(async |context| {
            let reply = context.fetch_key_set(&context.key_set()).await;
            let observed = match &reply {
                Ok(answer) if answer.status == 200 => "none".to_owned(),
                Ok(answer) if matches!(answer.status, 401 | 403) => "asks for one".to_owned(),
                other => summary::status(other),
            };
            context.observe("keys.credential", observed);
        }),
    );
}

fn methods(cases: &mut CaseList<'_, Keys>) {
    cases.steps(
        "keys.head",
        "keys.head",
        "HEAD returns the same status as GET",
        steps!(async |context| {
            let draft = Draft { method: "HEAD".into(), ..context.key_set() };
            let reply = context.fetch_key_set(&draft).await;
            context.check(judge::status_is(200, &reply));
        }),
    );
    for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
        let point = format!("keys.method.{}", method.to_lowercase());
        let title = format!("the answer to {method} at the key set");
        cases.steps(
            "keys.methods",
            &point.clone(),
            &title,
            steps!(
                async |context| {
                    let reply =
                        context.fetch_key_set(&Draft { method: method.into(), ..context.key_set() }).await;
                    context.observe(&point, summary::status(&reply));
                },
                with(point)
            ),
        );
    }
}

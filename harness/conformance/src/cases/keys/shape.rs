use edgeproof_fixtures::key_set::KeySet;
use edgeproof_fixtures::spec::{Endpoint, Stimulus};
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, KeyRule, KeySetValue};

use super::{KeySetExchange, KeySetObservation, KeySetRule};
use crate::cases::{
    CaseList, Keys, OUTAGE, PUBLISHED, Phase, ServiceCaseContext, ServiceNeed, methods, published_status,
};
use crate::judge::{self, AnswerResult, Check};
use crate::states::StateNeed;

/// Format and contents of the key set (RFC 7517).
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    for (id, phase, title) in [
        ("keys.sanity.first", Phase::First, "before all other cases, the key set is available"),
        ("keys.sanity.last", Phase::Last, "after all other cases, the key set is available"),
    ] {
        let status = published_status(cases.spec);
        let exchange = KeySetExchange::get().expect(KeySetRule::Status(status)).expect(KeySetRule::Json);
        cases
            .case(PUBLISHED, id, title)
            .exchange(exchange)
            .phase(phase)
            .also("endpoint.keys.jwks")
            .stimulus(Stimulus::KeySetFetched);
    }
    during_outage(cases);
    let title = "the key set is a JSON object with an array of keys";
    cases.case("keys.shape", "keys.shape", title).exchange(keys("an array of keys", |_| Vec::new()));
    let title = "the key set contains a key";
    let has_keys = keys("at least one key", |set| vec![judge::has_keys(set)]);
    cases.case(PUBLISHED, "keys.not-empty", title).exchange(has_keys).level(CaseLevel::Should);
    for (id, title, checks) in [
        (
            "keys.distinct-ids",
            "different keys have different ids",
            keys("an id of its own for each key", |set| vec![judge::distinct_ids(set)]),
        ),
        (
            "keys.public-only",
            "no key contains a private or symmetric member",
            keys("public members only", |set| vec![judge::public_only(set)]),
        ),
        (
            "keys.types",
            "each key is complete and has a registered type",
            keys("complete keys of registered types", judge::typed_keys),
        ),
    ] {
        cases.case(id, id, title).exchange(checks);
    }
    cases
        .case("keys.members-once", "keys.members-once", "the key set and each key have each member once")
        .steps(steps!(async |context| {
            let reply = context.fetch_key_set(&context.key_set()).await;
            if parse_key_set(context, &reply).is_none() {
                return;
            }
            let body = reply.map(|answer| answer.body).unwrap_or_default();
            context.checks(judge::members_once(&body));
        }));
    let id = "keys.content-type";
    let exchange = KeySetExchange::get().expect(KeySetRule::JsonContentType);
    cases
        .case(id, id, "the key set has the content type JSON")
        .exchange(exchange.observe(KeySetObservation::ContentType));
    let id = "keys.credential";
    let exchange = KeySetExchange::get().observe(KeySetObservation::Credential);
    cases.case(id, id, "whether the key set requires a credential").exchange(exchange);
    let id = "keys.head";
    let status = published_status(cases.spec);
    let exchange = KeySetExchange::with_method("HEAD").expect(KeySetRule::Status(status));
    let lists_head = cases.spec.takes(Endpoint::KeySet, "HEAD");
    let case = cases.case(id, id, "HEAD returns the same status as GET").exchange(exchange);
    if lists_head {
        case.also(Endpoint::KeySet.row()).level(CaseLevel::Must);
    }
    for method in methods::OF_KEY_SETS {
        let id = format!("keys.method.{}", method.to_lowercase());
        if cases.spec.takes(Endpoint::KeySet, method) {
            let title = format!("the answer to {method} at the key set is the key set");
            let exchange = KeySetExchange::with_method(method).expect(KeySetRule::Status(status));
            cases.case(Endpoint::KeySet.row(), &id, &title).exchange(exchange.expect(KeySetRule::Json));
            continue;
        }
        let title = format!("the answer to {method} at the key set");
        let exchange = KeySetExchange::with_method(method).observe(KeySetObservation::Status);
        cases.case("keys.methods", &id, &title).exchange(exchange);
    }
}

/// The key set needs no credential: it is there while none can be checked (5).
fn during_outage(cases: &mut CaseList<'_, Keys>) {
    let Some(outage) = cases.spec.row(OUTAGE) else { return };
    let code = outage.code().map(str::to_owned);
    cases
        .case(
            PUBLISHED,
            "keys.during-outage",
            "the key set is published while the service cannot check read tokens",
        )
        .steps(steps!(with(code), async |context| {
            if context.provide(StateRequest::Outage { code }).await.is_none() {
                return;
            }
            let reply = context.fetch_key_set(&context.key_set()).await;
            if context.provide(StateRequest::Outage { code: None }).await.is_some() {
                parse_key_set(context, &reply);
            }
        }))
        .requires(&[ServiceNeed::State(StateNeed::Outage)])
        .exclusive();
}

/// A request whose answer is a key set that passes these checks.
fn keys(what: &'static str, checks: fn(&KeySet) -> Vec<Check>) -> KeySetExchange {
    KeySetExchange::get().expect(KeySetRule::Keys(what, checks))
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

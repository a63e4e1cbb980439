use edgeproof_http::Draft;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::difference::Statuses;

use super::shape::parse_key_set;
use super::signature::{judge_tokens, signed};
use crate::cases::{CaseList, Keys, ServiceCaseContext, ServiceNeed};
use crate::judge::{self, AnswerResult};
use crate::states::StateNeed;

/// Keys before, during and after a rotation (1.5, 8).
pub(super) fn add(cases: &mut CaseList<'_, Keys>) {
    cases
        .case(
            "keys.verifies-verdict",
            "keys.rotation.verifies",
            "after a rotation the key set verifies old and new verdicts",
        )
        .steps(steps!(async |context| {
            let Some(mut newest) = newly_signed(context).await else { return };
            let mut old = Vec::new();
            // A service may keep one earlier key.
            for _ in 0..2 {
                if context.provide(StateRequest::Rotate {}).await.is_none() {
                    return;
                }
                let Some(new) = newly_signed(context).await else { return };
                old = std::mem::replace(&mut newest, new);
                let reply = context.fetch_key_set(&uncached(context)).await;
                let Some(set) = parse_key_set(context, &reply) else { return };
                judge_tokens(context, "a verdict from before the rotation", &old, &set);
                judge_tokens(context, "a verdict from after the rotation", &newest, &set);
            }
            if !context.supports(StateNeed::Later) {
                return;
            }
            // The old verdict is still available.
            context.provide(StateRequest::Later { seconds: 90 }).await;
            let reply = context.fetch_key_set(&uncached(context)).await;
            let Some(set) = parse_key_set(context, &reply) else { return };
            judge_tokens(context, "a verdict from 90 seconds before", &old, &set);
        }))
        .requires(&[ServiceNeed::ReadToken, ServiceNeed::Session, ServiceNeed::State(StateNeed::Rotate)])
        .exclusive();
    cases
        .case(
            "keys.verifies-verdict",
            "keys.rotation.cached",
            "after a rotation a cache gets the new key set",
        )
        .steps(steps!(async |context| {
            let before = context.fetch_key_set(&context.key_set()).await;
            let Some(tag) = header(&before, "etag") else {
                context.found.not_applicable = Some("the key set has no ETag".into());
                return;
            };
            if context.provide(StateRequest::Rotate {}).await.is_none() {
                return;
            }
            // A service may publish the new key before it signs, so that nothing changes now.
            let after = context.fetch_key_set(&uncached(context)).await;
            let changed = body(&before) != body(&after);
            let conditional = context.key_set().header("If-None-Match", &tag);
            let reply = context.fetch_key_set(&conditional).await;
            let expected = if changed { Statuses::OneOf(vec![200]) } else { Statuses::OneOf(vec![200, 304]) };
            context.check(judge::status_in(expected, &reply));
        }))
        .requires(&[ServiceNeed::State(StateNeed::Rotate)])
        .also("keys.not-modified")
        .exclusive();
}

/// A request that caches hand on: they may have the earlier set for five minutes (8).
fn uncached(context: &ServiceCaseContext) -> Draft {
    context.key_set().header("Cache-Control", "no-cache")
}

/// The signed tokens of a new verdict. None: there is none, and the case says so.
async fn newly_signed(context: &mut ServiceCaseContext) -> Option<Vec<String>> {
    let reference = context.session().await?;
    signed(context, &reference).await
}

fn header(reply: &AnswerResult, name: &str) -> Option<String> {
    reply.as_ref().ok()?.headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn body(reply: &AnswerResult) -> Option<&[u8]> {
    reply.as_ref().ok().map(|answer| &answer.body[..])
}

use edgeproof_browser::CollectorCall;
use edgeproof_fixtures::spec::Stimulus;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::SessionSubject;
use serde_json::Value;

use crate::cases::{CaseList, Collector};
use crate::judge::fails_with;

const ROW: &str = "collector.ready-before-start";

/// The order of the calls (2, 7.1).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    cases
        .case(ROW, "order.ready-before-start", "ready() fails before start()")
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            let options = Value::Object(context.options(&edge.url()));
            let calls = [CollectorCall::Create { options, signal: false }, CollectorCall::Ready];
            let session = page.play(calls).await;
            let expected = context.error(ROW, "");
            context.check(fails_with(SessionSubject::WithoutStart, &expected, &session));
            // Also the second time.
            let session = page.play([CollectorCall::Ready]).await;
            context.check(fails_with(SessionSubject::WithoutStartAgain, &expected, &session));
        }))
        .stimulus(Stimulus::ReadyBeforeStart);
    cases
        .case(ROW, "order.observed", "how the collector handles other orders of the calls")
        .steps(steps!(async |context| {
            let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
            let create = || CollectorCall::Create {
                options: Value::Object(context.quick_options(&edge.url())),
                signal: false,
            };
            let start = || CollectorCall::Start { session_ref: Some(context.reference("order")) };
            let orders = [
                ("verify-first", vec![create(), CollectorCall::Verify]),
                ("start-twice", vec![create(), start(), start(), CollectorCall::Ready]),
                ("without-ready", vec![create(), start(), CollectorCall::Verify]),
                ("without-reference", vec![create(), CollectorCall::Start { session_ref: None }]),
            ];
            // A refused call may end the session, or only itself.
            let refused = [create(), CollectorCall::Ready];
            let further = [start(), CollectorCall::Ready, CollectorCall::Verify];
            for (name, calls) in orders {
                let session = page.play(calls).await;
                context.observe(&format!("collector.order.{name}"), session.summary());
            }
            page.play(refused).await;
            let session = page.play(further).await;
            context.observe("collector.order.start-after-ready", session.summary());
        }))
        .observes(
            ["verify-first", "start-twice", "without-ready", "without-reference", "start-after-ready"]
                .map(|name| format!("collector.order.{name}")),
        )
        .level(CaseLevel::Open);
}

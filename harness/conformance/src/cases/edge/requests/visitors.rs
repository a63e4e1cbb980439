use std::time::Duration;

use bytes::Bytes;
use edgeproof_http::Draft;
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;
use futures_util::future::join_all;

use crate::cases::edge::isolation::scripted;
use crate::cases::edge::lasting::slowest;
use crate::cases::{
    CaseList, Edge, EdgeCaseContext, PATIENCE, Visitor, VisitorRelay, collection, fill, next_marker,
};
use crate::judge::{self, ExpectedAnswer, RelayedRequests};

/// Time in which an edge passes on what it took for a further request.
const SETTLED: Duration = Duration::from_millis(100);

/// Visitors that are no browsers. The server of the edge may refuse them in any way; the next page must not notice.
pub(in crate::cases::edge) fn add(cases: &mut CaseList<'_, Edge>) {
    for (row, id, title, visitors) in [
        (
            "statement.edge-lives-on",
            "paths.odd-values",
            "the edge still works after request targets and header fields that a parser refuses",
            Visitor::with_odd_values(),
        ),
        (
            "edge.405.method-not-allowed",
            "visitors.methods",
            "the edge relays no collection that comes with another registered method, and lives on",
            Visitor::with_other_methods(cases.spec),
        ),
        (
            "statement.edge-lives-on",
            "visitors.protocols",
            "the edge lives on after visitors that speak another protocol",
            Visitor::with_other_protocols(),
        ),
        (
            "statement.edge-lives-on",
            "visitors.heads",
            "the edge lives on after unusual hosts, versions, upgrades and expectations, and after long fields",
            Visitor::with_odd_heads(&collection()),
        ),
        (
            "statement.only-posts-relayed",
            "visitors.nested",
            "the edge relays no POST that is the body of another request",
            Visitor::with_nested_posts(cases.spec),
        ),
    ] {
        // Each visitor is followed by a page of its own, or all of them by one.
        let together = if cases.thorough { 1 } else { visitors.len() };
        let groups = visitors.len().div_ceil(together) as u32;
        let (accept, accepted) = (cases.accept(), cases.accepted());
        cases
            .case(row, id, title)
            .steps(steps!(with(visitors, accept, accepted), async |context| {
                visit(context, visitors, together, &accept, &accepted).await;
            }))
            .also("statement.edge-lives-on")
            .also("statement.only-posts-relayed")
            .takes(if together == 1 { (PATIENCE + SETTLED) * groups + slowest(2 * groups) } else { SETTLED })
            .exclusive();
    }
}

/// Lets visitors come, in groups of this number at the same time, and a page after each group.
async fn visit(
    context: &mut EdgeCaseContext,
    visitors: Vec<Visitor>,
    together: usize,
    accept: &Script,
    accepted: &ExpectedAnswer,
) {
    let patience = context.timeout.min(PATIENCE);
    // Of a visitor that left, a body may arrive later.
    let mut allowed: Vec<Bytes> = Vec::new();
    let groups = visitors.len().div_ceil(together);
    for (number, group) in visitors.chunks(together).enumerate() {
        let mark = context.service_mark();
        let mut drafts: Vec<(String, Draft)> = Vec::new();
        for visitor in group {
            let marker = next_marker();
            context.script_on(&marker, accept.clone());
            let draft = fill(&visitor.draft, context.spec(), &marker, context.origin());
            if visitor.relay == VisitorRelay::Unchanged {
                allowed.push(Bytes::copy_from_slice(draft.body.bytes()));
            }
            drafts.push((marker, draft));
        }
        let page = scripted(context, &format!("page-{number}"), accept.clone());
        let edge: &EdgeCaseContext = context;
        // Their own answers are open.
        let visits =
            drafts.iter().map(|(marker, draft)| edge.exchange_as(marker, CaseLevel::Open, draft, patience));
        let visits = join_all(visits).await;
        let sent = context.exchange(&page).await;
        context.sleep(SETTLED).await;
        let (own, mut others): (Vec<_>, Vec<_>) = {
            let arrived = context.relayed_since(mark).await.complete.into_iter();
            arrived.partition(|arrival| arrival.request.body == page.body.bytes())
        };
        others.retain(|arrival| {
            let place = allowed.iter().position(|body| *body == arrival.request.body);
            place.map(|place| allowed.swap_remove(place)).is_none()
        });
        let mut checks = judge::exact(accepted, &sent.reply);
        checks.extend(judge::relayed_once(
            page.body.bytes(),
            &RelayedRequests::new(own),
            &sent.reply,
            CaseLevel::Must,
        ));
        checks.push(judge::not_relayed(&RelayedRequests::new(others)));
        let is_wrong = checks.iter().any(|check| !check.ok);
        if is_wrong {
            for ((_, draft), sent) in drafts.iter().zip(visits) {
                context.record(draft, sent);
            }
        }
        if is_wrong || number + 1 == groups {
            let after = match group {
                [one] => format!("the page after {}", one.name),
                _ => "the page after all visitors".to_owned(),
            };
            context.record(&page, sent);
            context.checks(checks.into_iter().map(|check| check.of(&after)).collect());
            return;
        }
    }
}

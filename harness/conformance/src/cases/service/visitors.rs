use edgeproof_http::{Draft, ServerAddress};
use edgeproof_reports::{CaseLevel, Hop};
use futures_util::future::join_all;

use super::expected::{Expected, PENDING};
use super::vary::Probe;
use crate::cases::{
    CaseList, PATIENCE, Service, ServiceCaseContext, ServiceNeed, Visitor, fill, next_marker,
};
use crate::judge::AnswerResult;

/// Visitors that send no request for a verdict. The service may refuse them in any way; the next request must not notice.
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            PENDING,
            "verdict.visitors",
            "a request for a verdict gets its answer after visitors that send unusual heads or another protocol",
        )
        .steps(steps!(async |context| {
            let unknown = context.reference("visitors");
            let plain = context.verdict(&unknown).draft();
            let address = context.service().clone();
            visit(context, Hop::ClientService, &address, &plain).await;
            let probe = Probe::new(
                "the request after all visitors",
                context.with_token(&unknown).draft(),
                Expected::Pending(unknown),
            );
            let reply = context.send(probe.draft(), context.timeout).await.reply;
            if is_blocked(context, &reply) {
                return;
            }
            let checks = probe.judge(context.spec(), &reply);
            context.checks(checks);
        }))
        .requires(&[ServiceNeed::ReadToken]);
}

/// Whether the answer after visitors is that of a firewall or a rate limit in front. Then the case proves nothing, and is not
/// run.
pub(in crate::cases) fn is_blocked(context: &mut ServiceCaseContext, reply: &AnswerResult) -> bool {
    let is_blocked = reply.as_ref().is_ok_and(|answer| [403, 429, 503].contains(&answer.status));
    if is_blocked {
        let why = "after unusual requests, a firewall or a rate limit in front refuses this machine; leave this case out, \
                   with --exclude '*.visitors'";
        context.found.not_run = Some(why.into());
    }
    is_blocked
}

/// Lets visitors come, all at the same time. `plain`: a usual request without a credential.
pub(in crate::cases) async fn visit(
    context: &mut ServiceCaseContext,
    hop: Hop,
    address: &ServerAddress,
    plain: &Draft,
) {
    let visitors = Visitor::with_odd_heads(plain).into_iter().chain(Visitor::with_other_protocols());
    let drafts: Vec<Draft> =
        visitors.map(|visitor| fill(&visitor.draft, context.spec(), &next_marker(), "")).collect();
    let patience = context.timeout.min(PATIENCE);
    let sent = join_all(drafts.iter().map(|draft| edgeproof_http::send(address, draft, patience))).await;
    // Their own answers are open.
    let weakest = std::mem::replace(&mut context.weakest, CaseLevel::Open);
    for (draft, sent) in drafts.iter().zip(sent) {
        context.trace(hop, draft, sent);
    }
    context.weakest = weakest;
}

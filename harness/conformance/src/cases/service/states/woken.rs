use std::pin::pin;
use std::time::{Duration, Instant};

use edgeproof_http::Sent;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::difference::TimeRule;
use futures_util::future::join_all;

use super::named::own_verdict;
use crate::cases::ServiceCaseContext;
use crate::cases::service::expected::{AVAILABLE, PENDING, answer};
use crate::cases::service::waiting::TO_BEGIN;
use crate::judge::{self, Check};

/// Timeout of an answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
/// Longest time between the verdict and the answer.
const SOON: Duration = Duration::from_secs(2);
/// A hook that takes longer is slow.
const SLOW_HOOK: Duration = Duration::from_secs(1);
const NO_WAIT: &str = "the service does not wait: it answers long polls before the verdict is there";

/// A long poll's answer, and the time of the verdict.
pub(super) type Woken = (Sent, Instant);

/// Long polls for these references. During them, sessions come into these states, the last of which brings a verdict.
/// Empty: a state is not there, or the service does not wait.
pub(super) async fn woken(
    context: &mut ServiceCaseContext,
    references: &[String],
    wait: u64,
    states: &[StateRequest],
) -> Vec<Woken> {
    let draft = |reference: &String| context.with_token(reference).query(&format!("waitMs={wait}")).draft();
    let drafts: Vec<_> = references.iter().map(draft).collect();
    let sending = drafts.iter().map(|draft| context.begin(draft, TIMEOUT));
    let mut sending = pin!(join_all(sending));
    let early = tokio::select! {
        sent = &mut sending => Some(sent),
        () = context.sleep(TO_BEGIN) => None,
    };
    let (sent, provided) = if let Some(sent) = early {
        (sent, None)
    } else {
        let making = async {
            let (last, before) = states.split_last()?;
            for state in before {
                context.chosen(state.clone()).await?;
                // A service may end the polls of a session that ends.
                context.sleep(TO_BEGIN).await;
            }
            Provided::state(context, last.clone()).await
        };
        let (sent, provided) = tokio::join!(sending, making);
        if provided.is_none() {
            return Vec::new();
        }
        (sent, provided)
    };
    for (draft, sent) in drafts.iter().zip(&sent) {
        context.record(draft, sent.clone());
    }
    let early = |sent: &Sent| provided.is_none_or(|provided| is_early(context, sent, provided.possible));
    if let Some(at) = sent.iter().position(early) {
        does_not_wait(context, &references[at], &sent[at]);
        return Vec::new();
    }
    let there = provided.map_or_else(|| context.now(), |provided| provided.there);
    sent.into_iter().map(|sent| (sent, there)).collect()
}

/// When a hook provided a verdict.
#[derive(Clone, Copy)]
pub(super) struct Provided {
    /// Up to then a pending answer is right: the verdict was asked for, or a slow hook had not ended.
    pub(super) possible: Instant,
    /// The verdict is there.
    pub(super) there: Instant,
}

impl Provided {
    /// Gives the session a verdict. None: the case says why it is not there.
    pub(super) async fn verdict(context: &mut ServiceCaseContext, reference: &str) -> Option<Self> {
        Self::state(context, StateRequest::verdict(reference)).await
    }

    async fn state(context: &mut ServiceCaseContext, verdict: StateRequest) -> Option<Self> {
        let asked = context.now();
        context.chosen(verdict).await?;
        let there = context.now();
        // A service may stop to wait during a slow hook.
        let possible = if there - asked > SLOW_HOOK { there } else { asked };
        Some(Self { possible, there })
    }
}

/// Whether an answer without a verdict came before this time. A version may not state the status of such an answer.
pub(super) fn is_early(context: &ServiceCaseContext, sent: &Sent, time: Instant) -> bool {
    let (pending, available) = (context.row(PENDING).status(), context.row(AVAILABLE).status());
    let is_pending = |status: u16| pending.map_or(Some(status) != available, |pending| pending == status);
    sent.reply.as_ref().is_ok_and(|answer| is_pending(answer.status)) && sent.at + sent.took <= time
}

/// The service answers before the verdict is there: only the answer itself is judged.
pub(super) fn does_not_wait(context: &mut ServiceCaseContext, reference: &str, sent: &Sent) {
    let expected = answer(context.row(PENDING), reference);
    context.checks(judge::exact(&expected, &sent.reply));
    if context.found.checks.iter().all(|check| check.ok) {
        context.found.not_applicable = Some(NO_WAIT.to_owned());
    }
}

/// The verdict came soon after it was there.
pub(super) fn judge_woken(context: &mut ServiceCaseContext, reference: &str, (sent, provided): &Woken) {
    let checks = own_verdict(context, reference, &sent.reply);
    context.checks(checks);
    let late = (sent.at + sent.took).saturating_duration_since(*provided);
    context.check(Check::timed(TimeRule::AfterVerdict, late, SOON));
}

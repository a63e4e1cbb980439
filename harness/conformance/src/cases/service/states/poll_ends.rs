use std::time::Duration;

use super::chosen::CHOSEN;
use super::named::own_verdict;
use super::polls::{LONG, ROW};
use super::woken::{Provided, TIMEOUT, does_not_wait, is_early, judge_woken};
use crate::cases::service::expected::{AVAILABLE, PENDING, answer};
use crate::cases::{CaseList, Service};
use crate::judge;

/// Longest time between a verdict and an answer that may miss it.
pub(super) const CROSSING: Duration = Duration::from_millis(250);

/// Verdicts that come at the very start and end of a long poll (4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    at_once(cases);
    at_the_end(cases);
}

/// A verdict that comes while the request arrives is not missed.
fn at_once(cases: &mut CaseList<'_, Service>) {
    /// When the verdict is asked for (ms). At 0 it can be there before the poll.
    const AFTER_ITS_START: [u64; 8] = [0, 0, 3, 8, 15, 30, 50, 80];
    cases
        .case(ROW, "verdict.poll.at-once", "a verdict that comes at the start of a long poll ends it")
        .steps(steps!(async |context| {
            for (number, after) in AFTER_ITS_START.into_iter().enumerate() {
                let reference = context.reference(&format!("start-{number}"));
                let draft = context.with_token(&reference).query(&format!("waitMs={LONG}")).draft();
                let sending = context.begin(&draft, TIMEOUT);
                let making = async {
                    context.sleep(Duration::from_millis(after)).await;
                    Provided::verdict(context, &reference).await
                };
                let (sent, provided) = tokio::join!(sending, making);
                let Some(Provided { there, .. }) = provided else { return };
                context.record(&draft, sent.clone());
                if is_early(context, &sent, there + CROSSING) {
                    return does_not_wait(context, &reference, &sent);
                }
                judge_woken(context, &reference, &(sent, there));
            }
        }))
        .requires(&CHOSEN)
        .takes(TIMEOUT)
        .also(AVAILABLE);
}

/// A verdict that comes at the end of a long poll is not lost.
fn at_the_end(cases: &mut CaseList<'_, Service>) {
    /// Wait of the poll (ms).
    const WAIT: u64 = 800;
    cases
        .case(
            AVAILABLE,
            "verdict.poll.at-the-end",
            "a verdict that comes at the end of a long poll is available",
        )
        .steps(steps!(async |context| {
            for early in [0, 10, 30, 60, 290] {
                let reference = context.reference(&format!("end-{early}"));
                let draft = context.with_token(&reference).query(&format!("waitMs={WAIT}")).draft();
                let sending = context.begin(&draft, TIMEOUT);
                let making = async {
                    context.sleep(Duration::from_millis(WAIT - early)).await;
                    Provided::verdict(context, &reference).await
                };
                let (sent, provided) = tokio::join!(sending, making);
                let Some(Provided { there, .. }) = provided else { return };
                context.record(&draft, sent.clone());
                // The end of the wait may come before the verdict, and its answer later.
                let crossed = there + CROSSING > sent.at + Duration::from_millis(WAIT);
                let misses_until = if crossed { context.now() } else { there + CROSSING };
                let checks = if is_early(context, &sent, misses_until) {
                    judge::exact(&answer(context.row(PENDING), &reference), &sent.reply)
                } else {
                    own_verdict(context, &reference, &sent.reply)
                };
                context.checks(checks);
                let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                let checks = own_verdict(context, &reference, &reply);
                context.checks(checks);
            }
        }))
        .requires(&CHOSEN)
        .takes(TIMEOUT)
        .also(PENDING);
}

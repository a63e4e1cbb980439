use std::time::Duration;

use edgeproof_launch::open_files;
use edgeproof_mock::Script;
use edgeproof_reports::difference::{Count, Counted};

use super::series::slowest;
use crate::cases::edge::isolation::scripted;
use crate::cases::{CaseList, Edge, EdgeCaseContext, EdgeNeed};
use crate::judge::{self, Check, ExpectedAnswer};

/// Refusals before the first count: an edge opens some files and connections once.
const WARM_UP: usize = 20;
/// Refusals of a batch.
const BATCH: usize = 300;
/// Idle time before a count, in which an edge closes what it needs no more.
const IDLE: Duration = Duration::from_secs(2);
const REASON: &str = "edgeproof_wear";

/// An edge that keeps a file or a socket open for each refusal cannot open any more after some thousands.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    if !cases.thorough {
        return;
    }
    let (refuse, refused) = (cases.refuse(403, REASON), cases.refused(403, REASON));
    cases
        .case("statement.isolation", "series.wear", "the edge keeps nothing open for a refusal")
        .steps(steps!(with(refuse, refused), async |context| { wear(context, &refuse, &refused).await }))
        .also("statement.edge-lives-on")
        .requires(&[EdgeNeed::Service, EdgeNeed::Log, EdgeNeed::PlainReasons])
        .takes(IDLE * 3 + slowest((WARM_UP + 2 * BATCH) as u32))
        .exclusive();
}

async fn wear(context: &mut EdgeCaseContext, refuse: &Script, refused: &ExpectedAnswer) {
    let Some(process) = context.target.process.filter(|process| open_files(*process).is_some()) else {
        let why = "only files of a program that edgeproof started on Linux can be counted";
        context.found.not_applicable = Some(why.into());
        return;
    };
    let mut counts = Vec::new();
    for (name, times) in [("warm", WARM_UP), ("one", BATCH), ("two", BATCH)] {
        let draft = scripted(context, name, refuse.clone());
        for _ in 0..times {
            let sent = context.exchange(&draft).await;
            let checks = judge::exact(refused, &sent.reply);
            // The first wrong answer says enough.
            if checks.iter().any(|check| !check.ok) {
                context.record(&draft, sent);
                return context.checks(checks);
            }
        }
        context.sleep(IDLE).await;
        counts.extend(open_files(process));
    }
    // An edge that ended meanwhile is a finding of its own.
    if let [before, between, after] = counts[..] {
        context.check(kept_open(before, between, after));
    }
}

/// Both batches left fewer files and sockets open than one for every second refusal.
fn kept_open(before: usize, between: usize, after: usize) -> Check {
    let [first, second] = [between.saturating_sub(before), after.saturating_sub(between)];
    let count = Count::new(Counted::KeptFiles, 0, first).of(BATCH).part(second);
    Check::judged(count, first.min(second) < BATCH / 2)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::nothing([20, 20, 20], true)]
    #[case::fewer_than_before([40, 20, 10], true)]
    #[case::a_pool_that_grows_once([20, 320, 330], true)]
    #[case::some([20, 160, 300], true)]
    #[case::one_for_every_second_refusal([20, 170, 320], false)]
    #[case::one_for_each([20, 320, 620], false)]
    fn what_both_batches_leave_open_is_a_leak(#[case] counts: [usize; 3], #[case] is_right: bool) {
        let [before, between, after] = counts;
        assert_eq!(kept_open(before, between, after).ok, is_right);
    }
}

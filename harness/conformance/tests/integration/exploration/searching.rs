//! The search finds a failure, replays it on a target in its first state, and says whether it repeats.

use std::time::{Duration, Instant};

use edgeproof::cases::explore::sequence::{
    EdgeAction, EdgeModel, Failure, Played, Repeats, Search, SearchResult, Sequence, SequencePlayer, Step,
};
use edgeproof::judge::Check;
use edgeproof_fixtures::spec::{Event, Family};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::Counted;

use super::fake_target::{Fails, FakeTarget, edge_model, family, is_refusal};

const SEARCH: Search = Search { count: 60, seed: 5, replays: 500, time: Duration::from_secs(60) };

/// Searches a target that remembers earlier sequences.
async fn search(fails: Fails, restarts: bool) -> SearchResult<EdgeAction> {
    let model = edge_model();
    let mut target = FakeTarget { restarts, remembers: true, ..FakeTarget::new(&model, fails) };
    SEARCH.run(&model, &mut target).await
}

fn was_aborted(steps: &[Step<EdgeAction>]) -> bool {
    steps.iter().any(|step| step.action == EdgeAction::Event(Event::ClientLeftInBody))
}

/// Once a client broke off, each refusal fails.
fn refusal_after_abort(model: &EdgeModel, steps: &[Step<EdgeAction>]) -> bool {
    was_aborted(steps) && steps.last().is_some_and(|last| is_refusal(model, last))
}

#[tokio::test]
async fn correct_target_has_no_finding() {
    let result = search(|_, _| false, true).await;
    assert_eq!((result.played, result.findings.len(), result.further), (60, 0, 0));
    assert!(result.steps > 200, "{}", result.steps);
}

#[tokio::test]
async fn lasting_fault_shrinks_on_restarted_targets() {
    let result = search(refusal_after_abort, true).await;
    let [finding] = &result.findings[..] else { panic!("{:?}", result.findings) };
    assert_eq!((finding.repeats, finding.sequence.steps.len(), finding.failure.step), (Repeats::Yes, 2, 1));
    assert_eq!(finding.sequence.steps[0].action, EdgeAction::Event(Event::ClientLeftInBody));
    // Later failures of the same kind are no findings of their own.
    assert!(result.further > 0);
}

#[tokio::test]
async fn fault_of_a_later_part_of_the_run_needs_its_whole_history() {
    let tenth = |model: &EdgeModel, steps: &[Step<EdgeAction>]| {
        let refused = steps.iter().filter(|step| is_refusal(model, step)).count();
        refused >= 30 && steps.last().is_some_and(|last| is_refusal(model, last))
    };
    let result = search(tenth, true).await;
    let finding = &result.findings[0];
    assert_eq!((finding.repeats, finding.sequence.steps.len()), (Repeats::Yes, 30));
}

#[tokio::test]
async fn target_that_stays_wrong_and_cannot_restart_is_reported_as_such() {
    let result = search(refusal_after_abort, false).await;
    let [finding] = &result.findings[..] else { panic!("{:?}", result.findings) };
    assert_eq!(finding.repeats, Repeats::StaysWrong);
    assert!(was_aborted(&finding.sequence.steps) || finding.number > Some(0));
    assert!(result.played < 60, "a target that stays wrong is explored no further");
}

#[tokio::test]
async fn exchange_that_always_fails_is_one_step_also_without_restarts() {
    let always = |model: &EdgeModel, steps: &[Step<EdgeAction>]| {
        steps.last().is_some_and(|last| family(model, last) == Some(Family::Unknown))
    };
    for restarts in [true, false] {
        let result = search(always, restarts).await;
        assert_eq!(result.findings[0].sequence.steps.len(), 1, "{restarts}");
        assert_eq!(result.findings[0].repeats, Repeats::Yes);
    }
}

/// A `should` that many sequences violate does not hide a `must`.
#[tokio::test]
async fn violated_should_does_not_end_the_search() {
    let model = edge_model();
    let mut target = TwoLevels(FakeTarget::new(&model, refusal_after_abort));
    let result = SEARCH.run(&model, &mut target).await;
    let levels: Vec<_> = result.findings.iter().map(|finding| finding.failure.level()).collect();
    assert!(levels.contains(&CaseLevel::Must), "{levels:?}");
    assert!(levels.contains(&CaseLevel::Should), "{levels:?}");
    assert_eq!(result.played, 60);
}

/// A target that also violates a `should` with each acceptance.
struct TwoLevels<'m>(FakeTarget<'m>);

impl SequencePlayer for TwoLevels<'_> {
    type Action = EdgeAction;

    fn now(&self) -> Instant {
        self.0.now()
    }

    async fn play(&mut self, sequence: &Sequence<EdgeAction>, limit: Duration) -> Played {
        let played = self.0.play(sequence, limit).await;
        let accepted = |step: &Step<EdgeAction>| family(self.0.model, step) == Some(Family::Accepted);
        match sequence.steps.iter().position(accepted) {
            Some(step) if played.failure.is_none() => {
                let check = Check::counted(Counted::WrongAnswers, 0, 1).at(CaseLevel::Should);
                Played { failure: Failure::of(step, &[check]), ..played }
            }
            _ => played,
        }
    }

    async fn restart(&mut self) -> bool {
        self.0.restart().await
    }
}

/// The target fails once in its life.
#[tokio::test]
async fn failure_that_does_not_repeat_is_reported_as_such() {
    let once = |_: &EdgeModel, steps: &[Step<EdgeAction>]| steps.len() == 42;
    let model = edge_model();
    let mut target = OnlyOnce(FakeTarget { remembers: true, ..FakeTarget::new(&model, once) });
    let result = SEARCH.run(&model, &mut target).await;
    let [finding] = &result.findings[..] else { panic!("{:?}", result.findings) };
    assert_eq!(finding.repeats, Repeats::No);
    assert_eq!(result.played, 60);
}

/// Replays are bounded.
#[tokio::test]
async fn replays_end_at_their_limit() {
    let model = edge_model();
    let mut target = FakeTarget::new(&model, refusal_after_abort);
    let search = Search { replays: 5, ..SEARCH };
    let result = search.run(&model, &mut target).await;
    assert!(!result.findings.is_empty());
    assert!(target.plays <= 60 + 4 * 6, "{}", target.plays);
}

/// A target whose failures end with its first restart.
struct OnlyOnce<'m>(FakeTarget<'m>);

impl SequencePlayer for OnlyOnce<'_> {
    type Action = EdgeAction;

    fn now(&self) -> Instant {
        self.0.now()
    }

    async fn play(&mut self, sequence: &Sequence<EdgeAction>, limit: Duration) -> Played {
        self.0.play(sequence, limit).await
    }

    async fn restart(&mut self) -> bool {
        self.0.fails = |_, _| false;
        self.0.restart().await
    }
}

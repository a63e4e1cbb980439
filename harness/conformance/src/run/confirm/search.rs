use std::future::Future;

/// Plays of a case that fails each time. One that does not is played once more.
const PLAYS: u64 = 2;
/// Most cases of a history that a command repeats.
pub(super) const SHOWN: usize = 8;

/// Plays one failed case again.
pub(super) trait Replay {
    /// The cases before it on the same target, in the order of a run with one job.
    fn history(&self) -> Vec<usize>;

    /// Whether it fails as before, after these cases. None: it was not judged, or there is no time.
    fn fails(&mut self, history: &[usize]) -> impl Future<Output = Option<bool>> + Send;
}

/// What is known of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repeats {
    /// It failed in each play. Number of plays.
    Always(u64),
    /// It fails after these cases only, and needs each of them.
    OnlyAfter(Vec<usize>),
    /// It failed in some plays.
    Sometimes { failed: u64, plays: u64 },
    /// It failed in no play. Number of plays.
    Once(u64),
}

/// Finds out when a case fails. None: it could not be played.
pub(super) async fn when_it_fails(replay: &mut impl Replay) -> Option<Repeats> {
    let (mut failed, mut plays) = (0, 0);
    while plays < PLAYS
        && let Some(fails) = replay.fails(&[]).await
    {
        (failed, plays) = (failed + u64::from(fails), plays + 1);
    }
    if failed == plays {
        return (plays > 0).then_some(Repeats::Always(plays));
    }
    let history = if failed == 0 { needed_history(replay).await } else { None };
    // A failure by chance looks like one that needs its history.
    if let Some(fails) = replay.fails(&[]).await {
        (failed, plays) = (failed + u64::from(fails), plays + 1);
    }
    Some(match history {
        _ if failed > 0 => Repeats::Sometimes { failed, plays },
        Some(history) => Repeats::OnlyAfter(history),
        None => Repeats::Once(plays),
    })
}

/// The cases after which it fails. None: it fails after none, after too many, or there is no time.
async fn needed_history(replay: &mut impl Replay) -> Option<Vec<usize>> {
    let history = replay.history();
    let mut size = 1;
    // What the failure needs is mostly near.
    while size / 2 < history.len() {
        let latest = &history[history.len().saturating_sub(size)..];
        if replay.fails(latest).await? {
            let shortest = shortest(replay, latest.to_vec()).await;
            return (shortest.len() <= SHOWN).then_some(shortest);
        }
        size *= 2;
    }
    None
}

/// Leaves out the cases that the failure does not need: many at once first.
async fn shortest(replay: &mut impl Replay, mut history: Vec<usize>) -> Vec<usize> {
    let mut size = history.len().div_ceil(2);
    while history.len() > 1 {
        let mut start = 0;
        while start < history.len() && history.len() > 1 {
            let end = (start + size).min(history.len());
            let shorter = [&history[..start], &history[end..]].concat();
            match replay.fails(&shorter).await {
                Some(true) => history = shorter,
                Some(false) => start = end,
                None => return history,
            }
        }
        if size == 1 {
            break;
        }
        size = size.div_ceil(2);
    }
    history
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use futures_util::FutureExt;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// A target on which a case fails after some cases, or as this list says.
    struct Fake {
        length: usize,
        needs: Option<BTreeSet<usize>>,
        /// Whether the plays without a history fail.
        alone: Vec<Option<bool>>,
        plays: usize,
    }

    impl Replay for Fake {
        fn history(&self) -> Vec<usize> {
            (0..self.length).collect()
        }

        async fn fails(&mut self, history: &[usize]) -> Option<bool> {
            self.plays += 1;
            if history.is_empty() && !self.alone.is_empty() {
                return self.alone.remove(0);
            }
            Some(self.needs.as_ref().is_some_and(|needs| needs.iter().all(|case| history.contains(case))))
        }
    }

    fn check(mut fake: Fake, expected: Option<&Repeats>) -> usize {
        // A fake never waits.
        assert_eq!(when_it_fails(&mut fake).now_or_never().unwrap().as_ref(), expected);
        fake.plays
    }

    #[rstest]
    #[case::always(&[Some(true), Some(true)], Some(Repeats::Always(2)))]
    #[case::never_again(&[Some(false), Some(false), Some(false)], Some(Repeats::Once(3)))]
    #[case::first(&[Some(true), Some(false), Some(false)], Some(Repeats::Sometimes { failed: 1, plays: 3 }))]
    #[case::latest(&[Some(false), Some(false), Some(true)], Some(Repeats::Sometimes { failed: 1, plays: 3 }))]
    #[case::no_time(&[None], None)]
    #[case::time_for_one(&[Some(true), None, None], Some(Repeats::Always(1)))]
    fn plays_alone_tell_chance_from_rule(#[case] alone: &[Option<bool>], #[case] expected: Option<Repeats>) {
        check(Fake { length: 20, needs: None, alone: alone.to_vec(), plays: 0 }, expected.as_ref());
    }

    proptest! {
        #[test]
        fn history_has_exactly_the_needed_cases(
            length in 1_usize..500,
            needs in prop::collection::btree_set(0_usize..500, 1..4),
        ) {
            let needs: BTreeSet<usize> = needs.into_iter().map(|case| case % length).collect();
            let expected = Repeats::OnlyAfter(needs.iter().copied().collect());
            let fake = Fake { length, needs: Some(needs), alone: Vec::new(), plays: 0 };
            let plays = check(fake, Some(&expected));
            prop_assert!(plays < 90, "{plays} plays");
        }
    }
}

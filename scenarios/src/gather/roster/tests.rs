use edgeproof_reports::TargetKind;
use edgeproof_reports::load::{LoadTarget, Model, PlannedLoad};
use proptest::prelude::*;
use rstest::rstest;

use super::*;

const WAIT: Duration = Duration::from_secs(60);

fn s(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn shard(index: u32) -> ShardId {
    ShardId { index, process: u64::from(index) + 100 }
}

/// A run of two shards and 20 s.
fn run() -> RunDescription {
    RunDescription {
        schema: "edgeproof.load/1".into(),
        version: "0.1.0".into(),
        spec: None,
        scenario: "edge-relay".into(),
        model: Model::Open,
        shards: 2,
        plan: PlannedLoad { measured_ms: 20_000, ..PlannedLoad::default() },
        target: LoadTarget { kind: TargetKind::Embedded, command: None, edge_url: None, base_url: None },
        faults: Vec::new(),
    }
}

/// Both shards are ready, and started, at 1 s.
fn started() -> Roster {
    let mut roster = Roster::new(2, WAIT);
    for index in 0..2 {
        roster.join(s(1), shard(index), run()).unwrap();
        assert_eq!(roster.step(s(1)), GatherStep::Wait);
        roster.ready(s(1), shard(index)).unwrap();
    }
    assert_eq!(roster.step(s(1)), GatherStep::Start);
    roster
}

fn lost(step: GatherStep) -> Vec<(u32, String)> {
    let GatherStep::Merge(lost) = step else { panic!("{step:?}") };
    lost.into_iter().map(|shard| (shard.index, shard.why)).collect()
}

#[test]
fn run_starts_once_and_ends_with_the_last_report() {
    let mut roster = started();
    assert_eq!(roster.step(s(2)), GatherStep::Wait);
    for index in 0..2 {
        assert_eq!(roster.step(s(3)), GatherStep::Wait);
        assert_eq!(roster.expected_report(s(3), shard(index)), Ok(Some(run())));
        roster.deliver(shard(index)).unwrap();
        // The shard did not get the answer, and tries again.
        assert_eq!(roster.expected_report(s(3), shard(index)), Ok(None));
    }
    assert_eq!(lost(roster.step(s(3))), []);
}

#[rstest]
#[case::count(|run: &mut RunDescription, _: &mut ShardId| run.shards = 3, "is of 3 shards, and gather expects 2")]
#[case::index(|_: &mut RunDescription, shard: &mut ShardId| shard.index = 2, "shard 2 is of 2 shards")]
#[case::version(|run: &mut RunDescription, _: &mut ShardId| run.version = "0.2.0".into(), "its version of edgeproof differs")]
#[case::plan(|run: &mut RunDescription, _: &mut ShardId| run.plan.timeout_ms = 9, "its plan (timeout_ms) differs")]
#[case::twice(|_: &mut RunDescription, shard: &mut ShardId| shard.process = 9, "shard 0 takes part already: it comes twice")]
fn wrong_shard_is_refused(#[case] change: fn(&mut RunDescription, &mut ShardId), #[case] expected: &str) {
    let mut roster = Roster::new(2, WAIT);
    roster.join(s(1), shard(0), run()).unwrap();
    let (mut other, mut id) = (run(), shard(0));
    change(&mut other, &mut id);
    let refusal = roster.join(s(2), id, other).unwrap_err();
    assert!(refusal.what.contains(expected) && refusal.wrong_command, "{refusal:?}");
    // The same process may ask again.
    roster.join(s(2), shard(0), run()).unwrap();
}

#[test]
fn missing_shards_are_named_with_their_refusals() {
    let mut roster = Roster::new(3, WAIT);
    let run = || RunDescription { shards: 3, ..run() };
    roster.join(s(1), shard(1), run()).unwrap();
    let other = RunDescription { version: "0.2.0".into(), ..run() };
    roster.join(s(2), shard(2), other).unwrap_err();
    for at in 2..60 {
        roster.ready(s(at), shard(1)).unwrap();
        assert_eq!(roster.step(s(at)), GatherStep::Wait);
    }
    let GatherStep::CallOff(refusal) = roster.step(WAIT) else { panic!("it waits") };
    assert_eq!(
        refusal.what,
        "the run did not start: 2 of 3 shards are missing after 1m: 0, 2; shard 2 is of another run: its version of edgeproof \
         differs from that of the first shard"
    );
    assert!(!refusal.wrong_command);
    assert_eq!(roster.ready(WAIT, shard(1)), Err(refusal.clone()));
    assert_eq!(roster.join(WAIT, shard(0), run()), Err(refusal));
}

/// Before the start, the cluster may start a shard again.
#[test]
fn place_of_a_silent_shard_is_free() {
    let mut roster = Roster::new(2, WAIT);
    roster.join(s(1), shard(0), run()).unwrap();
    let again = ShardId { process: 9, ..shard(0) };
    roster.join(s(10), again, run()).unwrap_err();
    roster.join(s(11), again, RunDescription { version: "0.2.0".into(), ..run() }).unwrap();
    assert!(roster.ready(s(12), shard(0)).unwrap_err().what.contains("takes no part"));
}

#[test]
fn shard_after_the_start_is_too_late() {
    let mut roster = started();
    let again = ShardId { process: 9, ..shard(1) };
    let refused = |roster: &mut Roster, id| roster.join(s(30), id, run()).unwrap_err().what;
    assert_eq!(refused(&mut roster, again), "shard 1 takes part already: it comes twice");
    assert_eq!(refused(&mut roster, shard(1)), "shard 1 is too late: the run has begun");
    assert!(roster.expected_report(s(30), again).is_err());
}

#[rstest]
#[case::silent(None, "nothing was heard of it for 10 s")]
#[case::broken(Some("its report broke off after 7 bytes"), "its report broke off after 7 bytes")]
fn silent_shard_is_lost(#[case] broken: Option<&str>, #[case] expected: &str) {
    let mut roster = started();
    roster.deliver(shard(0)).unwrap();
    roster.hear(s(5), shard(1)).unwrap();
    if let Some(why) = broken {
        roster.break_off(shard(1), why);
    }
    assert_eq!(roster.step(s(14)), GatherStep::Wait);
    let lost = lost(roster.step(s(15)));
    assert!(lost.len() == 1 && lost[0].0 == 1 && lost[0].1.starts_with(expected), "{lost:?}");
    // It was only slow: gather has not ended.
    roster.hear(s(15), shard(1)).unwrap();
    assert_eq!(roster.step(s(16)), GatherStep::Wait);
}

#[test]
fn shard_that_runs_without_end_is_lost() {
    let mut roster = started();
    for at in 2..81 {
        roster.hear(s(at), shard(0)).unwrap();
        roster.hear(s(at), shard(1)).unwrap();
        assert_eq!(roster.step(s(at)), GatherStep::Wait);
    }
    let lost = lost(roster.step(s(81)));
    assert!(lost.len() == 2 && lost[0].1.starts_with("it runs and did not report in time"), "{lost:?}");
}

#[test]
fn interrupted_gather_has_the_delivered_reports() {
    let mut roster = started();
    roster.deliver(shard(1)).unwrap();
    let lost = roster.interrupt("gather was ended by SIGTERM");
    assert_eq!(lost, [LostShard { index: 0, why: "gather was ended by SIGTERM".into() }]);
}

proptest! {
    /// Whatever shards do and when: a sum has a report or a reason for each shard, and a run starts with all shards or not at
    /// all.
    #[test]
    fn no_shard_is_forgotten(events in prop::collection::vec((0u32..3, 0u64..2, 0u8..5, 0u64..8), 0..120)) {
        let mut roster = Roster::new(2, WAIT);
        let (mut now, mut has_started, mut delivered) = (s(0), false, [false; 2]);
        for (index, process, event, pause) in events {
            now += s(pause);
            let id = ShardId { index, process };
            match event {
                0 => drop(roster.join(now, id, run())),
                1 => drop(roster.ready(now, id)),
                2 => drop(roster.hear(now, id)),
                3 => roster.break_off(id, "broken"),
                _ => if let Ok(Some(_)) = roster.expected_report(now, id) {
                    prop_assert!(has_started);
                    roster.deliver(id).unwrap();
                    delivered[index as usize] = true;
                },
            }
            match roster.step(now) {
                GatherStep::Start => {
                    prop_assert!(!has_started);
                    has_started = true;
                }
                GatherStep::Merge(lost) => {
                    prop_assert!(has_started);
                    for index in 0..2 {
                        let is_lost = lost.iter().any(|shard| shard.index == index);
                        prop_assert!(is_lost != delivered[index as usize]);
                    }
                }
                GatherStep::CallOff(_) => prop_assert!(!has_started),
                GatherStep::Wait => {}
            }
        }
    }
}

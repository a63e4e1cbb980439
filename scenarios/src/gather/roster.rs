use std::collections::BTreeMap;
use std::time::Duration;

use super::messages::{Refusal, ShardId};
use crate::merge::{LostShard, RunDescription};

/// The shards of a run, and how far each is. Times count from the start of gather. No I/O.
#[derive(Debug)]
pub struct Roster {
    count: u32,
    /// How long to wait for all shards.
    wait: Duration,
    /// The run of the first shard. All others must play the same.
    run: Option<RunDescription>,
    members: BTreeMap<u32, Member>,
    /// Why a shard was refused last, by index.
    refused: BTreeMap<u32, String>,
    phase: GatherPhase,
}

#[derive(Debug)]
struct Member {
    process: u64,
    heard: Duration,
    stage: MemberStage,
    /// Why its last report was not taken.
    broken: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum MemberStage {
    Joined,
    /// It waits for the start, or runs.
    Ready,
    /// Its report is here.
    Delivered,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GatherPhase {
    Waiting,
    /// All reports should be here at the end.
    Started {
        end: Duration,
    },
    CalledOff(Refusal),
}

/// What gather does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatherStep {
    /// Wait.
    Wait,
    /// Tell the shards that they start. Only once.
    Start,
    /// End: the shards never started together.
    CallOff(Refusal),
    /// Merge: no more reports will come. These shards have none.
    Merge(Vec<LostShard>),
}

/// A shard that is silent for this long is lost. It says once a second that it runs.
const SILENCE: Duration = Duration::from_secs(10);
/// Time from the start of gather's plan to the report, beyond the planned time: for the start, and to send the report.
const GRACE: Duration = Duration::from_secs(60);
const START_AGAIN: &str = "look at the log of that shard, and start the run again";

impl Roster {
    /// A run of this many shards. `wait`: how long to wait for all of them.
    pub fn new(count: u32, wait: Duration) -> Self {
        let (members, refused) = (BTreeMap::new(), BTreeMap::new());
        Self { count, wait, run: None, members, refused, phase: GatherPhase::Waiting }
    }

    /// A shard wants to take part.
    pub fn join(&mut self, now: Duration, shard: ShardId, run: RunDescription) -> Result<(), Refusal> {
        let joined = self.try_join(now, shard, run);
        if let Err(refusal) = &joined {
            self.refused.insert(shard.index, refusal.what.clone());
        }
        joined
    }

    fn try_join(&mut self, now: Duration, shard: ShardId, run: RunDescription) -> Result<(), Refusal> {
        let ShardId { index, process } = shard;
        if run.shards != self.count || index >= self.count {
            let (count, expected) = (run.shards, self.count);
            return Err(Refusal::wrong(
                format!("shard {index} is of {count} shards, and gather expects {expected}"),
                "give gather and all shards the same number of shards",
            ));
        }
        self.drop_silent(now);
        if let Some(difference) = self.run.as_ref().and_then(|own| own.difference(&run)) {
            return Err(Refusal::wrong(
                format!(
                    "shard {index} is of another run: its {difference} differs from that of the first shard"
                ),
                "start all shards with the same version of edgeproof, the same arguments and the same --seed",
            ));
        }
        if self.members.get(&index).is_some_and(|member| member.process != process) {
            return Err(Refusal::wrong(
                format!("shard {index} takes part already: it comes twice"),
                "give each process another index; a shard that is started again must be so before the run begins",
            ));
        }
        match &self.phase {
            GatherPhase::CalledOff(refusal) => return Err(refusal.clone()),
            GatherPhase::Started { .. } => {
                let what = format!("shard {index} is too late: the run has begun");
                return Err(Refusal::incomplete(what, "start the run again"));
            }
            GatherPhase::Waiting => {}
        }
        self.run.get_or_insert(run);
        self.refused.remove(&index);
        let member = Member { process, heard: now, stage: MemberStage::Joined, broken: None };
        self.members.insert(index, member);
        Ok(())
    }

    /// A shard says that it runs. Fails if it takes no part, or if the run was called off.
    pub fn hear(&mut self, now: Duration, shard: ShardId) -> Result<(), Refusal> {
        if let GatherPhase::CalledOff(refusal) = &self.phase {
            return Err(refusal.clone());
        }
        self.member(shard)?.heard = now;
        Ok(())
    }

    /// A shard waits for the start.
    pub fn ready(&mut self, now: Duration, shard: ShardId) -> Result<(), Refusal> {
        self.hear(now, shard)?;
        let member = self.member(shard)?;
        if member.stage == MemberStage::Joined {
            member.stage = MemberStage::Ready;
        }
        Ok(())
    }

    /// The run that a shard must report. `None`: its report is here already.
    pub fn expected_report(
        &mut self,
        now: Duration,
        shard: ShardId,
    ) -> Result<Option<RunDescription>, Refusal> {
        self.hear(now, shard)?;
        if self.member(shard)?.stage == MemberStage::Delivered {
            return Ok(None);
        }
        if self.phase == GatherPhase::Waiting {
            let what = format!("shard {} has a report before the run began", shard.index);
            return Err(Refusal::incomplete(what, "start the run again"));
        }
        Ok(self.run.clone())
    }

    /// The report of a shard is here.
    pub fn deliver(&mut self, shard: ShardId) -> Result<(), Refusal> {
        self.member(shard)?.stage = MemberStage::Delivered;
        Ok(())
    }

    /// The report of a shard was not taken.
    pub fn break_off(&mut self, shard: ShardId, why: &str) {
        if let Ok(member) = self.member(shard) {
            member.broken = Some(why.to_owned());
        }
    }

    /// Decides what to do.
    pub fn step(&mut self, now: Duration) -> GatherStep {
        match &self.phase {
            GatherPhase::CalledOff(refusal) => GatherStep::CallOff(refusal.clone()),
            GatherPhase::Started { end } => {
                let end = *end;
                let undelivered = |(_, member): &(&u32, &Member)| member.stage != MemberStage::Delivered;
                let open: Vec<(&u32, &Member)> = self.members.iter().filter(undelivered).collect();
                if now < end && open.iter().any(|(_, member)| !member.is_silent(now)) {
                    return GatherStep::Wait;
                }
                GatherStep::Merge(open.into_iter().map(|(index, member)| member.lost(*index, now)).collect())
            }
            GatherPhase::Waiting => self.step_before_start(now),
        }
    }

    /// The shards without a report if gather ends now. `why`: a clause.
    pub fn interrupt(&self, why: &str) -> Vec<LostShard> {
        let delivered = |index: &u32| {
            self.members.get(index).is_some_and(|member| member.stage == MemberStage::Delivered)
        };
        let lost = (0..self.count).filter(|index| !delivered(index));
        lost.map(|index| LostShard { index, why: why.to_owned() }).collect()
    }

    fn step_before_start(&mut self, now: Duration) -> GatherStep {
        self.drop_silent(now);
        let is_ready =
            |index: &u32| self.members.get(index).is_some_and(|member| member.stage >= MemberStage::Ready);
        let missing: Vec<u32> = (0..self.count).filter(|index| !is_ready(index)).collect();
        if missing.is_empty() {
            self.phase = GatherPhase::Started { end: now + self.longest_run() };
            return GatherStep::Start;
        }
        if now < self.wait {
            return GatherStep::Wait;
        }
        let refusal = self.missing(&missing);
        self.phase = GatherPhase::CalledOff(refusal.clone());
        GatherStep::CallOff(refusal)
    }

    fn missing(&self, missing: &[u32]) -> Refusal {
        let names: Vec<String> = missing.iter().map(u32::to_string).collect();
        let refused = missing.iter().filter_map(|index| self.refused.get(index));
        let refused: Vec<String> = refused.map(|why| format!("; {why}")).collect();
        let refused = refused.concat();
        let what = format!(
            "the run did not start: {} of {} shards are missing after {}: {}{refused}",
            missing.len(),
            self.count,
            humantime::format_duration(self.wait),
            names.join(", ")
        );
        Refusal::incomplete(what, "look at the logs of the missing shards; give them more time with --wait")
    }

    /// Time from the start to the last report, at most.
    fn longest_run(&self) -> Duration {
        let plan = self.run.as_ref().map(|run| &run.plan);
        let planned = plan.map_or(0, |plan| {
            plan.warm_up_ms.saturating_add(plan.measured_ms).saturating_add(plan.drain.limit_ms)
        });
        Duration::from_millis(planned).saturating_add(GRACE)
    }

    /// Frees the places of shards that are gone. The cluster may have started them again.
    fn drop_silent(&mut self, now: Duration) {
        if self.phase == GatherPhase::Waiting {
            self.members.retain(|_, member| !member.is_silent(now));
        }
        // The next shard decides what is played.
        if self.members.is_empty() {
            self.run = None;
        }
    }

    fn member(&mut self, shard: ShardId) -> Result<&mut Member, Refusal> {
        let member = self.members.get_mut(&shard.index).filter(|member| member.process == shard.process);
        member.ok_or_else(|| {
            let what = format!(
                "shard {} takes no part: gather was started again, or the shard was silent for too long",
                shard.index
            );
            Refusal::incomplete(what, "start the run again")
        })
    }
}

impl Member {
    fn is_silent(&self, now: Duration) -> bool {
        now.saturating_sub(self.heard) >= SILENCE
    }

    fn lost(&self, index: u32, now: Duration) -> LostShard {
        let silent = now.saturating_sub(self.heard).as_secs();
        let why = match &self.broken {
            Some(why) => format!("{why}; {START_AGAIN}"),
            None if self.is_silent(now) => format!("nothing was heard of it for {silent} s; {START_AGAIN}"),
            None => format!("it runs and did not report in time; {START_AGAIN}"),
        };
        LostShard { index, why }
    }
}

#[cfg(test)]
mod tests;

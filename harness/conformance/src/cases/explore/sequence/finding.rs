use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted};

use super::action_model::ActionModel;
use super::search::{Finding, Repeats, SearchResult};
use super::steps::{ConnectionChoice, Sequence};
use crate::judge::Check;

/// The steps of a sequence in words, numbered.
pub(super) fn describe<M: ActionModel>(model: &M, sequence: &Sequence<M::Action>) -> Vec<String> {
    let describe = |(index, step): (usize, &super::steps::Step<M::Action>)| {
        let mut text = format!("{}. {}", index + 1, model.describe(&step.action));
        if let ConnectionChoice::Kept(number) = step.connection {
            text = format!("{text}, on connection {number}");
        }
        if step.pause_ms > 0 {
            text = format!("{text}, after {} ms", step.pause_ms);
        }
        if step.together {
            text = format!("{text}, at the same time as step {}", index + 2);
        }
        text
    };
    sequence.steps.iter().enumerate().map(describe).collect()
}

/// The checks of a finding: those of the broken step, then one that shows all steps. `repeat`: how to play it again.
pub(super) fn checks<M: ActionModel>(model: &M, finding: &Finding<M::Action>, repeat: Advice) -> Vec<Check> {
    let (count, position) = (finding.sequence.steps.len(), finding.failure.step + 1);
    let broken = format!("step {position} of {count}");
    let mut checks: Vec<Check> =
        finding.failure.checks.iter().map(|check| check.clone().of(&broken)).collect();
    let parts: Vec<&str> = finding.failure.checks.iter().map(|check| check.what.as_str()).collect();
    let mut lines = describe(model, &finding.sequence);
    if let Some(line) = lines.get_mut(finding.failure.step) {
        *line = format!("{line}: wrong {}", parts.join(", "));
    }
    let counted = if finding.repeats == Repeats::Yes { Counted::ShrunkSteps } else { Counted::Steps };
    let steps = Count::new(counted, count, finding.failure.step);
    let steps = Count { part: finding.number.map(|number| u64::from(number) + 1), ..steps };
    let scope = match (finding.number, finding.repeats) {
        (Some(_), Repeats::No) => Some(Advice::SequenceFailedOnce),
        (_, Repeats::StaysWrong) => Some(Advice::TargetStaysWrong),
        _ => None,
    };
    let check = Check::judged(steps, false).lines(&lines);
    checks.push(check.at(finding.failure.level()).advise_all(scope.into_iter().chain([repeat])));
    checks
}

/// The check that counts the sequences of a search.
pub(super) fn summary<A>(result: &SearchResult<A>, count: u32, seed: u64) -> Check {
    let failed = result.further + u32::try_from(result.findings.len()).unwrap_or(u32::MAX);
    let (played, right) = (result.played as usize, result.played.saturating_sub(failed) as usize);
    let sequences = Count::new(Counted::Sequences, count as usize, right).of(played).part(result.steps);
    let check = Check::judged(sequences.seed(seed), right == count as usize);
    // The findings have checks of their own.
    if failed == 0 { check } else { check.at(CaseLevel::Open) }
}

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Draft, Sent};
use edgeproof_reports::Hop;
use edgeproof_reports::difference::{Count, Counted};

use super::action_model::ActionModel;
use super::edge_model::EdgeModel;
use super::edge_player::EdgePlayer;
use super::finding::{checks, summary};
use super::plan::SequencePlan;
use super::play::{Played, SequencePlayer};
use super::saved::{NamedSequence, save};
use super::search::{Finding, Repeats, Search, SearchResult};
use super::service_model::ServiceModel;
use super::service_player::ServicePlayer;
use crate::cases::service::{PENDING, UNAUTHORIZED};
use crate::cases::{
    CaseContext, CaseExchange, CaseList, CaseTarget, Edge, EdgeCaseContext, EdgeNeed, EdgeTarget, Service,
    ServiceCaseContext, ServiceNeed, ServiceTarget,
};
use crate::judge::Check;

/// Time that a sequence may take on a busy machine, on average.
const SEQUENCE_TIME: Duration = Duration::from_secs(2);
/// Longest time for the replays of one failure.
const SHRINK_TIME: Duration = Duration::from_secs(20);
/// Failures that a search shrinks, for its timeout.
const SHRUNK: u32 = 4;
/// Most replays for one failure.
const REPLAYS: u32 = 500;
/// Longest wait for an answer of a saved sequence.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);
/// Requirements of sequences at an edge.
const EDGE_NEEDS: [EdgeNeed; 3] = [EdgeNeed::Service, EdgeNeed::Origin, EdgeNeed::PlainReasons];

/// Adds the random and the saved sequences of an edge.
pub(in crate::cases) fn add_edge(cases: &mut CaseList<'_, Edge>, plan: SequencePlan) {
    if plan.count == 0 && plan.edge.is_empty() {
        return;
    }
    let model = Arc::new(EdgeModel::new(cases));
    if plan.count > 0 {
        let (search, folder, model) = (search(plan.count, plan.seed), plan.save, Arc::clone(&model));
        let title = format!(
            "the edge answers each step of {} random sequences as it answers the step alone",
            plan.count
        );
        cases
            .case("statement.isolation", "explore.edge", &title)
            .steps(steps!(with(folder, model), async |context| {
                let mut player = EdgePlayer { model: &model, context };
                let result = search.run(&*model, &mut player).await;
                report(&*model, context, result, &search, folder.as_deref());
            }))
            .requires(&EDGE_NEEDS)
            .exclusive()
            .takes(search_time(plan.count));
    }
    for replay in plan.edge {
        let (id, title, model) = (replay.id(), replay.title(), Arc::clone(&model));
        cases
            .case("statement.isolation", &id, &title)
            .steps(steps!(with(replay, model), async |context| {
                let played = EdgePlayer { model: &model, context }.play(&replay.sequence, ANSWER_LIMIT).await;
                report_replay(&*model, context, &replay, played);
            }))
            .requires(&EDGE_NEEDS)
            .exclusive()
            .takes(SEQUENCE_TIME);
    }
}

/// Adds the random and the saved sequences of a service.
pub(in crate::cases) fn add_service(cases: &mut CaseList<'_, Service>, plan: SequencePlan) {
    if plan.count > 0 {
        let (search, folder) = (search(plan.count, plan.seed), plan.save);
        let title = format!(
            "the service answers each request of {} random sequences as it answers the request alone",
            plan.count
        );
        cases
            .case(PENDING, "explore.service", &title)
            .steps(steps!(with(folder), async |context| {
                let model = ServiceModel::of(context);
                let mut player = ServicePlayer { context };
                let result = search.run(&model, &mut player).await;
                report(&model, context, result, &search, folder.as_deref());
            }))
            .also(UNAUTHORIZED)
            .requires(&[ServiceNeed::ReadToken])
            .exclusive()
            .takes(search_time(plan.count));
    }
    for replay in plan.service {
        let (id, title) = (replay.id(), replay.title());
        let mut needs = vec![ServiceNeed::ReadToken];
        for step in &replay.sequence.steps {
            needs.extend(ServiceModel::requires(&step.action));
        }
        needs.dedup();
        cases
            .case(PENDING, &id, &title)
            .steps(steps!(with(replay), async |context| {
                let played = ServicePlayer { context }.play(&replay.sequence, ANSWER_LIMIT).await;
                report_replay(&ServiceModel::all(), context, &replay, played);
            }))
            .also(UNAUTHORIZED)
            .requires(&needs)
            .exclusive()
            .takes(SEQUENCE_TIME);
    }
}

impl<A> NamedSequence<A> {
    /// Id of the case that plays it.
    pub fn id(&self) -> String {
        format!("replay.{}", self.name)
    }

    fn title(&self) -> String {
        format!("each step of the saved sequence {} gets the answer that it gets alone", self.name)
    }
}

fn search(count: u32, seed: u64) -> Search {
    Search { count, seed, replays: REPLAYS, time: SHRINK_TIME }
}

fn search_time(count: u32) -> Duration {
    SEQUENCE_TIME * count + SHRINK_TIME * SHRUNK
}

/// The target of sequences, as findings need it.
trait SequenceTarget: CaseTarget + Sized {
    /// Shows an exchange. `alone`: no other step precedes it, so that a `curl` command can repeat it.
    fn show(context: &mut CaseContext<Self>, draft: &Draft, sent: Sent, alone: bool);
}

impl SequenceTarget for EdgeTarget {
    fn show(context: &mut EdgeCaseContext, draft: &Draft, sent: Sent, alone: bool) {
        context.show_exchange(draft, sent, alone);
    }
}

impl SequenceTarget for ServiceTarget {
    fn show(context: &mut ServiceCaseContext, draft: &Draft, sent: Sent, alone: bool) {
        let curl = crate::curl::curl(context.service(), draft).filter(|_| alone);
        context.found.sent.push(CaseExchange { hop: Hop::ClientService, sent, curl });
    }
}

/// Reports the findings of a search, and saves their sequences.
fn report<M: ActionModel, T: SequenceTarget>(
    model: &M,
    context: &mut CaseContext<T>,
    result: SearchResult<M::Action>,
    search: &Search,
    folder: Option<&Path>,
) {
    let Search { count, seed, .. } = *search;
    let count_check = summary(&result, count, seed);
    for finding in result.findings {
        let target = M::TARGET.to_owned();
        let mut repeat = Advice::RepeatSequences { count: u64::from(count), seed, target };
        if let Some(folder) = folder.filter(|_| finding.repeats != Repeats::No) {
            match save(folder, model, &finding.sequence, |path, text| context.write(path, text)) {
                Ok(path) => repeat = Advice::ReplaySequence { path: path.display().to_string() },
                Err(why) => {
                    let failed = format!("{}: {why}", folder.display());
                    let count = Count::new(Counted::SavedSequences, 1, 0).first(Some(failed));
                    context.check(Check::judged(count, false));
                }
            }
        }
        report_finding(model, context, finding, repeat);
    }
    context.check(count_check);
}

/// Reports a replay.
fn report_replay<M: ActionModel, T: SequenceTarget>(
    model: &M,
    context: &mut CaseContext<T>,
    replay: &NamedSequence<M::Action>,
    mut played: Played,
) {
    let steps = replay.sequence.steps.len();
    let Some(failure) = played.failure.take() else {
        context.check(Check::counted(Counted::Steps, steps, steps));
        return;
    };
    let finding = Finding {
        number: None,
        sequence: replay.sequence.clone(),
        failure,
        exchanges: played.exchanges,
        repeats: Repeats::Yes,
    };
    let repeat = Advice::ReplayCase { path: replay.path.display().to_string(), case: replay.id() };
    report_finding(model, context, finding, repeat);
}

fn report_finding<M: ActionModel, T: SequenceTarget>(
    model: &M,
    context: &mut CaseContext<T>,
    finding: Finding<M::Action>,
    repeat: Advice,
) {
    for check in checks(model, &finding, repeat) {
        context.check(check);
    }
    // Steps have several connections, events and pauses. The advice names the command that repeats them.
    let alone = finding.sequence.steps.len() == 1 && finding.repeats != Repeats::No;
    for (draft, sent) in finding.exchanges {
        T::show(context, &draft, sent, alone);
    }
}

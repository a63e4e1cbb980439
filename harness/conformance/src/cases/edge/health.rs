use std::time::Duration;

use edgeproof_fixtures::credentials::Role;
use edgeproof_fixtures::spec::{Advice, Forms, HealthChange, Level, ServiceTrouble, Value};
use edgeproof_http::{Draft, HostForm, Sent};
use edgeproof_mock::{Action, ListenerMode, Script};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Statuses, TimeRule};
use futures_util::future::join_all;

use crate::cases::case::level;
use crate::cases::{CaseList, Edge, EdgeCaseContext, EdgeNeed, HEALTH, collection, summary};
use crate::judge::{self, Check};

/// Delay of the service's reply to collections beside a health check.
const SLOW: Duration = Duration::from_millis(300);
/// Longest wait for a collection to reach the service.
const ARRIVAL_LIMIT: Duration = Duration::from_secs(2);
/// Pause between two looks at the service.
const PAUSE: Duration = Duration::from_millis(5);
/// Number of collections after which an edge has to use its service again.
const TRIES: usize = 3;

/// The scripts of the service.
#[derive(Clone)]
struct Replies {
    accept: Script,
    refuse: Script,
}

/// Forms of the health check, from the model of variation: one case for each dimension.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    let replies = Replies { accept: cases.accept(), refuse: cases.refuse(401, "edgeproof_health") };
    for forms in &cases.spec.variation().health {
        let id = format!("health.{}", forms.id);
        let title = format!("the health check answers, whatever the {}", forms.title);
        let (replies, played) = (replies.clone(), forms.clone());
        let case = cases.case(&forms.row, &id, &title).steps(move |context| {
            let (replies, forms) = (replies.clone(), played.clone());
            Box::pin(async move {
                for value in &forms.values {
                    Box::pin(play(context, &replies, &forms, value)).await;
                }
            })
        });
        case.observes(
            forms.values.iter().filter(|value| is_observed(value)).map(|value| point(forms, value)),
        );
        let loads = forms.values.iter().any(|value| needs_service(&value.change));
        if loads {
            case.exclusive().takes(SLOW);
        } else {
            case.requires(&[EdgeNeed::Origin]);
        }
    }
}

/// Whether the answer is observed, not only judged.
fn is_observed(value: &Value<HealthChange>) -> bool {
    value.level == Level::Open || matches!(value.change, HealthChange::Service(_) | HealthChange::After(_))
}

/// The open point of a value.
fn point(forms: &Forms<HealthChange>, value: &Value<HealthChange>) -> String {
    format!("health.{}.{}", forms.id, value.id)
}

fn needs_service(change: &HealthChange) -> bool {
    matches!(change, HealthChange::Beside(_) | HealthChange::Service(_) | HealthChange::After(_))
}

/// Plays one value and judges the answers to its health checks.
async fn play(
    context: &mut EdgeCaseContext,
    replies: &Replies,
    forms: &Forms<HealthChange>,
    value: &Value<HealthChange>,
) {
    let name = format!("health-{}={}", forms.id, value.id);
    if let Some(faults) = &context.target.faults {
        faults.announce("", std::slice::from_ref(&name));
    }
    context.found.varied += 1;
    let (level, point) = (level(value.level), point(forms, value));
    let plain = context.fill(&Draft::new("GET", HEALTH));
    let sent = match &value.change {
        HealthChange::Method(method) if method == "HEAD" => {
            // A body after HEAD would be taken for the next answer.
            let drafts = [Draft { method: method.clone(), ..plain.clone() }, plain.clone()];
            context.exchange_in_turn(&drafts).await
        }
        HealthChange::InTurn(times) => context.exchange_in_turn(&vec![plain.clone(); *times]).await,
        HealthChange::AtOnce(times) => {
            let edge: &EdgeCaseContext = context;
            join_all(std::iter::repeat_n(&plain, *times).map(|draft| edge.exchange(draft))).await
        }
        HealthChange::Beside(collections) => {
            let (health, check) = beside(context, replies, *collections, &plain).await;
            context.check(check.of(&name));
            vec![health]
        }
        HealthChange::Service(trouble) => {
            let health = Box::pin(with_trouble(context, replies, *trouble, &plain)).await;
            let Some(health) = health else { return };
            // Whether an edge is healthy without its service is open.
            context.observe(&point, summary::status(&health.reply));
            let check = judge::status_in(Statuses::Any, &health.reply);
            record(context, &plain, &health, &check);
            context.check(check.of(&name).at(level).advise(Advice::HealthOfService));
            return;
        }
        HealthChange::After(trouble) => {
            if Box::pin(with_trouble(context, replies, *trouble, &plain)).await.is_none() {
                return;
            }
            if !recovers(context, replies).await {
                return context.observe(&point, "not played: the edge does not relay again");
            }
            vec![context.exchange(&plain).await]
        }
        change => {
            let draft = changed(&plain, change);
            vec![context.exchange(&draft).await]
        }
    };
    if level == CaseLevel::Open {
        let observed =
            sent.first().map_or_else(|| "no answer".to_owned(), |sent| summary::status(&sent.reply));
        return context.observe(&point, observed);
    }
    let check = |sent: &Sent| judge::status_in(Statuses::Success, &sent.reply);
    // The first wrong answer, or else the first one.
    let Some((check, sent)) = sent.iter().map(|sent| (check(sent), sent)).min_by_key(|(check, _)| check.ok)
    else {
        return;
    };
    record(context, &plain, sent, &check);
    context.check(
        check.of(&name).at(level).advise(Advice::HealthUnanswered { form: value.title.as_str().into() }),
    );
}

/// Shows a wrong answer in the case's report.
fn record(context: &mut EdgeCaseContext, draft: &Draft, sent: &Sent, check: &Check) {
    if !check.ok {
        context.record(draft, sent.clone());
    }
}

/// The health check with a change that concerns one request.
fn changed(plain: &Draft, change: &HealthChange) -> Draft {
    let mut draft = plain.clone();
    match change {
        HealthChange::Method(method) => draft.method.clone_from(method),
        HealthChange::TargetEnd(end) => draft.path.push_str(end),
        HealthChange::Host(host) => draft.form.host = HostForm::Other(host.clone()),
        HealthChange::Headers(fields) => draft.headers.clone_from(fields),
        HealthChange::Http10(fields) => {
            draft.headers.clone_from(fields);
            draft.form.http10 = true;
        }
        HealthChange::InTurn(_)
        | HealthChange::AtOnce(_)
        | HealthChange::Beside(_)
        | HealthChange::Service(_)
        | HealthChange::After(_) => {}
    }
    draft
}

/// A health check while collections wait for the service, and whether it waits for them.
async fn beside(
    context: &mut EdgeCaseContext,
    replies: &Replies,
    collections: usize,
    health: &Draft,
) -> (Sent, Check) {
    let mut slow = replies.accept.clone();
    slow.replies[0].delay = SLOW;
    context.script(slow);
    let edge: &EdgeCaseContext = context;
    let draft = edge.fill(&collection());
    let posts = join_all(std::iter::repeat_n(&draft, collections).map(|draft| edge.exchange(draft)));
    let check = async {
        arrived(edge).await;
        edge.exchange(health).await
    };
    let (posts, health) = tokio::join!(posts, check);
    let end = |sent: &Sent| sent.at + sent.took;
    let last = posts.iter().map(end).max().unwrap_or(health.at).saturating_duration_since(health.at);
    let check = Check::timed(TimeRule::BeforeCollections, health.took, last);
    let check = check.at(CaseLevel::Should).advise(Advice::HealthWaits);
    (health, check)
}

/// A health check while the service fails, after a collection has met the failure. None: the service cannot fail so.
async fn with_trouble(
    context: &mut EdgeCaseContext,
    replies: &Replies,
    trouble: ServiceTrouble,
    health: &Draft,
) -> Option<Sent> {
    let usual = ListenerMode::Tls(Role::ServiceServer);
    let mode = if trouble == ServiceTrouble::Unreachable { ListenerMode::Closes } else { usual };
    if !context.set_listener(mode).await {
        return None;
    }
    context.script(match trouble {
        ServiceTrouble::Unreachable => replies.accept.clone(),
        ServiceTrouble::Resets => Script::one(Action::Reset),
        ServiceTrouble::Silent => Script::one(Action::Silence),
        ServiceTrouble::Refuses => replies.refuse.clone(),
    });
    let edge: &EdgeCaseContext = context;
    let draft = edge.fill(&collection());
    let sent = if trouble == ServiceTrouble::Silent {
        let check = async {
            arrived(edge).await;
            edge.exchange(health).await
        };
        tokio::select! {
            // The collection gets no answer before the edge's own timeout.
            sent = check => sent,
            _ = edge.exchange(&draft) => edge.exchange(health).await,
        }
    } else {
        edge.exchange(&draft).await;
        edge.exchange(health).await
    };
    context.set_listener(usual).await.then_some(sent)
}

/// Waits until a collection has reached the service.
async fn arrived(context: &EdgeCaseContext) {
    // An edge that relays nothing is judged by other cases.
    let arrival = async {
        while context.arrivals().is_empty() {
            context.sleep(PAUSE).await;
        }
    };
    context.within(ARRIVAL_LIMIT, arrival).await;
}

/// Whether the edge relays again. Other cases judge an edge that does not.
async fn recovers(context: &mut EdgeCaseContext, replies: &Replies) -> bool {
    context.script(replies.accept.clone());
    let draft = context.fill(&collection());
    for _ in 0..TRIES {
        let reply = context.exchange(&draft).await.reply;
        if context.is_accepted(&reply) {
            return true;
        }
    }
    false
}

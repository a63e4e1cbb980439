//! A verdict, and a client that waits for one, while something else happens at the service.

use std::time::Duration;

use edgeproof_http::ReusedConnection;
use edgeproof_mock::states::{CollectionState, StateRequest};
use futures_util::future::join_all;
use strum::{Display, VariantArray};

use super::chosen::CHOSEN;
use super::lifecycle::{available, is_limited, needs};
use super::named::own_verdict;
use super::poll_ends::CROSSING;
use super::polls::ROW;
use super::woken::{Provided, TIMEOUT, does_not_wait, is_early, judge_woken};
use crate::cases::service::expected::{AVAILABLE, OUTAGE, PENDING, answer};
use crate::cases::service::waiting::TO_BEGIN;
use crate::cases::{CaseList, Service, ServiceCaseContext};
use crate::judge;
use crate::states::StateNeed;

/// What happens at a service. It neither ends a verdict nor makes one younger, and a verdict after it still ends a long poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, VariantArray)]
#[strum(serialize_all = "kebab-case")]
enum Event {
    /// The verdict is read often.
    ManyReads,
    /// Many clients leave long polls for other sessions.
    ClientsLeave,
    /// A collection of the session is refused.
    CollectionRefused,
    /// Another license has a session with the same reference.
    OtherLicense,
    /// The signing key is replaced.
    Rotation,
    /// Read tokens cannot be checked for a while.
    Outage,
    /// Time passes, half of the life of a verdict.
    TimePasses,
}

/// Time that a case may take: it asks the hook for many states.
const TAKES: Duration = Duration::from_secs(120);
/// Number of reads of one verdict.
const READS: usize = 25;
/// Clients that leave: groups, and clients in a group.
const LEAVING: (usize, usize) = (6, 20);
/// Time that passes in a version without an age limit.
const MINUTE: Duration = Duration::from_secs(60);
/// A wait that ends with the verdict (ms).
const WAIT: u64 = 5000;
/// Age of a verdict below its limit, and time that it then takes to be too old (s).
const BELOW: u64 = 20;
const BEYOND: u64 = 30;

pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    kept(cases);
    waited_for(cases);
    if let Some(limit) = cases.spec.limit("limit.verdict-age") {
        aged(cases, limit.as_secs());
    }
}

fn kept(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            AVAILABLE,
            "verdict.life.through-events",
            "a verdict stays available, whatever else happens at the service",
        )
        .steps(steps!(async |context| {
            let mut kept = ReusedConnection::default();
            for event in events(context) {
                let reference = context.reference(&format!("through-{event}"));
                if context.chosen(StateRequest::verdict(&reference)).await.is_none() {
                    return;
                }
                available(context, &mut kept, &reference).await;
                let Some(made) = event.happens(context, &reference).await else { return };
                context.found.varied += 1;
                for reference in [reference].iter().chain(&made) {
                    let reply = context.fetch_verdict(&context.with_token(reference)).await;
                    if is_limited(context, &reply) {
                        return;
                    }
                    let checks = own_verdict(context, reference, &reply).into_iter();
                    context.checks(checks.map(|check| check.of(&event.to_string())).collect());
                }
                // The next event would only repeat it.
                if context.found.checks.iter().any(|check| !check.ok) {
                    return;
                }
            }
        }))
        .requires(&CHOSEN)
        .exclusive()
        .takes(TAKES);
}

fn waited_for(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            ROW,
            "verdict.poll.through-events",
            "a verdict ends a long poll, whatever else happens at the service meanwhile",
        )
        .steps(steps!(async |context| {
            // Reads need a verdict. A service may keep the first session of a reference, of any license, end a wait by the
            // clock that the hook moves, and check the token again while it waits.
            let is_apart = |event: &Event| {
                matches!(event, Event::ClientsLeave | Event::CollectionRefused | Event::Rotation)
            };
            for event in events(context).into_iter().filter(is_apart) {
                let reference = context.reference(&format!("awaited-{event}"));
                let draft = context.with_token(&reference).query(&format!("waitMs={WAIT}")).draft();
                let sending = context.begin(&draft, TIMEOUT);
                let making = async {
                    context.sleep(TO_BEGIN).await;
                    event.happens(context, &reference).await?;
                    Provided::verdict(context, &reference).await
                };
                let (sent, provided) = tokio::join!(sending, making);
                let Some(provided) = provided else { return };
                context.record(&draft, sent.clone());
                if is_limited(context, &sent.reply) {
                    return;
                }
                if is_early(context, &sent, provided.there + CROSSING) {
                    return does_not_wait(context, &reference, &sent);
                }
                context.found.varied += 1;
                judge_woken(context, &reference, &(sent, provided.there));
                if context.found.checks.iter().any(|check| !check.ok) {
                    return;
                }
            }
        }))
        .requires(&CHOSEN)
        .exclusive()
        .takes(TAKES)
        .also(AVAILABLE);
}

fn aged(cases: &mut CaseList<'_, Service>, limit: u64) {
    cases
        .case(
            "limit.verdict-age",
            "verdict.life.aged-through-events",
            "nothing that happens at the service makes a verdict younger",
        )
        .steps(steps!(async |context| {
            let age = limit.saturating_sub(BELOW);
            let mut references = Vec::new();
            // Its time counts for the others, too.
            for event in events(context).into_iter().filter(|event| *event != Event::TimePasses) {
                let reference = context.reference(&format!("aged-{event}"));
                if context.chosen(StateRequest::aged(&reference, age)).await.is_none()
                    || event.happens(context, &reference).await.is_none()
                {
                    return;
                }
                references.push((event.to_string(), reference));
            }
            let reference = context.reference("aged-awaited");
            let draft = context.with_token(&reference).query(&format!("waitMs={WAIT}")).draft();
            let sending = context.begin(&draft, TIMEOUT);
            let making = async {
                context.sleep(TO_BEGIN).await;
                context.chosen(StateRequest::aged(&reference, age)).await
            };
            let (sent, made) = tokio::join!(sending, making);
            context.record(&draft, sent);
            if made.is_none() || context.provide(StateRequest::Later { seconds: BEYOND }).await.is_none() {
                return;
            }
            references.push(("after a long poll".to_owned(), reference));
            for (name, reference) in references {
                let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                if is_limited(context, &reply) {
                    return;
                }
                context.found.varied += 1;
                let checks = judge::exact(&answer(context.row(PENDING), &reference), &reply).into_iter();
                context.checks(checks.map(|check| check.of(&name)).collect());
            }
        }))
        .requires(&needs(&[StateNeed::Aged, StateNeed::Later]))
        .exclusive()
        .takes(TAKES)
        .also(PENDING);
}

/// The events that can happen at this service.
fn events(context: &ServiceCaseContext) -> Vec<Event> {
    let can_happen = |event: &Event| event.need().is_none_or(|need| context.supports(need));
    Event::VARIANTS.iter().copied().filter(can_happen).collect()
}

impl Event {
    fn need(self) -> Option<StateNeed> {
        match self {
            Self::ManyReads | Self::ClientsLeave => None,
            Self::CollectionRefused => Some(StateNeed::Collection),
            Self::OtherLicense => Some(StateNeed::OtherLicense),
            Self::Rotation => Some(StateNeed::Rotate),
            Self::Outage => Some(StateNeed::Outage),
            Self::TimePasses => Some(StateNeed::Later),
        }
    }

    /// Lets it happen. Yields the references of sessions that got a verdict meanwhile. None: it did not happen; the case says
    /// why.
    async fn happens(self, context: &mut ServiceCaseContext, reference: &str) -> Option<Vec<String>> {
        match self {
            Self::ManyReads => {
                for _ in 0..READS {
                    drop(context.fetch_verdict(&context.with_token(reference)).await);
                }
            }
            Self::ClientsLeave => clients_leave(context).await,
            Self::CollectionRefused => {
                let form = CollectionState::Refused;
                context.provide(StateRequest::Collection { reference: reference.to_owned(), form }).await?;
            }
            // A service that makes its own references has another one for it.
            Self::OtherLicense => drop(context.ask(&StateRequest::other_license(reference)).await),
            Self::Rotation => drop(context.provide(StateRequest::Rotate {}).await?),
            Self::Outage => {
                let code = context.row(OUTAGE).code().map(str::to_owned);
                context.provide(StateRequest::Outage { code }).await?;
                let meanwhile = context.reference("in-an-outage");
                let made = context.chosen(StateRequest::verdict(&meanwhile)).await;
                context.provide(StateRequest::Outage { code: None }).await?;
                return made.map(|made| vec![made]);
            }
            Self::TimePasses => {
                let time = context.spec().limit("limit.verdict-age").map_or(MINUTE, |limit| limit / 2);
                context.provide(StateRequest::Later { seconds: time.as_secs() }).await?;
            }
        }
        Some(Vec::new())
    }
}

/// Clients that begin a long poll and leave.
async fn clients_leave(context: &ServiceCaseContext) {
    let (groups, clients) = LEAVING;
    for group in 0..groups {
        let reference = context.reference(&format!("left-{group}"));
        let draft = context.with_token(&reference).query(&format!("waitMs={WAIT}")).draft();
        let polls = join_all((0..clients).map(|_| context.begin(&draft, TIMEOUT)));
        tokio::select! {
            _ = polls => {}
            () = context.sleep(Duration::from_millis(100)) => {}
        }
    }
}

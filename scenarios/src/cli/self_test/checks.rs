use std::time::Duration;

use super::check::Check;
use super::check::ExpectedReport::{
    self, Delivered, Failures, Gone, Invalid, LimitedByUsers, RightOrInvalid, Saturated,
};
use super::placement::Starvation;
use super::situation::{GeneratedLoad, Situation};
use crate::plan::Rate;
use crate::service::{AnswerManner, Delay, ServerBehaviour};

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);
const ZERO: Duration = Duration::ZERO;
/// Longer than any delay of a server.
const NO_TIMEOUT: Duration = Duration::from_secs(30);
/// Rates at which the generator is starved.
const STARVED_RATES: [f64; 3] = [1000.0, 10_000.0, 30_000.0];

/// Checks of these rates. They need the machine for themselves.
pub(super) fn rates(rates: &[Rate], measured: Duration) -> Vec<Check> {
    let check = |rate: &Rate| {
        let behaviour = ServerBehaviour::default();
        // At least three operations.
        let measured = measured.max(Duration::from_secs_f64(3.0 / rate.value().max(1e-3)));
        let warm_up = if rate.value() < 10.0 { ZERO } else { 500 * MS };
        let situation = Situation { rate: *rate, warm_up, measured, ..collections(behaviour) };
        let name = format!("rate-{}", rate.value());
        let about = format!("{rate} at a server that answers at once");
        Check { name, about, situation, expected: Delivered }
    };
    rates.iter().map(check).collect()
}

/// Checks of a starved generator. They need the machine for themselves.
pub(super) fn starved(measured: Duration) -> Vec<Check> {
    let check = |name: String, about: &str, rate: f64, starvation, expected: ExpectedReport| {
        let behaviour = ServerBehaviour::default();
        let rate = per_second(rate);
        let starvation = Some(starvation);
        let situation = Situation { rate, measured, drain: S, starvation, ..collections(behaviour) };
        Check { name, about: format!("{rate}, {about}"), situation, expected }
    };
    let mut checks = Vec::new();
    for rate in STARVED_RATES {
        let about = "pinned to a CPU with two busy processes";
        checks.push(check(format!("pinned-{rate}"), about, rate, Starvation::Pinned, RightOrInvalid));
        let about = "beside two busy processes for each CPU";
        checks.push(check(format!("crowded-{rate}"), about, rate, Starvation::Crowded, RightOrInvalid));
    }
    let about = "niceness 10, pinned to a CPU with two busy processes";
    checks.push(check("nice".into(), about, 1000.0, Starvation::Nice, Invalid));
    let about = "5 % of a CPU by its cgroup";
    checks.push(check("cgroup".into(), about, 1000.0, Starvation::Limited(0.05), Invalid));
    checks
}

/// Checks at low rates. Several can run at a time.
pub(super) fn behaviours() -> Vec<Check> {
    let usual = Delay::Constant(2 * MS);
    let server = |delay, manner| ServerBehaviour { delay, manner, ..ServerBehaviour::default() };
    let delay = |delay| collections(server(delay, AnswerManner::Accepted));
    let manner = |manner| collections(server(usual, manner));
    let drift = Delay::Drifting { before: 2 * MS, after: 200 * MS, at: 3 * S };
    let stalls = Delay::Stalling { at: ZERO, time: 1600 * MS, period: 2 * S };
    let stall = Delay::Stalling { at: 3 * S, time: 2 * S, period: 3600 * S };
    let slow = |slow| Delay::Slow { share: 0.02, slow, usual: 2 * MS };
    let dying = ServerBehaviour { delay: usual, dies_at: Some(3 * S), ..ServerBehaviour::default() };
    let pending = ServerBehaviour { pending: 200 * MS, ..ServerBehaviour::default() };
    // Longer than setting up a connection.
    let closing = server(Delay::Constant(20 * MS), AnswerManner::Closed);
    let polls = "--poll-interval=50ms --wait-share=0% --wrong-share=0% --bad-token-share=0%";
    let check = |name: &str, about: &str, expected, situation| {
        let (name, about) = (name.into(), about.into());
        Check { name, about, situation, expected }
    };
    let refused = AnswerManner::Refused { share: 0.2, status: 503 };
    let dripped = AnswerManner::Dripped { pieces: 4, gap: 20 * MS };
    let tail = Delay::HeavyTailed { shortest: 2 * MS, longest: 500 * MS };
    let drifting = delay(drift).lasting(ZERO, 6 * S);
    let few_users = Situation { options: "--users=10", ..drifting.clone() };
    let saturated = Situation { rate: per_second(500.0), ..delay(Delay::Limited(400.0)) };
    let stalling = Situation { rate: per_second(50.0), ..delay(stalls).lasting(2 * S, 6 * S) };
    let stalled = Situation { timeout: S, ..delay(stall).lasting(ZERO, 7 * S) };
    let slow_share = Situation { timeout: 2 * S, ..delay(slow(5 * S)) };
    let polling = collections(pending).lasting(ZERO, 3 * S);
    let polling = Situation { load: GeneratedLoad::Verdicts, options: polls, ..polling };
    vec![
        check("constant", "2 ms", Delivered, delay(usual)),
        check("heavy-tailed", "Pareto distribution, 2 to 500 ms", Delivered, delay(tail)),
        check("drifting", "2 ms, then 200 ms", Delivered, drifting),
        check("stalling", "stalls 1.6 s of every 2 s", Delivered, stalling),
        check("stall-and-timeout", "a stall of 2 s, timeout 1 s", Failures, stalled),
        check("slow-share", "2 % take 5 s, timeout 2 s", Failures, slow_share),
        check("slow-answers", "all take 550 ms", Delivered, delay(Delay::Constant(550 * MS))),
        check("refusing", "20 % answered with 503", Failures, manner(refused)),
        check("resetting", "10 % reset", Failures, manner(AnswerManner::Reset { share: 0.1 })),
        check("closing", "closes the connection after each answer", Delivered, collections(closing)),
        check("dripping", "answers in four pieces over 60 ms", Delivered, manner(dripped)),
        check("capacity", "500/s at a server that takes 400/s", Saturated, saturated),
        check("few-users", "10 users, 2 ms, then 200 ms", LimitedByUsers, few_users),
        check("dying", "the server dies after 3 of 4 s", Gone, collections(dying).lasting(ZERO, 4 * S)),
        check("pending-verdicts", "verdicts are pending for 200 ms", Delivered, polling),
    ]
}

/// Collections at 200/s for 3 s.
fn collections(behaviour: ServerBehaviour) -> Situation {
    Situation {
        behaviour,
        load: GeneratedLoad::Collections,
        rate: per_second(200.0),
        warm_up: 500 * MS,
        measured: 3 * S,
        timeout: NO_TIMEOUT,
        drain: 3 * S,
        options: "",
        starvation: None,
    }
}

fn per_second(rate: f64) -> Rate {
    Rate::per_second(rate).expect("the rates of the checks are valid")
}

use std::io::Write;
use std::time::Duration;

use edgeproof_cli::{Failure, raise_open_files};
use edgeproof_http::Limits;
use rustix::process::{Resource, Rlimit, getrlimit};

use super::load_plan::LoadPlan;
use crate::plan::{ScenarioName, UserCount, UserLimit, plan_users};

/// Open files besides connections.
const OTHER_FILES: u64 = 256;
/// Connections of the embedded edge for other purposes.
const OTHER_CONNECTIONS: u32 = 16;
/// Limit on open files that is asked for, if the system allows it.
const COMMON_LIMIT: u64 = 65_536;

/// The number of users, within the limits of this process. Raises the limit on open files. `own_service`: whether the
/// service runs in this process.
pub(super) fn user_count(plan: &LoadPlan, own_service: bool) -> Result<UserCount, Failure> {
    let args = &plan.args;
    let own_edge = plan.uses_edge() && args.edge_url.is_none() && args.launch.is_none();
    let scenarios = plan.parts.len() as u32;
    let per_user = files_per_user(plan, own_edge, own_service);
    let files = |users: u32| (f64::from(users) * per_user).ceil() as u64 + OTHER_FILES;
    // The highest limit that the system allows.
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let limit = maximum.or(current).unwrap_or(u64::MAX);
    let by_files = (limit.saturating_sub(OTHER_FILES) as f64 / per_user) as u32;
    let by_edge = if own_edge { most_users_by_edge(plan) } else { u32::MAX };
    let count = if let Some(users) = args.users {
        let refuse = |what, advice: &str| Err(Failure::usage(what, advice));
        if users < scenarios {
            let advice = format!("give at least --users {scenarios}: one for each scenario");
            return refuse(format!("cannot run {scenarios} scenarios with {users} users"), &advice);
        }
        if users > by_edge {
            return refuse(
                format!(
                    "cannot load the embedded edge with {users} users: its limit is {by_edge} connections"
                ),
                "give fewer --users, or use another edge with --launch or --edge-url",
            );
        }
        if users > by_files {
            let needed = files(users);
            let advice = format!("raise the limit with ulimit -n {needed}, or give fewer --users");
            return refuse(format!("cannot open {needed} files: the limit is {limit}"), &advice);
        }
        UserCount { users, limit: UserLimit::Given }
    } else {
        let (most, by, why) = if by_edge <= by_files {
            let why = format!("the embedded edge has at most {by_edge} connections");
            (by_edge, UserLimit::EmbeddedEdge, why)
        } else {
            let why = format!("the limit on open files is {limit}; raise it with ulimit -n");
            (by_files, UserLimit::OpenFiles, why)
        };
        let peak = plan.peak().unwrap_or_default();
        let planned = plan_users(peak, expected(plan), UserCount { users: most, limit: by });
        let users = planned.users.max(scenarios);
        if planned.limit == by && !args.output.quiet {
            // A closed standard error is no error.
            let _ = writeln!(std::io::stderr(), "  {users} users, fewer than the rate may need: {why}");
        }
        UserCount { users, ..planned }
    };
    // If it fails, so do connections, and the report names the limit.
    raise_open_files(files(count.users).max(COMMON_LIMIT));
    Ok(count)
}

/// Expected duration of an operation.
fn expected(plan: &LoadPlan) -> Duration {
    let args = &plan.args;
    // A session polls until its verdict is ready. Of a foreign service only the longest time is known.
    let until_verdict = match (plan.polls(), &args.base_url) {
        (false, _) => Duration::ZERO,
        (true, None) => args.verdict_after,
        (true, Some(_)) => args.polling.give_up / 2,
    };
    args.expect.unwrap_or(until_verdict) + args.faults.service_slow.unwrap_or_default()
}

fn most_users_by_edge(plan: &LoadPlan) -> u32 {
    let connections = Limits::default().connections as u32 - OTHER_CONNECTIONS;
    let through = average(plan, |name| if name.uses_edge() { 1.0 } else { 0.0 });
    (f64::from(connections) / through.max(f64::EPSILON)) as u32
}

/// Open files of a user at most, on average over the scenarios. Where both ends of a connection are in this
/// process, it takes two files.
fn files_per_user(plan: &LoadPlan, own_edge: bool, own_service: bool) -> f64 {
    let to_service = if own_service { 2.0 } else { 1.0 };
    // The edge may have as many connections to the service as users have to the edge.
    let to_edge = match (own_edge, own_service) {
        (true, _) => 4.0,
        (false, true) => 2.0,
        (false, false) => 1.0,
    };
    average(plan, |name| match name {
        ScenarioName::EdgeRelay => to_edge,
        ScenarioName::VerdictPolling => to_service,
        ScenarioName::Journey => to_edge + to_service,
    })
}

/// The average over the scenarios of a plan, by their weights.
fn average(plan: &LoadPlan, of: impl Fn(ScenarioName) -> f64) -> f64 {
    let all: usize = plan.parts.iter().map(|(_, weight)| weight).sum();
    plan.parts.iter().map(|(name, weight)| *weight as f64 * of(*name)).sum::<f64>() / all.max(1) as f64
}

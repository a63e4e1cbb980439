use std::io::Write;
use std::time::Duration;

use edgeproof_cli::{Failure, raise_open_files};
use edgeproof_http::Limits;
use rustix::process::{Resource, Rlimit, getrlimit};

use super::load_plan::LoadPlan;
use crate::plan::{Rate, ScenarioName, UserCount, UserLimit, plan_users};

/// Open files besides connections.
const OTHER_FILES: u64 = 256;
/// Connections of the embedded edge for other purposes.
const OTHER_CONNECTIONS: u32 = 16;
/// Limit on open files that is asked for, if the system allows it.
const COMMON_LIMIT: u64 = 65_536;

/// Which parts of the system under test run in this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnParts {
    /// The edge.
    pub(super) edge: bool,
    /// The service.
    pub(super) service: bool,
}

/// The number of users, within the limits of this process. Raises the limit on open files.
pub(super) fn user_count(plan: &LoadPlan, own: OwnParts) -> Result<UserCount, Failure> {
    let scenarios = plan.parts.len() as u32;
    let (by_files, limit) = most_users_by_files(plan, own);
    let by_edge = most_users_by_edge(plan, own);
    let Some(given) = plan.args.users else {
        let peak = plan
            .stages
            .as_ref()
            .map_or(Rate::default(), |stages| stages.peak().times(1.0 / f64::from(plan.shard.count())));
        let most = if by_edge.users <= by_files.users { by_edge } else { by_files };
        let users = plan_users(peak, expected(plan), most);
        let users = UserCount { users: users.users.max(scenarios), ..users };
        if let Some(why) = why(most, limit).filter(|_| users.limit == most.limit && !plan.args.output.quiet) {
            note(&format!("{} users, fewer than the rate may need: {why}", users.users));
        }
        raise_limit(plan, own, users.users);
        return Ok(users);
    };
    if given < scenarios {
        return Err(Failure::usage(
            format!("cannot run {scenarios} scenarios with {given} users"),
            format!("give at least --users {scenarios}: one for each scenario"),
        ));
    }
    if given > by_edge.users {
        return Err(Failure::usage(
            format!(
                "cannot load the embedded edge with {given} users: its limit is {} connections",
                by_edge.users
            ),
            "give fewer --users, or use another edge with --launch or --edge-url",
        ));
    }
    if given > by_files.users {
        let needed = files(plan, own, given);
        return Err(Failure::usage(
            format!("cannot open {needed} files: the limit is {limit}"),
            format!("raise the limit with ulimit -n {needed}, or give fewer --users"),
        ));
    }
    raise_limit(plan, own, given);
    Ok(UserCount { users: given, limit: UserLimit::Given })
}

/// Expected duration of an operation.
fn expected(plan: &LoadPlan) -> Duration {
    let args = &plan.args;
    // A session polls until its verdict is ready. Of a foreign service only the longest time is known.
    let until_verdict = match (plan.needs.verdicts, &args.base_url) {
        (false, _) => Duration::ZERO,
        (true, None) => args.verdict_after,
        (true, Some(_)) => args.give_up / 2,
    };
    args.expect.unwrap_or(until_verdict) + plan.faults.slow
}

fn why(most: UserCount, open_files: u64) -> Option<String> {
    match most.limit {
        UserLimit::EmbeddedEdge => Some(format!("the embedded edge has at most {} connections", most.users)),
        UserLimit::OpenFiles => {
            Some(format!("the limit on open files is {open_files}; raise it with ulimit -n"))
        }
        UserLimit::Plan | UserLimit::Given => None,
    }
}

fn most_users_by_edge(plan: &LoadPlan, own: OwnParts) -> UserCount {
    let limit = UserLimit::EmbeddedEdge;
    if !own.edge {
        return UserCount { users: u32::MAX, limit };
    }
    let all: usize = plan.parts.iter().map(|(_, weight)| weight).sum();
    let through: usize =
        plan.parts.iter().filter(|(name, _)| name.uses_edge()).map(|(_, weight)| weight).sum();
    let connections = Limits::default().connections as u32 - OTHER_CONNECTIONS;
    UserCount { users: (f64::from(connections) * all as f64 / through.max(1) as f64) as u32, limit }
}

/// Most users with the highest limit on open files that the system allows, and that limit.
fn most_users_by_files(plan: &LoadPlan, own: OwnParts) -> (UserCount, u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let limit = maximum.or(current).unwrap_or(u64::MAX);
    let most = limit.saturating_sub(OTHER_FILES) as f64 / files_per_user(plan, own);
    (UserCount { users: most as u32, limit: UserLimit::OpenFiles }, limit)
}

/// Files that this number of users needs at most.
fn files(plan: &LoadPlan, own: OwnParts, users: u32) -> u64 {
    (f64::from(users) * files_per_user(plan, own)).ceil() as u64 + OTHER_FILES
}

/// Open files of a user at most, on average over the scenarios. Where both ends of a connection are in this
/// process, it takes two files.
fn files_per_user(plan: &LoadPlan, own: OwnParts) -> f64 {
    let to_service = if own.service { 2 } else { 1 };
    // The edge may have as many connections to the service as users have to the edge.
    let to_edge = match (own.edge, own.service) {
        (true, _) => 4,
        (false, true) => 2,
        (false, false) => 1,
    };
    let of = |name: &ScenarioName| match name {
        ScenarioName::EdgeRelay => to_edge,
        ScenarioName::VerdictPolling => to_service,
        ScenarioName::Journey => to_edge + to_service,
    };
    let all: usize = plan.parts.iter().map(|(_, weight)| weight).sum();
    let files: usize = plan.parts.iter().map(|(name, weight)| weight * of(name)).sum();
    files as f64 / all.max(1) as f64
}

fn raise_limit(plan: &LoadPlan, own: OwnParts, users: u32) {
    // If it fails, so do connections, and the report names the limit.
    raise_open_files(files(plan, own, users).max(COMMON_LIMIT));
}

fn note(text: &str) {
    // A closed standard error is no error.
    let _ = writeln!(std::io::stderr(), "  {text}");
}

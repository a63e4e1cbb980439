use std::io::Write;
use std::time::Duration;

use edgeproof_cli::Failure;
use edgeproof_http::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::load_plan::LoadPlan;
use crate::plan::{Rate, UserCount, UserLimit, plan_users};

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
    let (most_by_files, limit) = most_users_by_files(plan, own);
    let most_by_edge = most_users_by_edge(plan, own);
    let Some(given) = plan.args.users else {
        let peak = plan
            .stages
            .as_ref()
            .map_or(Rate::default(), |stages| stages.peak().times(1.0 / f64::from(plan.shard.count())));
        let most = most_by_files.min(most_by_edge);
        let users = plan_users(peak, expected(plan), most);
        let users = UserCount { users: users.users.max(scenarios), ..users };
        if users.limit == UserLimit::OpenFiles && !plan.args.output.quiet {
            note(&format!(
                "{} users, fewer than the rate may need: {}",
                users.users,
                why(most_by_edge, most, limit)
            ));
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
    if given > most_by_edge {
        return Err(Failure::usage(
            format!(
                "cannot load the embedded edge with {given} users: its limit is {most_by_edge} connections"
            ),
            "give fewer --users, or use another edge with --launch or --edge-url",
        ));
    }
    if given > most_by_files {
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

fn why(most_by_edge: u32, most: u32, limit: u64) -> String {
    if most == most_by_edge {
        return format!("the embedded edge has at most {most_by_edge} connections");
    }
    format!("the limit on open files is {limit}; raise it with ulimit -n")
}

fn most_users_by_edge(plan: &LoadPlan, own: OwnParts) -> u32 {
    if !own.edge {
        return u32::MAX;
    }
    let all: usize = plan.parts.iter().map(|(_, weight)| weight).sum();
    let uses_edge = |name: &str| name != "verdict-polling";
    let through: usize =
        plan.parts.iter().filter(|(name, _)| uses_edge(name)).map(|(_, weight)| weight).sum();
    let connections = Limits::default().connections as u32 - OTHER_CONNECTIONS;
    (f64::from(connections) * all as f64 / through.max(1) as f64) as u32
}

/// Most users with the highest limit on open files that the system allows, and that limit.
fn most_users_by_files(plan: &LoadPlan, own: OwnParts) -> (u32, u64) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let limit = maximum.or(current).unwrap_or(u64::MAX);
    let most = limit.saturating_sub(OTHER_FILES) as f64 / files_per_user(plan, own);
    (most as u32, limit)
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
    let of = |name: &str| match name {
        "edge-relay" => to_edge,
        "verdict-polling" => to_service,
        _ => to_edge + to_service,
    };
    let all: usize = plan.parts.iter().map(|(_, weight)| weight).sum();
    let files: usize = plan.parts.iter().map(|(name, weight)| weight * of(name)).sum();
    files as f64 / all.max(1) as f64
}

fn raise_limit(plan: &LoadPlan, own: OwnParts, users: u32) {
    let needed = files(plan, own, users);
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < needed) {
        let asked = needed.max(COMMON_LIMIT);
        let raised = Rlimit { current: Some(maximum.map_or(asked, |maximum| maximum.min(asked))), maximum };
        // If it fails, so do connections, and the report names the limit.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

fn note(text: &str) {
    // A closed standard error is no error.
    let _ = writeln!(std::io::stderr(), "  {text}");
}

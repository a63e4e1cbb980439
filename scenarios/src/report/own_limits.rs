use edgeproof_reports::load::{KEPT_UP, LoadReport, Rates};

use crate::engine::RunData;
use crate::measure::{RequestFailure, RequestOutcome, UserWaits};
use crate::plan::{UserCount, UserLimit};

/// Limits of the generator that the run reached. Its figures would charge them to the target.
pub(super) fn own_limits(report: &LoadReport, data: &RunData) -> Vec<String> {
    let no_socket = RequestOutcome::Failed(RequestFailure::NoSocket);
    let series = data.recorded.measurements.series.iter().filter(|series| series.outcome == no_socket);
    let failed: u64 = series.map(|series| series.observed.count()).sum();
    let sockets = (failed > 0).then(|| {
        format!(
            "the generator had no free file or port for {failed} requests; raise the limit on open files (ulimit -n) or \
             the range of local ports, or give fewer --users"
        )
    });
    let users =
        if report.rate.kept_up() { None } else { limited_by_users(data.users, data.waited, data.released) };
    sockets.into_iter().chain(users).collect()
}

/// How to count requests whose operations waited for a user: a target that does not keep up holds all users up.
pub(super) fn user_waits(rate: &Rates, data: &RunData) -> UserWaits {
    if rate.kept_up() || !ran_out(data.waited, data.released) {
        UserWaits::LeftOut
    } else {
        UserWaits::LowerBound
    }
}

/// Whether too many operations waited for a user.
fn ran_out(waited: u64, released: u64) -> bool {
    waited as f64 > released as f64 * (1.0 - KEPT_UP)
}

/// The finding that the number of users limited the run, unless the plan had enough of them.
fn limited_by_users(users: UserCount, waited: u64, released: u64) -> Option<String> {
    if !ran_out(waited, released) {
        return None;
    }
    let (by, advice) = match users.limit {
        UserLimit::Plan => return None,
        UserLimit::Given => ("--users", "raise --users, or omit it"),
        UserLimit::EmbeddedEdge => {
            ("the connections of the embedded edge", "lower the rate, or use another edge")
        }
        UserLimit::OpenFiles => ("the limit on open files", "raise it (ulimit -n), or lower the rate"),
    };
    Some(format!(
        "limited by {by}: {waited} of {released} operations waited for one of {} users; {advice}",
        users.users
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::given(UserLimit::Given, 500, Some("limited by --users: 500 of 1000"))]
    #[case::embedded_edge(
        UserLimit::EmbeddedEdge,
        500,
        Some("limited by the connections of the embedded edge")
    )]
    #[case::open_files(UserLimit::OpenFiles, 500, Some("limited by the limit on open files"))]
    #[case::few_waited(UserLimit::Given, 10, None)]
    #[case::enough_users(UserLimit::Plan, 500, None)]
    fn own_number_of_users_is_not_the_targets_fault(
        #[case] limit: UserLimit,
        #[case] waited: u64,
        #[case] expected: Option<&str>,
    ) {
        let found = limited_by_users(UserCount { users: 8, limit }, waited, 1000);
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.unwrap_or_default().contains(expected.unwrap_or_default()));
    }
}

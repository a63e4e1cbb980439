use std::net::SocketAddr;
use std::time::Duration;

use super::amounts::Rate;

/// Number of users of a run, and what limits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserCount {
    /// Number of users.
    pub users: u32,
    /// What limits the number.
    pub limit: UserLimit,
}

/// What limits the number of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserLimit {
    /// The plan: enough users for the highest rate.
    Plan,
    /// The user: `--users`.
    Given,
    /// The limit on open files, which allows fewer users than the plan needs.
    OpenFiles,
    /// The connections of the embedded edge, which are fewer than the plan needs.
    EmbeddedEdge,
}

/// Smallest default. Idle users cost little.
const MIN_DEFAULT: u32 = 64;
/// Largest number of users.
pub const MAX_USERS: u32 = 100_000;
/// The default number of users suffices while operations take this long, at the highest rate.
const COVERED: Duration = Duration::from_secs(2);

/// The number of users for a rate: enough for the arrivals of two seconds, or of twice the expected duration
/// of an operation, and at most `most`.
pub fn plan_users(peak: Rate, expected: Duration, most: UserCount) -> UserCount {
    let covered = (expected * 2).max(COVERED);
    let needed = (peak.value() * covered.as_secs_f64()).ceil().clamp(0.0, 1e9) as u32;
    let needed = needed.clamp(MIN_DEFAULT, MAX_USERS);
    if needed <= most.users {
        return UserCount { users: needed, limit: UserLimit::Plan };
    }
    UserCount { users: most.users.max(1), ..most }
}

/// Whether this host may be loaded: it is this machine, or in `allowed`.
pub fn may_load(host: &str, addresses: &[SocketAddr], allowed: &[String]) -> bool {
    let is_local = |address: &SocketAddr| address.ip().to_canonical().is_loopback();
    let bare = |text: &str| text.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
    !addresses.is_empty() && addresses.iter().all(is_local)
        || allowed.iter().any(|allowed| bare(allowed) == bare(host))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::low_rate(1.0, 0, 10_000, 64, UserLimit::Plan)]
    #[case::two_seconds(500.0, 0, 10_000, 1000, UserLimit::Plan)]
    #[case::two_seconds_at_least(500.0, 300, 10_000, 1000, UserLimit::Plan)]
    #[case::long_operations(500.0, 3000, 10_000, 3000, UserLimit::Plan)]
    #[case::few_open_files(500.0, 0, 300, 300, UserLimit::OpenFiles)]
    #[case::very_high_rate(1e6, 0, 1_000_000, 100_000, UserLimit::Plan)]
    fn default_covers_two_seconds_of_the_highest_rate(
        #[case] rate: f64,
        #[case] ms: u64,
        #[case] most: u32,
        #[case] users: u32,
        #[case] limit: UserLimit,
    ) {
        let rate = Rate::per_second(rate).unwrap();
        let most = UserCount { users: most, limit: UserLimit::OpenFiles };
        let planned = plan_users(rate, Duration::from_millis(ms), most);
        assert_eq!(planned, UserCount { users, limit });
    }

    #[rstest]
    #[case("127.0.0.1", "127.0.0.1:80", &[], true)]
    #[case("localhost", "[::1]:80", &[], true)]
    #[case("localhost", "[::ffff:127.0.0.1]:80", &[], true)]
    #[case("edge.example", "192.0.2.1:443", &[], false)]
    #[case("localhost", "192.0.2.1:443", &[], false)]
    #[case("edge.example", "192.0.2.1:443", &["Edge.Example"], true)]
    #[case("edge.example", "192.0.2.1:443", &["other.example"], false)]
    fn remote_host_needs_permission(
        #[case] host: &str,
        #[case] address: &str,
        #[case] allowed: &[&str],
        #[case] passes: bool,
    ) {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        assert_eq!(may_load(host, &[address.parse().unwrap()], &allowed), passes);
    }

    #[test]
    fn host_without_address_is_remote() {
        assert!(!may_load("localhost", &[], &[]));
    }
}

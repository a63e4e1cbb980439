//! Limits of the generator itself, which are never reported as the target's.

use crate::support::{Cases, MACHINE, ProgramCall};
use edgeproof_reports::load::LoadState;

#[test]
fn own_limits_are_not_reported_as_the_targets() {
    let _shared = MACHINE.blocking_read();
    Cases::default()
        .case("few open files", few_open_files_lower_the_default_number_of_users)
        .case("too few open files", more_users_than_open_files_exit_2)
        .case("too few users", too_few_given_users_make_the_run_invalid)
        .case("slow service", || slow_service_does_not_exhaust_the_users(None))
        .case("slow service as expected", || slow_service_does_not_exhaust_the_users(Some("200ms")))
        .play();
}

fn few_open_files_lower_the_default_number_of_users() {
    let line = "verdict-polling --rate 200 --duration 1s --warm-up 0s --unchecked --verdict-after 10ms --threshold 'delivered>0%'";
    let run = ProgramCall::with_open_files(320, line).output();
    assert_eq!(run.code, Some(0), "{run}");
    let warning = "32 users, fewer than the rate may need: the limit on open files is 320";
    assert!(run.stderr.contains(warning), "{run}");
}

fn more_users_than_open_files_exit_2() {
    let run = ProgramCall::with_open_files(320, "verdict-polling --users 100").output();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("cannot open 456 files: the limit is 320"), "{run}");
}

fn too_few_given_users_make_the_run_invalid() {
    let line = "edge-relay --rate 100 --users 2 --service-slow 100ms --duration 1s --warm-up 0s --quiet";
    let report = ProgramCall::new(line).run().ended(3);
    assert_eq!((report.state, report.plan.users), (LoadState::Invalid, 2));
    let named = |finding: &String| finding.contains("limited by --users");
    assert!(report.findings.iter().any(named), "{:?}", report.findings);
}

/// The pool of connections must not queue what the service takes at once.
fn slow_service_does_not_exhaust_the_users(expect: Option<&str>) {
    let line = "edge-relay --rate 100 --service-slow 200ms --duration 1s --warm-up 0s --unchecked --quiet";
    let mut call = ProgramCall::new(line);
    if let Some(expect) = expect {
        call = call.arg("--expect", expect);
    }
    let report = call.run().ended(0);
    assert_eq!((report.waiting.figures.max_us, report.errors()), (0, 0));
    assert_eq!(report.response.figures.count, 100);
}

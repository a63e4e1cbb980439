//! The command `self-test`: its checks, and that its processes end with it.

use rstest::rstest;

use crate::support::{MACHINE, ProgramCall, until};

#[test]
fn list_names_each_check_once() {
    let run = ProgramCall::new("self-test --list --rates 5").output();
    assert_eq!(run.code, Some(0), "{run}");
    let names: Vec<&str> = run.stdout.lines().filter_map(|line| line.split(' ').next()).collect();
    let distinct: std::collections::HashSet<&str> = names.iter().copied().collect();
    assert_eq!(distinct.len(), names.len(), "{run}");
    for name in ["drifting", "stall-and-timeout", "pinned-1000", "nice", "cgroup", "rate-5"] {
        assert!(distinct.contains(name), "{name} is not in {run}");
    }
}

#[rstest]
#[case("self-test --filter no-such-check", "list the checks with --list")]
#[case("self-test --rates 0", "above 0")]
#[case("self-test serve nonsense", "cannot read the behaviour")]
fn wrong_command_exits_2(#[case] line: &str, #[case] expected: &str) {
    let run = ProgramCall::new(line).output();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains(expected), "{run}");
}

pub(super) fn chosen_check_has_a_row_and_is_counted() {
    let run = ProgramCall::new("self-test --filter slow-answers").output();
    let row = run.stdout.lines().find(|line| line.contains("slow-answers")).unwrap();
    // p50 by the generator and by the server. All answers take 550 ms.
    let mut words = row.split_whitespace().skip_while(|word| word.parse::<u32>().is_err());
    let p50 = (words.next().unwrap(), words.next(), words.next().unwrap());
    let times = [p50.0, p50.2].map(|ms| ms.parse::<u32>().unwrap());
    assert!(p50.1 == Some("/") && times.iter().all(|ms| (550..1100).contains(ms)), "{run}");
    assert!(run.stdout.lines().last().unwrap().contains(" shown, "), "{run}");
    let code = run.code.unwrap();
    assert!([0, 1, 3].contains(&code), "{run}");
}

#[cfg(target_os = "linux")]
#[rstest]
#[case::terminated(rustix::process::Signal::TERM, Some(143))]
#[case::interrupted(rustix::process::Signal::INT, Some(130))]
#[case::killed(rustix::process::Signal::KILL, None)]
fn signal_ends_the_processes_of_the_self_test(
    #[case] signal: rustix::process::Signal,
    #[case] code: Option<i32>,
) {
    // The self-test starves the machine.
    let _alone = MACHINE.blocking_write();
    let program = ProgramCall::new("self-test --filter crowded-1000 --duration 1h").start_without_report();
    let pid = program.pid().as_raw_pid() as u32;
    // A server, a generator and at least two busy processes.
    let children = until("processes of the self-test", || {
        let children = children(pid);
        if children.len() >= 4 { Ok(children) } else { Err(children) }
    });
    program.signal(signal);
    let run = program.wait();
    assert_eq!(run.code, code, "{run}");
    until("end of all processes", || {
        let running: Vec<_> = children.iter().filter(|child| is_running(**child)).collect();
        if running.is_empty() { Ok(()) } else { Err(running) }
    });
}

/// The processes that this process has started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| status(*pid).is_some_and(|(_, of)| of == parent)).collect()
}

#[cfg(target_os = "linux")]
fn is_running(pid: u32) -> bool {
    // Nobody may wait for a process whose parent was killed.
    status(pid).is_some_and(|(state, _)| state != "Z" && state != "X")
}

/// State and parent of a process; `None` after its end.
#[cfg(target_os = "linux")]
fn status(pid: u32) -> Option<(String, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = text.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
}

//! Hostile edges, launched by the program.

use edgeproof_reports::Outcome;
use rstest::rstest;

use crate::harmless;
use crate::hostility::{QUICK, SLOW};
use crate::program::{BROOD, command, deaf};
use crate::watched::{Ran, alive, bounded};

/// Cases that a hostile edge meets after it served the first collections.
const CASES: [&str; 6] =
    ["--filter", "accept.exact-body", "--filter", "cors.readable.409", "--filter", "method.put"];
const LIMITS: [&str; 5] = ["--case-timeout", "4s", "--color", "never", "--verbose"];

fn against(name: &str, launch: &str, more: &[&str]) -> Ran {
    bounded(&format!("edge {name}"), &[&["--launch", launch], &CASES[..], &LIMITS[..], more].concat())
}

/// What is told of an answer, in part.
fn told(hostility: &str) -> &'static str {
    match hostility {
        "endless-headers" => "head longer than 65536 bytes",
        "endless-header" => "65536 bytes",
        "gigabyte" | "announces-gigabyte" | "chunk-past-2-64" => "4194304 bytes",
        "garbage" | "invalid-utf8" => "no HTTP answer",
        "endless-interim" | "endless-trailers" => "more than 256 interim answers or trailer lines",
        "drips" | "mute" | "deaf-mute" => "no answer within 2s",
        "endless-chunks" => "",
        "invalid-utf8-body" | "deep" | "many-members" | "markup" => "409",
        other => panic!("no such hostility: {other}"),
    }
}

fn blamed(hostility: &str) {
    let ran = against(hostility, &command(hostility, ""), &[]);
    assert_eq!(ran.code(), Some(1), "{hostility}: {}", ran.out());
    let report = harmless::check(&ran);
    for case in &report.cases {
        assert_eq!(case.outcome, Outcome::Fail, "{hostility}: {}: {}", case.id, case.because);
    }
    // On a busy machine one of the first collections may be late, and another case be served in its place.
    let all: Vec<_> = report.cases.iter().map(|case| case.because.as_str()).collect();
    assert!(all.iter().any(|because| because.contains(told(hostility))), "{hostility}: {all:?}");
}

#[test]
fn the_run_ends_and_blames_the_edge() {
    QUICK.into_iter().for_each(blamed);
}

#[test]
fn the_run_ends_though_the_edge_does_not() {
    std::thread::scope(|scope| {
        for hostility in SLOW {
            scope.spawn(move || blamed(hostility));
        }
    });
}

/// What it says once it does not say the next time.
#[test]
fn an_edge_that_changes_its_mind_is_found_out() {
    let ran = against("fickle", &command("fickle", ""), &["--repeat", "3"]);
    assert_eq!(ran.code(), Some(1));
    harmless::check(&ran);
}

/// It keeps the interface, and is a nuisance besides.
#[rstest]
#[case("forks")]
#[case("fills-stdout")]
#[case("fills-a-line")]
fn nothing_is_left_of_an_edge_that_conforms(#[case] hostility: &str) {
    let brood = format!("{BROOD}={hostility}-{}", std::process::id());
    let ran = against(hostility, &deaf(hostility, &brood), &[]);
    assert_eq!(ran.code(), Some(0), "{}", ran.out());
    harmless::check(&ran);
    assert_eq!(alive(&brood), [] as [String; 0]);
}

/// Whether it hangs or the machine is slow cannot be told: nothing is proven, and nobody blamed.
#[test]
fn an_edge_that_is_silent_with_some_settings_is_not_proven() {
    let edge = command("calls", "");
    let launch = format!("sh -c '[ -n \"$LICENSE\" ] || exec sleep 1000; exec {edge}'");
    let cases = ["--filter", "accept.exact-body", "--filter", "credentials.end-to-end.without-license"];
    let args = [&["--launch", &launch, "--ready-timeout", "5s"], &cases[..]].concat();
    let ran = bounded("edge silent with some settings", &args);
    assert_eq!(ran.code(), Some(3), "{}", ran.out());
    let report = harmless::check(&ran);
    let outcomes: Vec<_> = report.cases.iter().map(|case| case.outcome).collect();
    assert_eq!(outcomes, [Outcome::Pass, Outcome::NotRun]);
    assert!(report.cases[1].because.contains("--ready-timeout"), "{}", report.cases[1].because);
}

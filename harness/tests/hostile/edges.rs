//! Hostile edges, launched by the program.

use std::time::Duration;

use reports::Outcome;
use rstest::rstest;

use crate::harmless;
use crate::program::{BROOD, command, deaf};
use crate::watched::{Ran, alive, run};

/// The longest that a run of the few cases below may take, also on a machine that is busy with other tests.
const LONGEST: Duration = Duration::from_secs(60);
/// The most memory that it may take, in MiB; a run of all cases against a right edge takes a good half of it.
const MOST: u64 = 200;

/// Cases that a hostile edge meets after it served the first collections.
const CASES: [&str; 6] =
    ["--filter", "accept.exact-body", "--filter", "cors.readable.409", "--filter", "method.put"];
const LIMITS: [&str; 6] = ["--case-timeout", "4s", "--color", "never", "--github", "--verbose"];

fn against(name: &str, launch: &str, more: &[&str]) -> Ran {
    let ran = run(&[&["--launch", launch], &CASES[..], &LIMITS[..], more].concat());
    println!("{name:20} {:5.1} s  peak {:3} MiB", ran.took.as_secs_f32(), ran.peak);
    assert!(ran.took < LONGEST, "{:?}", ran.took);
    assert!(ran.peak < MOST, "{} MiB", ran.peak);
    ran
}

#[rstest]
#[case("endless-headers", "head longer than 65536 bytes")]
#[case("endless-header", "65536 bytes")]
#[case("endless-interim", "no answer within 2s")]
#[case("endless-chunks", "got")]
#[case("endless-trailers", "")]
#[case("gigabyte", "4194304 bytes")]
#[case("announces-gigabyte", "4194304 bytes")]
#[case("chunk-past-2-64", "4194304 bytes")]
#[case("drips", "no answer within 2s")]
#[case("mute", "no answer within 2s")]
#[case("garbage", "no HTTP answer")]
#[case("invalid-utf8", "no HTTP answer")]
#[case("invalid-utf8-body", "409")]
#[case("deep", "409")]
#[case("many-members", "409")]
#[case("markup", "409")]
fn the_run_ends_and_blames_the_edge(#[case] hostility: &str, #[case] told: &str) {
    let ran = against(hostility, &command(hostility, ""), &[]);
    assert_eq!(ran.output.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.output.stdout));
    let report = harmless::check(&ran);
    for case in &report.cases {
        assert_eq!(case.outcome, Outcome::Fail, "{}: {}", case.id, case.because);
    }
    let accept = report.cases.iter().find(|case| case.id == "accept.exact-body").unwrap();
    assert!(accept.because.contains(told), "{}", accept.because);
}

/// What it says once it does not say the next time.
#[test]
fn an_edge_that_changes_its_mind_is_found_out() {
    let ran = against("fickle", &command("fickle", ""), &["--repeat", "3"]);
    assert_eq!(ran.output.status.code(), Some(1));
    harmless::check(&ran);
}

/// It keeps the interface, and is a nuisance besides.
#[rstest]
#[case("forks")]
#[case("fills-stdout")]
fn nothing_is_left_of_an_edge_that_conforms(#[case] hostility: &str) {
    let brood = format!("{BROOD}={hostility}-{}", std::process::id());
    let ran = against(hostility, &deaf(hostility, &brood), &[]);
    assert_eq!(ran.output.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.output.stdout));
    harmless::check(&ran);
    assert_eq!(alive(&brood), [] as [String; 0]);
}

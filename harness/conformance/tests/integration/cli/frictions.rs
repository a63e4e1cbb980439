//! What a new user types first, and what the program answers.

use rstest::rstest;

use super::support::{Folder, check};

#[rstest]
#[case::launch_without_quotes(&["conformance", "--launch", "node", "edge.mjs"])]
#[case::launch_with_an_option(&["conformance", "--launch", "python3", "-m", "edge"])]
#[case::part_with_a_typo(&["conformance", "servcie"])]
#[case::row_as_filter(&["conformance", "--filter", "relay.401.bad-footer"])]
#[case::row_of_another_part_as_filter(&["conformance", "keys", "--filter", "relay.401.bad-footer"])]
#[case::row_with_many_cases_as_filter(&["conformance", "--exclude", "edge.502.service-unreachable"])]
#[case::cause_as_filter(&["conformance", "--filter", "malformed-http"])]
#[case::row_to_serve(&["serve", "relay.401.bad-footer"])]
#[case::cause_to_serve(&["serve", "malformed-http"])]
#[case::part_of_the_cases(&["conformance", "--filter", "accept.exact-body"])]
#[case::listen_address_without_port(&["mock", "--listen", "localhost"])]
fn first_try(#[case] args: &[&str]) {
    let name = args.join("_").replace(['-', '.'], "_").replace("__", "_");
    check(&format!("first_try_{name}"), &Folder::new().seen(args));
}

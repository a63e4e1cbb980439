//! The program as users call it.

mod clocks;
mod documented;
mod exit_codes;
mod gather;
mod outputs;
mod own_limits;
mod partial;
mod project;
mod self_test;
mod shards;
mod targets;

use crate::support::{Cases, MACHINE, block_on};

/// A short run of 40 operations, at a rate that a busy machine can serve.
const SHORT: &str = "--rate 80 --duration 500ms --warm-up 100ms --unchecked";

#[test]
fn long_runs_are_judged_and_end_with_their_results() {
    let _shared = MACHINE.blocking_read();
    Cases::default()
        .case("shards", shards::shards_add_up_to_the_whole_run)
        .case("self-test", self_test::chosen_check_has_a_row_and_is_counted)
        .case("target stops", || block_on(partial::target_that_stops_leaves_a_partial_result()))
        .case("signal", || block_on(partial::signal_leaves_a_partial_result()))
        .case("second ctrl-c", || block_on(partial::second_ctrl_c_exits_130()))
        .play();
}

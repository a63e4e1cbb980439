//! What the mock service costs, beside a bare hyper server that answers a constant: the same client, one core for the
//! server and one for the client, in turns. A benchmark, not a test: `just bench`.
//!
//! The servers run as processes of their own, this program again, so that their CPU and memory are theirs alone.
#![expect(clippy::print_stdout, reason = "a program that prints what it measured")]
#![cfg_attr(
    target_os = "linux",
    expect(clippy::unwrap_used, reason = "what a benchmark cannot have ends it")
)]

#[cfg(target_os = "linux")]
mod measure;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    measure::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this is measured on Linux, where the system tells what another process takes");
}

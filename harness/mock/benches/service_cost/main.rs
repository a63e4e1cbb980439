//! Cost of the mock service, compared with a bare hyper server that answers a constant. Both serve the same client in
//! turns, with one core for the server's thread and one for the client's. A benchmark, not a test: `just bench`. The
//! argument `polls` or `requests` measures only these.
#![expect(clippy::print_stdout, reason = "the program prints its measurements")]
#![cfg_attr(target_os = "linux", expect(clippy::unwrap_used, reason = "a failed setup ends the benchmark"))]

#[cfg(target_os = "linux")]
mod measure;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    measure::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this benchmark needs Linux: it pins threads to cores and reads its memory from /proc");
}

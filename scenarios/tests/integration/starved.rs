//! Runs whose generator does not get the CPU that it needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rstest::rstest;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use edgeproof_load::service::ServerBehaviour;

use crate::limits::LimitsRun;
use crate::support::{MACHINE, RunningProgram};

/// Threads that use their CPUs until this value is dropped.
struct BusyLoops {
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyLoops {
    /// One for each of these sets of CPUs. Returns when all of them run.
    fn start(places: Vec<CpuSet>) -> Self {
        let ends: Arc<AtomicBool> = Arc::default();
        let (runs, running) = std::sync::mpsc::channel();
        let start = |cpus: CpuSet| {
            let (ends, runs) = (Arc::clone(&ends), runs.clone());
            thread::spawn(move || {
                sched_setaffinity(None, &cpus).unwrap();
                runs.send(()).unwrap();
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads: Vec<_> = places.into_iter().map(start).collect();
        running.iter().take(threads.len()).for_each(drop);
        Self { ends, threads }
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}

/// The first and the last CPU of this process.
fn cpus() -> (CpuSet, usize, usize) {
    let all = sched_getaffinity(None).unwrap();
    let mut cpus = (0..CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
    let first = cpus.next().unwrap();
    (all, first, cpus.next_back().unwrap_or(first))
}

/// Waits until the program starts its users.
fn wait_for_users(program: &mut RunningProgram) {
    program.stderr.line_with("Prometheus");
}

/// Runs the generator beside two busy loops on its only CPU; the server has another one.
fn pinned(line: &str) -> LimitsRun {
    let (all, first, last) = cpus();
    // The threads of the server inherit the CPU.
    sched_setaffinity(None, &only(first)).unwrap();
    let run = LimitsRun::play(&ServerBehaviour::default(), line, |program: &mut RunningProgram| {
        // The program starts its threads later.
        sched_setaffinity(Some(program.pid()), &only(last)).unwrap();
        wait_for_users(program);
        BusyLoops::start(vec![only(last); 2])
    });
    sched_setaffinity(None, &all).unwrap();
    run
}

/// Runs the generator beside two busy loops for each CPU.
fn crowded(line: &str) -> LimitsRun {
    let (all, ..) = cpus();
    LimitsRun::play(&ServerBehaviour::default(), line, |program: &mut RunningProgram| {
        wait_for_users(program);
        BusyLoops::start(vec![all; 2 * all.count() as usize])
    })
}

#[rstest]
fn starved_run_is_right_or_invalid(
    #[values((1000, 1000), (10_000, 300), (30_000, 100))] (rate, ms): (u32, u32),
    #[values(pinned, crowded)] run: fn(&str) -> LimitsRun,
) {
    let _alone = MACHINE.blocking_write();
    // A user for each operation, or as many as can open files.
    let files = getrlimit(Resource::Nofile).maximum.map_or(u32::MAX, |most| most as u32);
    let users = (rate * ms / 1000).min(files.saturating_sub(300));
    let line = format!(
        "edge-relay --edge-url {{url}} --rate {rate} --duration {ms}ms --warm-up 0s --drain 500ms --users {users} \
         --prometheus 127.0.0.1:0"
    );
    let run = run(&line);
    if run.is_invalid() {
        assert_eq!(run.code, 3, "{}", run.text);
        return;
    }
    // The server answers whatever arrives.
    assert_eq!(run.report.ledger.dropped, 0, "{}", run.text);
    assert_eq!(run.contradictions(&run.truth()), Vec::<String>::new(), "{}", run.text);
}

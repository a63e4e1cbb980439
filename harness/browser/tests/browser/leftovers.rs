//! What is left of a browser: no process and no file. Reads /proc, so it is for Linux.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use edgeproof_browser::{BrowserError, CallOutcome, Chromium, ChromiumOptions, PageOptions};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::timeout;

use super::support::{LIMIT, Site, launch, run};

/// Process ids with the folder of a browser in their command lines or environments.
fn processes(folder: &Path) -> Vec<u32> {
    let name = folder.as_os_str().as_encoded_bytes();
    let has = |file: PathBuf| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes.windows(name.len()).any(|window| window == name)
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            has(format!("/proc/{pid}/cmdline").into()) || has(format!("/proc/{pid}/environ").into())
        })
        .collect()
}

async fn browser_with_page(site: &Site) -> (Chromium, PathBuf) {
    let browser = launch().await;
    let folder = browser.folder().to_owned();
    let page = browser.open(PageOptions::new(site.url("/"))).await.unwrap();
    page.evaluate("localStorage.a = 1").await.unwrap();
    drop(page);
    assert!(processes(&folder).len() > 2, "{:?}", processes(&folder));
    (browser, folder)
}

fn assert_gone(folder: &Path) {
    assert_eq!(processes(folder), Vec::<u32>::new());
    assert!(!folder.exists(), "{}", folder.display());
}

#[test]
fn closed_browser_leaves_no_process_and_no_file() {
    run(async {
        let site = Site::with_module("").await;
        let (browser, folder) = browser_with_page(&site).await;
        assert!(browser.version().contains("Chrom"), "{}", browser.version());
        browser.close().await;
        assert_gone(&folder);
    });
}

#[test]
fn dropped_browser_leaves_no_process_and_no_file() {
    run(async {
        let site = Site::with_module("").await;
        let (browser, folder) = browser_with_page(&site).await;
        drop(browser);
        assert_gone(&folder);
    });
}

#[test]
fn browser_of_a_task_that_panics_leaves_no_process_and_no_file() {
    run(async {
        let site = Site::with_module("").await;
        let (browser, folder) = browser_with_page(&site).await;
        let task = tokio::spawn(async move {
            let _browser = browser;
            panic!("as intended");
        });
        assert!(task.await.is_err());
        assert_gone(&folder);
    });
}

#[test]
fn cancelled_launch_leaves_no_process_and_no_file() {
    run(async {
        let own = tempfile::tempdir().unwrap();
        let (slow, started) = (own.path().join("slow"), own.path().join("started"));
        assert!(std::process::Command::new("mkfifo").arg(&started).status().unwrap().success());
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >'{}'\nexec sleep 1000\n", started.display());
        fs::write(&slow, text).unwrap();
        fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
        let options = ChromiumOptions { executable: Some(slow), ..ChromiumOptions::default() };
        let arguments = tokio::select! {
            launched = Chromium::launch(options) => panic!("{launched:?}"),
            arguments = timeout(LIMIT, tokio::fs::read_to_string(&started)) => arguments.unwrap().unwrap(),
        };
        let profile = arguments.lines().find_map(|line| line.strip_prefix("--user-data-dir=")).unwrap();
        assert_gone(Path::new(profile).parent().unwrap());
    });
}

#[test]
fn killed_browser_ends_its_pages_and_is_an_error() {
    run(async {
        let site = Site::with_module("").await;
        let browser = launch().await;
        let page = browser.open(PageOptions::new(site.url("/"))).await.unwrap();
        let loading = page.begin(edgeproof_browser::CollectorCall::Load {
            module_url: "data:text/javascript,await new Promise(() => {})".into(),
        });
        let shell = Pid::from_raw(i32::try_from(browser.pid()).unwrap()).unwrap();
        kill_process_group(shell, Signal::KILL).unwrap();
        let outcome = timeout(LIMIT, loading).await.unwrap();
        assert!(matches!(&outcome, CallOutcome::PageGone { why } if why.contains("ended")), "{outcome:?}");
        let error = browser.open(PageOptions::new(site.url("/"))).await.unwrap_err();
        assert!(matches!(error, BrowserError::Ended { .. }), "{error}");
        let folder = browser.folder().to_owned();
        browser.close().await;
        assert_gone(&folder);
    });
}

#[test]
fn killed_program_leaves_no_browser_and_no_profile() {
    run(async {
        let mut program = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "leftovers::killed_program_of_other_tests", "--ignored", "--nocapture"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let folder = loop {
            let line = timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
            let line = line.expect("the program prints its folder");
            if let Some((_, folder)) = line.split_once("folder: ") {
                break PathBuf::from(folder);
            }
        };
        let handles: Vec<_> = processes(&folder)
            .into_iter()
            .filter_map(|pid| {
                pidfd_open(Pid::from_raw(i32::try_from(pid).unwrap())?, PidfdFlags::empty()).ok()
            })
            .collect();
        assert!(handles.len() > 2);
        program.kill().await.unwrap();
        for handle in handles {
            // Readable when the process has ended.
            let mut ended = [PollFd::new(&handle, PollFlags::IN)];
            assert_eq!(poll(&mut ended, Some(&Timespec { tv_sec: 30, tv_nsec: 0 })), Ok(1));
        }
        assert_gone(&folder);
    });
}

/// Not a test: the program of the test above.
#[test]
#[ignore = "a program that other tests start"]
fn killed_program_of_other_tests() {
    run(async {
        let browser = launch().await;
        println!("folder: {}", browser.folder().display());
        std::future::pending::<()>().await;
    });
}

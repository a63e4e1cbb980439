//! An edge that gives everything away: nothing of it reaches a report.

use std::fs;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use edgeproof::cases::{self, Catalog};
use edgeproof::run::{
    Capabilities, EdgePool, EdgePoolOptions, EdgeUpstream, Pins, Plan, RunOptions, RunPolicy, Selection,
    Tally, run,
};
use edgeproof::target::Target;
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, LicenseForm, MintOptions, Redactor};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_launch::{CommandLine, Launch};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{
    Event, FileReport, Format, Github, Outcome, Reader, Terminal, TerminalOptions, Titles,
};

use crate::program::command;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_report_shows_a_credential_of_the_run() {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let profile = spec.profile().clone();
    let shape = ReplyShape::from_profile(&profile);
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let redactor = Arc::new(Redactor::new(&credentials));
    let all = cases::edge(Catalog::new(&spec, &shape, false));
    let filter = ["credentials.*", "log.*", "health.*", "refusal.40*"].map(str::to_owned).to_vec();
    let selection = Selection { filter, ..Selection::default() };
    let capabilities = Capabilities {
        starts_edges: true,
        service: true,
        origin: true,
        log: true,
        https: false,
        loopback_clients: cfg!(target_os = "linux"),
    };
    let plan = Plan::new(all, &selection, &capabilities).unwrap();
    let edge_pool = EdgePool::new(EdgePoolOptions {
        files: CredentialFiles::write(&credentials).unwrap(),
        target: Target::Launched(Launch::new(CommandLine::parse(&command("leaks")).unwrap())),
        behind: EdgeUpstream::Each,
        redactor: Arc::clone(&redactor),
        credentials: Arc::clone(&credentials),
        spare: 2,
        spec: Arc::clone(&spec),
        profile,
        shape,
    });
    let edge_pool = Arc::new(edge_pool.await.unwrap());
    let options = RunOptions {
        jobs: 4,
        case_timeout: Duration::from_secs(20),
        repeat: 1,
        shuffle: None,
        hold: None,
        pins: Pins::default(),
        probes_sanity: true,
        latency: false,
    };

    let folder = tempfile::tempdir().unwrap();
    let (terminal, github) = (Written::default(), Written::default());
    let verbose = TerminalOptions { verbose: true, ..TerminalOptions::default() };
    let mut readers: Vec<Box<dyn Reader + Send>> =
        vec![Box::new(Terminal::new(terminal.clone(), verbose)), Box::new(Github::new(github.clone()))];
    for format in Format::ALL {
        let path = folder.path().join(format.name());
        readers.push(Box::new(FileReport::new(*format, &path, Titles::new()).unwrap()));
    }
    let mut failed = Vec::new();
    let mut tell = |event: Event| {
        if let Event::Ended(case) = &event
            && case.outcome == Outcome::Fail
        {
            failed.push((case.id.clone(), case.edge.clone()));
        }
        for reader in &mut readers {
            reader.read(&event);
        }
    };
    tell(Event::Planned {
        cases: plan.cases.len(),
        spec_version: spec.version().to_string(),
        spec_digest: spec.digest().to_owned(),
        kind: edge_pool.options().target.kind(),
        target: redactor.redact(edge_pool.options().target.name()).into_owned(),
        seed: 1,
        started: "2026-01-01T00:00:00Z".to_owned(),
    });
    let (verdict, mut tally) = (RunPolicy::default(), Tally::new(&plan));
    run(&plan, &edge_pool, &Arc::new(options), &verdict, &mut tally, &mut tell).await;
    assert_eq!(tally.finish(&verdict, &mut tell), 1);
    for reader in &mut readers {
        reader.finish().unwrap();
    }
    Arc::into_inner(edge_pool).unwrap().stop().await;

    // It did leak, and was caught: in the answers, and in the log.
    let ids: Vec<&str> = failed.iter().map(|(id, _)| id.as_str()).collect();
    for caught in ["credentials.not-shown.accepted", "credentials.not-shown.health", "log.license"] {
        assert!(ids.contains(&caught), "{ids:?}");
    }
    let log: Vec<&String> = failed.iter().flat_map(|(_, edge)| edge).flat_map(|edge| &edge.log).collect();
    assert!(
        log.iter().any(|line| line.contains("[license")),
        "the log with the leak is among what was scanned: {log:?}"
    );

    let license = credentials.license(LicenseForm::Valid);
    let mut texts =
        vec![("terminal", terminal.0.lock().unwrap().clone()), ("github", github.0.lock().unwrap().clone())];
    for format in Format::ALL {
        texts.push((format.name(), fs::read(folder.path().join(format.name())).unwrap()));
    }
    for (name, text) in texts {
        assert!(!text.is_empty(), "{name}");
        assert!(!redactor.finds(&text), "a credential in {name}");
        let shown = String::from_utf8(text).unwrap();
        assert!(!shown.contains(&license[license.len() - 20..]), "the end of the license in {name}");
    }
}

//! Reports of an edge that leaks every credential hold none of them.

use std::fs;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use edgeproof::cases::{self, Catalog};
use edgeproof::run::{ConformanceRun, EdgePool, EdgePoolOptions, RunOptions, Selection};
use edgeproof_fixtures::credentials::{CredentialFiles, Credentials, LicenseForm, MintOptions};
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_launch::{CommandLine, Launch};
use edgeproof_mock::ReplyShape;
use edgeproof_reports::{
    Event, FileReport, Format, Github, Outcome, Reader, Terminal, TerminalOptions, Titles,
};
use edgeproof_targets::Target;

use crate::broken_edge::command;

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
async fn reports_hold_no_credential() {
    let spec = Arc::new(Spec::builtin(Version::Current));
    let shape = ReplyShape::from_profile(spec.profile());
    let credentials = Arc::new(Credentials::mint(&MintOptions::default()).unwrap());
    let all = cases::edge(Catalog::new(&spec, &shape, false));
    let filter = ["credentials.*", "log.*", "health.*", "refusal.40*"].map(str::to_owned).to_vec();
    let selection = Selection { filter, ..Selection::default() };
    let files = CredentialFiles::write(&credentials).unwrap();
    let target = Target::Launched(Launch::new(CommandLine::parse(&command("leaks")).unwrap()));
    let edges = EdgePoolOptions::new(Arc::clone(&spec), target, Arc::clone(&credentials), files);
    let redactor = Arc::clone(&edges.redactor);
    let run = ConformanceRun::new(all, &selection, EdgePool::new(edges)).unwrap();
    let options = RunOptions { jobs: 4, case_timeout: Duration::from_secs(20), ..RunOptions::default() };
    let run = ConformanceRun { options, ..run };

    let folder = tempfile::tempdir().unwrap();
    let (terminal, github) = (Written::default(), Written::default());
    let all_output = TerminalOptions { verbose: true, details: true, ..TerminalOptions::default() };
    let mut readers: Vec<Box<dyn Reader + Send>> =
        vec![Box::new(Terminal::new(terminal.clone(), all_output)), Box::new(Github::new(github.clone()))];
    for format in Format::ALL {
        let path = folder.path().join(format.name());
        readers.push(Box::new(FileReport::new(*format, &path, Titles::new()).unwrap()));
    }
    let mut emit = |event: Event| {
        for reader in &mut readers {
            reader.read(&event);
        }
    };
    let result = run.execute_with(&mut emit, std::future::pending()).await.unwrap();
    assert_eq!(result.exit_code, 1);
    for reader in &mut readers {
        reader.finish().unwrap();
    }

    // The leaks are real: answers and log hold credentials.
    let failed: Vec<_> = result.cases.iter().filter(|case| case.outcome == Outcome::Fail).collect();
    let ids: Vec<&str> = failed.iter().map(|case| case.id.as_str()).collect();
    for caught in ["credentials.not-shown.accepted", "credentials.not-shown.health", "log.license"] {
        assert!(ids.contains(&caught), "{ids:?}");
    }
    let log: Vec<&String> = failed.iter().flat_map(|case| &case.edge).flat_map(|edge| &edge.log).collect();
    assert!(log.iter().any(|line| line.contains("[license")), "no report holds the leaked log: {log:?}");

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

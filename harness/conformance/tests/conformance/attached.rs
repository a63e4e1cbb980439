//! Edges that run already: with settings that connect them to the mock service, and without.

use std::io::{BufRead, BufReader};
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};

use edgeproof_reports::Outcome;
use socket2::{Domain, Socket, Type};

use crate::program::command;
use crate::support::{Folder, amiss, case, ids};

/// An edge that was started by hand.
struct ByHand {
    child: Child,
    url: String,
}

impl ByHand {
    /// Starts it through a shell, as the words of `mint edge-settings` say.
    fn start(folder: &Folder, before: &str) -> Self {
        let line = format!("{before} exec {}", command("sound"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path()).env_remove("PORT");
        let mut child = shell.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines.find_map(|line| line.unwrap().strip_prefix("listening on ").map(str::to_owned));
        // What it writes from here on has to go somewhere.
        std::thread::spawn(move || lines.for_each(drop));
        Self { url: format!("http://{}", told.unwrap()), child }
    }
}

impl Drop for ByHand {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// A port that only a service of ours can get: others don't ask to share it.
fn held_port() -> (Socket, u16) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.bind(&std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    (socket, port)
}

fn mint(folder: &Folder, port: u16) {
    let minted =
        folder.run(&["mint", "edge-settings", "--out", "settings", "--service-port", &port.to_string()]);
    assert!(minted.status.success(), "{minted:?}");
    let told = String::from_utf8(minted.stdout).unwrap();
    assert!(told.contains("set -a; . settings/edge/edge.env; set +a;"), "{told}");
}

const SETTINGS: &str = "set -a; . settings/edge/edge.env; set +a;";

#[test]
fn with_minted_settings() {
    let folder = Folder::new();
    let (_held, port) = held_port();
    mint(&folder, port);
    let edge = ByHand::start(&folder, SETTINGS);
    let report = folder.conform(&["--url", &edge.url, "--settings", "settings"]);
    assert_eq!(amiss(&report), Vec::<String>::new());
    assert_eq!((report.exit_code, report.summary.not_run), (0, 0));
    // Other settings and the log are beyond reach; everything else was played.
    for id in ids(&report, &[Outcome::NotApplicable]) {
        let because = &case(&report, &id).because;
        assert!(["--launch", "https"].iter().any(|word| because.contains(word)), "{id}: {because}");
    }
    assert!(report.summary.pass > 150, "{:?}", report.summary);
}

/// An edge that calls another service is told so, with what to change, and nothing is proven.
#[test]
fn with_settings_of_another_run() {
    let folder = Folder::new();
    let ((_held, port), (_other, elsewhere)) = (held_port(), held_port());
    mint(&folder, port);
    let edge = ByHand::start(&folder, &format!("{SETTINGS} SERVICE_URL=https://localhost:{elsewhere}"));
    let report = folder.conform(&["--url", &edge.url, "--settings", "settings"]);
    assert_eq!((report.exit_code, report.summary.pass), (3, 0));
    let [finding] = &report.findings[..] else { panic!("{:?}", report.findings) };
    for word in ["does not reach the mock service", "service_unreachable", "SERVICE_URL", "--no-service"] {
        assert!(finding.contains(word), "{finding}");
    }
}

#[test]
fn in_production() {
    let folder = Folder::new();
    let edge = ByHand::start(
        &folder,
        "export SERVICE_URL=https://service.invalid ALLOWED_ORIGIN=https://shop.example;",
    );
    let args = ["--url", &edge.url, "--no-service"];
    let report = folder.conform(&args);
    assert_eq!((report.exit_code, amiss(&report)), (0, Vec::new()));
    assert_eq!(ids(&report, &[Outcome::Pass]).iter().filter(|id| id.starts_with("cors.")).count(), 0);

    let report = folder.conform(&[&args[..], &["--origin", "https://shop.example"]].concat());
    assert_eq!((report.exit_code, amiss(&report)), (0, Vec::new()));
    assert!(ids(&report, &[Outcome::Pass]).contains(&"cors.preflight".to_owned()));

    // Without the word that this is wanted, nothing is proven.
    let report = folder.conform(&["--url", &edge.url]);
    assert_eq!(report.exit_code, 3);
    assert!(report.findings[0].contains("--no-service"), "{:?}", report.findings);
}

//! `edgeproof mock` as a program: its printed commands work, and it leaves no files behind.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::LazyLock;

use edgeproof_fixtures::collector;
use edgeproof_fixtures::spec::{Spec, Version};
use edgeproof_mock::magic::{Carrier, Magic};
use rstest::rstest;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

static GUIDE: LazyLock<String> = LazyLock::new(|| {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mock.md"))
        .expect("the repository has docs")
});

/// A mock service in its own process, killed at the end of the test.
struct Mock {
    child: Child,
    out: BufReader<ChildStdout>,
    temporary: TempDir,
}

impl Mock {
    fn start(args: &[&str]) -> Self {
        let temporary = TempDir::new().unwrap();
        let mut child = edgeproof(&["mock"])
            .args(args)
            .env("TMPDIR", temporary.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, out, temporary }
    }

    /// Its output, up to the line that begins with `last`.
    fn printed(&mut self, last: &str) -> String {
        let mut text = String::new();
        while !text.lines().last().is_some_and(|line| line.starts_with(last)) {
            assert!(self.out.read_line(&mut text).unwrap() > 0, "the mock service exited: {text}");
        }
        text
    }

    fn ready(&mut self) -> Value {
        serde_json::from_str(&self.printed("{")).unwrap()
    }

    /// Stops it with SIGTERM. Yields its log.
    fn stop(mut self) -> String {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{log}");
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "output after the ready block");
        assert_eq!(fs::read_dir(self.temporary.path()).unwrap().count(), 0, "files are left behind");
        log
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        // Fails if it was stopped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn edgeproof(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_edgeproof"));
    command.args(args).env("NO_COLOR", "1");
    command
}

/// Runs lines in a shell with `edgeproof` in its PATH.
fn shell(lines: &str, folder: &Path) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_edgeproof")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let paths = std::iter::once(program).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(paths).unwrap();
    Command::new("sh").args(["-euc", lines]).current_dir(folder).env("PATH", path).output().unwrap()
}

fn succeeds(lines: &str, folder: &Path) -> String {
    let output = shell(lines, folder);
    assert!(output.status.success(), "{lines}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn path(value: &Value) -> PathBuf {
    value.as_str().unwrap().into()
}

#[rstest]
#[case::with_tls(&[])]
#[case::without(&["--plain", "127.0.0.1:0"])]
fn printed_curl_command_works(#[case] more: &[&str]) {
    let mut mock = Mock::start(&[&["--listen", "127.0.0.1:0"], more].concat());
    let block = mock.printed("curl ");
    let curl = block.lines().last().unwrap();
    let verdict = succeeds(&format!("{curl} --silent --show-error"), Path::new("/"));
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    // The whole block is valid shell text.
    let license =
        succeeds(&format!("{} >&2 2>/dev/null\necho \"$LICENSE\"", block.trim_end()), Path::new("/"));
    assert_eq!((&verdict["ref"], &verdict["decision"]), (&"magic.verdict-ready".into(), &"allow".into()));
    let token = block.lines().find_map(|line| line.strip_prefix("export READ_TOKEN=")).unwrap().to_owned();
    let settings =
        block.lines().find_map(|line| line.strip_prefix("#   settings ")).unwrap().trim().to_owned();
    assert_eq!(
        Path::new(&settings).parent().unwrap().metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );

    let log = mock.stop();
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!((&line["endpoint"], &line["status"]), (&"verdict".into(), &200.into()));
    assert_eq!(line["target"], "/v1/verdict/magic.verdict-ready");
    assert!(!log.contains(&token[30..60]) && !log.contains(&license[30..60]), "{log}");
    assert!(!Path::new(&settings).exists());
}

#[test]
fn json_line_holds_addresses_and_credentials() {
    let all = [
        "--listen",
        "127.0.0.1:0",
        "--plain",
        "127.0.0.1:0",
        "--edge",
        "127.0.0.1:0",
        "--admin",
        "127.0.0.1:0",
    ];
    let mut mock =
        Mock::start(&[&all[..], &["--json", "--seed", "42", "--service-host", "mock.test"]].concat());
    let ready = mock.ready();
    assert_eq!((&ready["schema"], &ready["seed"]), (&"edgeproof.mock/1".into(), &42.into()));
    assert!(ready["service_url"].as_str().unwrap().starts_with("https://mock.test:"));
    for file in ["env_file", "service_ca_file", "client_cert_file", "client_key_file"] {
        assert_eq!(path(&ready[file]).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
    let at = |name: &str| ready[name].as_str().unwrap().to_owned();
    let healthy = format!(
        "for url in {} {} {}; do curl -fsS $url/health; done; curl -fsS --cacert {} {}/health",
        at("plain"),
        at("edge"),
        at("admin"),
        at("service_ca_file"),
        at("service")
    );
    let healths = succeeds(&healthy, Path::new("/"));
    assert_eq!(healths.matches(r#"{"ok":true}"#).count(), 4, "{healths}");
    // The certificate holds the name as well.
    let named = format!(
        "curl -fsS --cacert {} --connect-to mock.test::localhost: {}/health",
        at("service_ca_file"),
        at("service_url")
    );
    assert_eq!(succeeds(&named, Path::new("/")), r#"{"ok":true}"#);
    mock.stop();
}

#[test]
fn session_of_the_guide_works() {
    let blocks: Vec<_> =
        GUIDE.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    let walk = blocks.into_iter().find(|block| block.contains("mint collection --mock")).unwrap();
    let folder = TempDir::new().unwrap();
    // A failing line must not leave the mock service running.
    let lines = format!("trap 'kill $! 2>/dev/null || true' EXIT\n{walk}\nwait");
    let printed = succeeds(&lines, folder.path());
    let (edge, claims) = printed.split_once('\n').map_or((printed.as_str(), ""), |(edge, rest)| (edge, rest));
    let (edge, claims) = match edge.strip_prefix(r#"{"ok":true}"#) {
        Some(rest) => (r#"{"ok":true}"#, format!("{rest}{claims}")),
        None => (edge, claims.to_owned()),
    };
    assert_eq!(edge, r#"{"ok":true}"#, "{printed}");
    let claims: Value = serde_json::from_str(claims.trim().strip_prefix("true ").unwrap()).unwrap();
    assert_eq!(claims["sub"], "order 4711");
    let log = fs::read_to_string(folder.path().join("mock.log")).unwrap();
    let endpoints: Vec<_> =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["endpoint"].clone()).collect();
    assert_eq!(endpoints, ["relay", "verdict", "keys"]);
}

#[test]
fn minted_settings_are_used_and_kept() {
    let folder = TempDir::new().unwrap();
    let settings = folder.path().join("settings");
    let dir = settings.to_str().unwrap();
    let minted = edgeproof(&["mint", "edge-settings", "--out", dir]).output().unwrap();
    assert!(minted.status.success());
    let before = fs::read_to_string(settings.join("edge/edge.env")).unwrap();
    let mut mock =
        Mock::start(&["--settings", dir, "--listen", "127.0.0.1:0", "--edge", "127.0.0.1:0", "--json"]);
    let ready = mock.ready();
    assert_eq!(path(&ready["settings"]), settings.canonicalize().unwrap());
    assert!(before.contains(&format!("LICENSE={}\n", ready["license"].as_str().unwrap())));
    let lines = format!(
        "edgeproof mint collection --settings {dir} --session-ref s --form incomplete > body.json\n\
         curl -sS {}/v1/signals --data-binary @body.json",
        ready["edge"].as_str().unwrap()
    );
    let refused: Value = serde_json::from_str(&succeeds(&lines, folder.path())).unwrap();
    assert_eq!(refused["reason"], "missing_fields");
    let log = mock.stop();
    assert!(log.contains(r#""row":"relay.400.missing-fields""#), "{log}");
    assert!(log.contains(r#""endpoint":"edge""#), "{log}");
    assert_eq!(fs::read_to_string(settings.join("edge/edge.env")).unwrap(), before);
}

/// A mock service with a demo page, and the URL of the page.
fn page(more: &[&str]) -> (Mock, Value, String) {
    let all = ["--listen", "127.0.0.1:0", "--page", "127.0.0.1:0", "--json"];
    let mut mock = Mock::start(&[&all[..], more].concat());
    let ready = mock.ready();
    let url = ready["page"].as_str().unwrap().to_owned();
    assert!(url.starts_with("http://localhost:"), "{url}");
    (mock, ready, url)
}

fn json(lines: &str, folder: &Path) -> Value {
    serde_json::from_str(&succeeds(lines, folder)).unwrap()
}

#[test]
fn page_has_its_files_and_no_token() {
    let (mock, ready, url) = page(&[]);
    for (path, media_type, part) in [
        ("", "text/html", "<title>Browser verification"),
        ("page.css", "text/css", "prefers-color-scheme"),
        ("page.js", "text/javascript", "collector.js"),
        ("collector.js", "text/javascript", collector::MODULE),
        ("setup", "application/json", "magic."),
        ("verdict?ref=magic.verdict-ready", "application/json", "\"status\":200"),
    ] {
        let answer = succeeds(&format!("curl -fsSi '{url}/{path}'"), Path::new("/"));
        assert!(answer.contains(part), "{path}: {answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let head = head.to_ascii_lowercase();
        assert!(head.contains(&format!("content-type: {media_type}")), "{path}: {head}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{path}: {head}");
        for secret in ["read_token", "license"] {
            let secret = &ready[secret].as_str().unwrap()[30..60];
            assert!(!body.contains(secret), "{path} has a token");
        }
    }
    mock.stop();
}

#[test]
fn page_answers_no_other_page_and_no_other_method() {
    let (mock, _, url) = page(&[]);
    for (request, status) in [
        (format!("{url}/setup"), "200"),
        (format!("-I {url}"), "200"),
        (format!("{url}/nothing"), "404"),
        (format!("-X POST {url}/setup"), "405"),
        (format!("-H 'Host: attacker.example' {url}/setup"), "403"),
        (format!("-H 'Origin: https://attacker.example' {url}/setup"), "403"),
    ] {
        let line = format!("curl -sS -o /dev/null -w '%{{http_code}}' {request}");
        assert_eq!(succeeds(&line, Path::new("/")), status, "{request}");
    }
    mock.stop();
}

#[rstest]
#[case::current(Version::Current)]
#[case::pre_seal(Version::PreSeal)]
fn page_offers_the_magic_references_of_the_tables(#[case] version: Version) {
    let (mock, ready, url) = page(&["--spec", version.name()]);
    let setup = json(&format!("curl -fsS {url}/setup"), Path::new("/"));
    let groups = setup["magic"].as_array().unwrap();
    let offered: Vec<_> = groups.iter().flat_map(|group| group["pairs"].as_array().unwrap()).collect();
    let magic = Magic::of(&Spec::builtin(version));
    let of_sessions = magic.pairs().iter().filter(|pair| pair.carrier == Carrier::SessionRef);
    assert_eq!(
        offered.iter().map(|pair| pair["value"].as_str().unwrap()).collect::<Vec<_>>(),
        of_sessions.map(|pair| pair.value.as_str()).collect::<Vec<_>>()
    );
    assert_eq!(setup["options"]["sealKey"], ready["seal_key"]);
    let compatibility = (version == Version::PreSeal).then_some("pre-seal");
    assert_eq!(setup["options"]["compatibility"].as_str(), compatibility);
    mock.stop();
}

#[test]
fn page_may_post_to_its_edge_and_its_backend_gets_the_verdict() {
    let (mock, ready, url) = page(&[]);
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("mock.json"), ready.to_string()).unwrap();
    let edge = json(&format!("curl -fsS {url}/setup"), folder.path())["options"]["apiUrl"].clone();
    let edge = edge.as_str().unwrap();
    let granted = format!("access-control-allow-origin: {url}\r\n");
    for (reference, status, decision) in
        [("order / 4711", "200", Value::from("allow")), ("other", "404", Value::Null)]
    {
        let lines = format!(
            "edgeproof mint collection --mock mock.json --session-ref 'order / 4711' > body.json\n\
             curl -sSi {edge}/v1/signals -H 'Origin: {url}' -H 'Content-Type: application/json' --data-binary @body.json"
        );
        let answer = succeeds(&lines, folder.path()).to_ascii_lowercase();
        assert!(answer.contains(&granted), "{answer}");
        let query = format!("curl -fsSG {url}/verdict --data-urlencode 'ref={reference}' -d waitMs=0");
        let verdict = json(&query, folder.path());
        assert_eq!((&verdict["status"].to_string()[..], &verdict["body"]["decision"]), (status, &decision));
        assert!(verdict["request"].as_str().unwrap().starts_with("GET https://localhost:"), "{verdict}");
    }
    let log = mock.stop();
    assert!(log.contains("\"endpoint\":\"verdict\""), "{log}");
}

#[test]
fn magic_values_are_printed() {
    let magic = Magic::of(&Spec::builtin(Version::Current));
    let output = edgeproof(&["mock", "--magic", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let table: Value = serde_json::from_slice(&output.stdout).unwrap();
    let values: Vec<_> =
        table["magic"].as_array().unwrap().iter().map(|pair| pair["value"].as_str().unwrap()).collect();
    assert_eq!(values, magic.pairs().iter().map(|pair| pair.value.as_str()).collect::<Vec<_>>());

    let output = edgeproof(&["mock", "--magic"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for pair in magic.pairs() {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(&pair.value)).unwrap();
        assert!(line.contains(&pair.status.to_string()) && line.ends_with(pair.stimulus.name()), "{line}");
    }
    for value in GUIDE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
        if value.contains("magic.") {
            let value = value.split('~').next().unwrap();
            assert!(values.contains(&value), "docs/mock.md has {value}");
        }
    }
}

#[rstest]
#[case::open_admin(&["--admin", "0.0.0.0:0"], "other machines could reach this address")]
#[case::open_page(&["--page", "0.0.0.0:0"], "other machines could reach this address")]
#[case::open_plain(&["--plain", "0.0.0.0:0"], "other machines could reach this address")]
#[case::host(&["--listen", "127.0.0.1:0", "--service-host", "https://x"], "give --service-host a name")]
#[case::settings(&["--settings", "/nowhere"], "there is no service/")]
#[case::both(&["--settings", ".", "--service-host", "x"], "cannot be used with")]
#[case::profile(&["--profile", "/nowhere"], "/nowhere")]
#[case::admin_host(&["--admin-host", "x"], "--admin")]
fn invalid_arguments_exit_2(#[case] args: &[&str], #[case] why: &str) {
    let output = edgeproof(&["mock"]).args(args).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap().replace('│', " ");
    let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty() && error.contains(why), "{error}");
}

#[test]
fn port_in_use_exits_2() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    for flag in ["--listen", "--plain", "--edge", "--admin", "--page"] {
        let args = if flag == "--listen" { vec![] } else { vec!["--listen", "127.0.0.1:0"] };
        let output = edgeproof(&["mock"]).args(args).args([flag, &addr]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(flag) && error.contains("in use"), "{error}");
    }
}

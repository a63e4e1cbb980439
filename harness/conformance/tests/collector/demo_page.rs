//! The page of `edgeproof mock --page` in Chromium: it shows the steps of a session, up to verdict or refusal.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use edgeproof_browser::{Chromium, ChromiumOptions, Page, PageOptions};
use rstest::rstest;
use serde_json::{Value, json};

use crate::limited::{self, Watchdog};
use crate::tested_program;

/// Waits until the run is over, and yields what the page shows.
const SHOWN: &str = "new Promise((resolve) => {
  const status = document.getElementById('status')
  const text = (item, part) => item.querySelector(part).textContent
  const look = () => !/^(Ready|Running)/.test(status.textContent) && resolve({
    status: status.textContent,
    steps: [...document.querySelectorAll('#steps li')].map((item) => [text(item, '.title'), text(item, '.outcome'), item.className]),
    text: document.body.innerText,
  })
  new MutationObserver(look).observe(status, { childList: true })
  look()
})";

/// `edgeproof mock --page` in its own process, killed at the end of the test.
struct Mock {
    child: Child,
    ready: Value,
    _watchdog: Watchdog,
}

impl Mock {
    fn start(more: &[&str]) -> Self {
        let mut child = tested_program::edgeproof()
            .args(["mock", "--listen", "127.0.0.1:0", "--page", "127.0.0.1:0", "--json", "--quiet"])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let watchdog = Watchdog::over(&child);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, ready: serde_json::from_str(&line).unwrap(), _watchdog: watchdog }
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        limited::wait(&mut self.child);
    }
}

async fn open(chromium: &Chromium, mock: &Mock, query: &str) -> Page {
    let url = format!("{}/?run&{query}", mock.ready["page"].as_str().unwrap());
    chromium.open(PageOptions::new(url)).await.unwrap()
}

async fn launch() -> Chromium {
    Chromium::launch(ChromiumOptions::default())
        .await
        .unwrap_or_else(|why| panic!("{why}: {}", miette::Diagnostic::help(&why).unwrap()))
}

#[rstest]
#[case::accepted(&[], "reference=order+4711", "Verdict: allow.", "start(\"order 4711\")", ["The edge accepted the collection.", "good"], ["200, decision: allow", "good"])]
#[case::refused(&[], "reference=order+4711&magic=magic.relay.409.replayed-bundle", "Refused: no verdict.", "start(\"magic.relay.409.replayed-bundle~order 4711\")", ["Error: signal report failed: 409", "bad"], ["404: there is no verdict", "wait"])]
#[case::pre_seal(&["--spec", "pre-seal"], "reference=order+4711", "Verdict: allow.", "start(\"order 4711\")", ["The edge accepted the collection.", "good"], ["200, decision: allow", "good"])]
#[tokio::test(flavor = "multi_thread")]
async fn page_shows_each_step_of_a_session(
    #[case] args: &[&str],
    #[case] query: &str,
    #[case] status: &str,
    #[case] start: &str,
    #[case] verify: [&str; 2],
    #[case] backend: [&str; 2],
) {
    let (mock, chromium) = (Mock::start(args), launch().await);
    let page = open(&chromium, &mock, &format!("{query}&mode=lite")).await;
    let shown = page.evaluate(SHOWN).await.unwrap();
    // On a busy machine some measurements come too late, and the verdict is weaker.
    let shown: Value = serde_json::from_str(&shown.to_string().replace("review", "allow")).unwrap();
    assert_eq!(shown["status"], status, "{shown}");
    let expected = json!([
        ["create({ apiUrl, mode: \"lite\", sealKey })", "The options are valid.", "good"],
        [start, "The measurements have begun.", "good"],
        ["ready()", "The measurements are done.", "good"],
        ["verify()", verify[0], verify[1]],
        ["The backend fetches the verdict", backend[0], backend[1]],
    ]);
    assert_eq!(shown["steps"], expected);

    let record = page.record();
    assert_eq!(record.uncaught, Vec::<String>::new());
    assert_eq!(record.console_errors, Vec::<String>::new());
    for secret in ["read_token", "license"] {
        let secret = &mock.ready[secret].as_str().unwrap()[30..60];
        assert!(!shown["text"].as_str().unwrap().contains(secret), "the page shows the {secret}");
        let sent = |header: &(String, String)| header.1.contains(secret);
        assert!(!record.requests.iter().any(|request| request.headers.iter().any(sent)));
    }
    drop(page);
    chromium.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn page_opened_by_address_moves_to_localhost() {
    let (mock, chromium) = (Mock::start(&[]), launch().await);
    let url = mock.ready["page"].as_str().unwrap().replace("localhost", "127.0.0.1");
    let page = chromium.open(PageOptions::new(format!("{url}/?run"))).await.unwrap();
    let moves = async {
        while page.evaluate("location.hostname").await.ok() != Some("localhost".into()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), moves).await.unwrap();
    drop(page);
    chromium.close().await;
}

//! Start of the browser.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use edgeproof_browser::{BrowserError, Chromium, ChromiumOptions, PageOptions};
use serde_json::Value;

use super::support::{Site, run};

#[test]
fn browser_connects_to_this_machine_only() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let (logging, log) = (folder.path().join("logging"), folder.path().join("log.json"));
        let chromium = super::support::browser().await.executable();
        let text =
            format!("#!/bin/sh\nexec '{}' \"$@\" '--log-net-log={}'\n", chromium.display(), log.display());
        fs::write(&logging, text).unwrap();
        fs::set_permissions(&logging, fs::Permissions::from_mode(0o755)).unwrap();
        let options = ChromiumOptions { executable: Some(logging), ..ChromiumOptions::default() };
        let browser = Chromium::launch(options).await.unwrap();
        let site = Site::with_module("").await;
        let page = browser.open(PageOptions::new(site.url("/"))).await.unwrap();
        // A leak has many ways out.
        let tries = "(async () => {
            await fetch('https://example.com/').catch(() => {});
            await fetch('http://192.0.2.1/').catch(() => {});
            await new Promise(done => { new WebSocket('ws://192.0.2.1/').onerror = done; });
            const peers = new RTCPeerConnection({ iceServers: [{ urls: 'stun:192.0.2.1' }] });
            peers.createDataChannel('a');
            await peers.setLocalDescription();
            await new Promise(done => {
                peers.onicegatheringstatechange = () => peers.iceGatheringState === 'complete' && done();
            });
        })()";
        page.evaluate(tries).await.unwrap();
        page.settle().await;
        drop(page);
        browser.close().await;

        let log: Value = serde_json::from_str(&fs::read_to_string(&log).unwrap()).unwrap();
        let events = |name: &str| {
            let number = log["constants"]["logEventTypes"][name].clone();
            assert!(number.is_number(), "this Chromium does not log {name}");
            let all = log["events"].as_array().unwrap();
            all.iter().filter(move |event| event["type"] == number).map(|event| &event["params"])
        };
        let connected: Vec<&str> =
            events("TCP_CONNECT_ATTEMPT").filter_map(|params| params["address"].as_str()).collect();
        assert!(!connected.is_empty());
        let elsewhere = connected
            .iter()
            .filter(|address| !(address.starts_with("127.0.0.1:") || address.starts_with("[::1]:")))
            .collect::<Vec<_>>();
        assert!(elsewhere.is_empty(), "{elsewhere:?}");
        assert_eq!(events("UDP_BYTES_SENT").count(), 0);
        // Names that need no lookup are answered without a task.
        assert_eq!(events("HOST_RESOLVER_DNS_TASK").count(), 0);
        assert_eq!(events("HOST_RESOLVER_SYSTEM_TASK").count(), 0);
    });
}

#[test]
fn executable_that_is_no_chromium_is_an_error_with_its_output() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let fake = folder.path().join("fake");
        fs::write(&fake, "#!/bin/sh\necho no browser here >&2\nexit 7\n").unwrap();
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
        let options = ChromiumOptions { executable: Some(fake.clone()), ..ChromiumOptions::default() };
        let error = Chromium::launch(options).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot start {}: it exited with exit status: 7", fake.display())
        );
        let help = miette::Diagnostic::help(&error).unwrap().to_string();
        assert!(help.starts_with("its last output:\n  | no browser here\n"), "{help}");

        let options =
            ChromiumOptions { executable: Some("/no/such/chromium".into()), ..ChromiumOptions::default() };
        let error = Chromium::launch(options).await.unwrap_err();
        assert!(matches!(error, BrowserError::Unusable { .. }), "{error}");
    });
}

#[test]
fn unreachable_page_does_not_open() {
    run(async {
        let browser = super::support::browser().await;
        for (url, why) in [
            ("http://localhost:1/", "net::ERR_UNSAFE_PORT"),
            ("https://example.com/", "net::ERR_NAME_NOT_RESOLVED"),
            ("no url", "Cannot navigate to invalid URL"),
        ] {
            let error = browser.open(PageOptions::new(url)).await.unwrap_err();
            assert_eq!(error.to_string(), format!("cannot open {url} in Chromium: {why}"));
        }
    });
}

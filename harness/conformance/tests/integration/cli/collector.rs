//! `edgeproof conformance collector` as far as no browser is needed. The target `collector` tests it in Chromium.

use super::support::{Folder, check, seen};

#[test]
fn list_prints_the_cases_of_a_collector() {
    let list = ["conformance", "collector", "--list", "--filter", "abort.*", "--filter", "monitor.*"];
    check("collector_list", &Folder::new().seen(&list));
}

/// A build without the browser says so before it looks at a module, except for a list.
#[test]
fn invalid_arguments_exit_2() {
    let list: &[&str] = if cfg!(feature = "collector") { &[] } else { &["--list"] };
    let folder = Folder::new().with("collector.mjs", "export { create } from './library.js';");
    let commands: &[&[&str]] = &[
        &["collector", "--module", "nowhere.mjs"],
        &["collector", "--module", "."],
        &["collector", "--module", "https://"],
        &["collector", "--module", "ftp://a.test/collector.mjs"],
        &["collector", "--name", ""],
        &["collector", "--chromium", "nowhere"],
        &["collector", "--launch", "node edge.mjs"],
        &["collector", "--base-url", "https://service.example"],
        &["collector", "--keys-url", "https://keys.example"],
        &["collector", "--hold", "abort.posting"],
        &["collector", "--explore", "3"],
        &["collector", "--waits"],
        &["collector", "--filter", "relay.*"],
        &["--module", "collector.mjs"],
        &["service", "--name", "maker"],
        &["keys", "--chromium", "/usr/bin/chromium"],
    ];
    let shown = commands.iter().map(|command| {
        let command = [&["conformance"], *command].concat();
        seen(&command, &folder.run(&[&command[..], list].concat()))
    });
    check("collector_invalid_arguments", &shown.collect::<Vec<_>>().join("\n"));
}

#[cfg(not(feature = "collector"))]
#[test]
fn build_without_browser_exits_2_with_the_command_that_builds_one() {
    let folder = Folder::new().with("collector.mjs", "export { create } from './library.js';");
    for args in [&[][..], &["--module", "collector.mjs"], &["--module", "nowhere.mjs"]] {
        let output = folder.run(&[&["conformance", "collector", "--report", "json=r.json"], args].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("this program was built without browser support"), "{text}");
        assert!(text.contains("cargo run --features collector -- conformance collector"), "{text}");
        assert_eq!((output.stdout, folder.files()), (Vec::new(), vec!["collector.mjs".to_owned()]));
    }
}

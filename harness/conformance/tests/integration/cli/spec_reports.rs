//! JSON reports with few cases, for the commands that add reports.

use edgeproof_fixtures::spec::Spec;
use serde_json::{Value, json};

use super::support::Folder;

/// The reports of an edge and of a service.
pub(super) struct SpecReports {
    edge: &'static [PlayedCase],
    service: &'static [PlayedCase],
}

/// Case, row, outcome, reason.
type PlayedCase = (&'static str, &'static str, &'static str, &'static str);

pub(super) const REPORTS: SpecReports = SpecReports {
    edge: &[
        ("refusal.401.bad-signature", "relay.401.bad-signature", "pass", ""),
        ("refusal.409.replayed-bundle", "relay.409.replayed-bundle", "fail", "status 502 instead of <409>"),
        ("preflight.status", "edge.preflight", "observed", "status 204"),
        ("http2.post", "statement.http2", "not-applicable", "requires an edge that serves https"),
    ],
    service: &[
        ("verdict.replayed", "relay.409.replayed-bundle", "pass", ""),
        ("keys.etag", "keys.etag", "warn", "there is no entity tag"),
        ("keys.shape", "keys.shape", "not-run", "the target died before"),
    ],
};

impl SpecReports {
    /// A folder with `edge.json` and `service.json`, about the current interface.
    pub(super) fn folder(&self) -> Folder {
        let digest = Spec::current().digest();
        Folder::new()
            .with("edge.json", &report(self.edge, digest))
            .with("service.json", &report(self.service, digest))
    }
}

/// Adds files that no command can use in place of this report: one cut off, one of a newer edgeproof, one of another
/// interface, and one that is no report.
pub(super) fn with_unusable_reports(folder: Folder, report: &str) -> Folder {
    let mut other: Value = serde_json::from_str(report).unwrap();
    other["spec"] = json!({ "version": "next", "digest": "0123456789abcdef" });
    folder
        .with("cut.json", &report[..report.len() / 2])
        .with("newer.json", &report.replace("edgeproof.report/1", "edgeproof.report/2"))
        .with("other.json", &other.to_string())
        .with("list.json", "[]")
}

/// A kill matrix about the interface with this digest.
pub(crate) fn matrix(digest: &str) -> String {
    let mutant = |name: &str, status: &str| {
        json!({
            "id": format!("relay.409.replayed-bundle/{name}"), "title": "Another status.", "row": "relay.409.replayed-bundle",
            "level": "must", "status": status, "finding": false, "killers": [], "cells": "",
        })
    };
    json!({
        "schema": "edgeproof.matrix/1", "version": env!("CARGO_PKG_VERSION"), "spec": "current", "digest": digest,
        "scope": "gate", "duration_ms": 1,
        "summary": {
            "mutants": 3, "must": 3, "killed": 1, "must_killed": 1, "found": 0, "noticed": 1, "survived": 1, "equivalent": 1,
            "cases": 1, "killers": 1, "exempt": 0, "plays": 4,
        },
        "problems": [], "cases": [],
        "mutants": [
            mutant("status", "killed"), mutant("body", "noticed"), mutant("no-answer", "survived"), mutant("same", "equivalent"),
        ],
    })
    .to_string()
}

/// A report about the interface with this digest.
pub(super) fn report(cases: &[PlayedCase], digest: &str) -> String {
    let count = |outcome: &str| cases.iter().filter(|(_, _, known, _)| *known == outcome).count();
    let played: Vec<Value> = cases
        .iter()
        .map(|(id, row, outcome, because)| {
            json!({
                "id": id, "title": "A case.", "section": "7.3", "level": "must", "basis": "interface", "rows": [row],
                "outcome": outcome, "because": because, "expected": "", "actual": "", "mismatches": [],
                "observations": [], "duration_us": 1, "varied": 12, "reproduce": "", "exchanges": [],
            })
        })
        .collect();
    json!({
        "schema": "edgeproof.report/1", "tool": {"version": "0.1.0"},
        "spec": {"version": "current", "digest": digest}, "target": {"kind": "embedded"},
        "started": "2026-01-01T00:00:00Z", "duration_ms": 1, "seed": 1, "exit_code": 0,
        "summary": {
            "planned": cases.len(), "pass": count("pass"), "fail": count("fail"), "warn": count("warn"),
            "known": count("known"), "observed": count("observed"), "not_applicable": count("not-applicable"),
            "not_run": count("not-run"),
        },
        "cases": played, "observations": [],
    })
    .to_string()
}

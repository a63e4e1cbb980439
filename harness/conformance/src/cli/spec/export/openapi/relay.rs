//! The service, as edges call it.

use edgeproof_fixtures::spec::{Row, Spec, Stimulus, Table, fill};
use serde_json::{Value, json};

use super::edge::{codes, collection};
use super::example::{self, SERVICE};
use super::operation::operation;
use super::paths::Paths;
use super::responses::{JSON, Responses};
use super::schema::{of_body, one_of};

pub(super) const TAG: &str = "relay";
pub(super) const LICENSE: &str = "license";
pub(super) const CERTIFICATE: &str = "clientCertificate";

pub(super) fn add(spec: &Spec, paths: &mut Paths) {
    let profile = spec.profile();
    let mut operation = operation("relayCollection", TAG, SERVICE, "Relay a collection");
    let description = format!(
        "The edge posts the body of the page, unchanged. The interface leaves path, license header and bodies open; these \
         are those of the reference profile. {}",
        profile.point("relay.path").map_or("", |point| point.note.as_str())
    );
    operation.insert("description".into(), description.into());
    operation.insert("security".into(), security(spec));
    operation.insert("requestBody".into(), collection(spec));
    operation.insert("responses".into(), answers(spec).into_value(JSON));
    paths.add(&profile.relay_path, "POST", TAG, operation);
}

/// How the edge presents its license.
pub(super) fn license_scheme(spec: &Spec) -> Value {
    let profile = spec.profile();
    let description = format!("License token, which begins with {}.", example::point(spec, "license.prefix"));
    if profile.license_header.eq_ignore_ascii_case("authorization") && !profile.license_scheme.is_empty() {
        let scheme = profile.license_scheme.to_ascii_lowercase();
        return json!({ "type": "http", "scheme": scheme, "description": description });
    }
    json!({ "type": "apiKey", "in": "header", "name": profile.license_header, "description": description })
}

/// A license, with a client certificate where the service requires one.
fn security(spec: &Spec) -> Value {
    let both = json!({ LICENSE: [], CERTIFICATE: [] });
    if spec.by_stimulus(Table::Relay, Stimulus::CertificateMissing).is_some() {
        return json!([both]);
    }
    json!([both, { LICENSE: [] }])
}

fn answers(spec: &Spec) -> Responses {
    let mut responses = Responses::default();
    if let Some(accepted) = spec.by_stimulus(Table::Edge, Stimulus::ServiceAccepts) {
        responses.add("200", accepted, Some((spec.profile().relay_accepted.clone(), json!({}))));
    }
    for row in spec.table(Table::Relay) {
        let Some(status) = row.status() else { continue };
        responses.add(&status.to_string(), row, refusal(spec, row, status));
    }
    responses
}

fn refusal(spec: &Spec, row: &Row, status: u16) -> Option<(Value, Value)> {
    let template = &spec.profile().relay_refused;
    let body = fill(template, &[("<reason>", row.code()?.into())]);
    Some((body, of_body(template, &[("<reason>", one_of(&codes(spec, status)))], false)))
}

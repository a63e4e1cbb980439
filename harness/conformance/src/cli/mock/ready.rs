use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use edgeproof_cli::Failure;
use edgeproof_edge::Edge;
use edgeproof_fixtures::credentials::{EdgeConnection, EdgeSettings, LicenseForm, ReadTokenForm};
use edgeproof_fixtures::spec::{Fact, Spec, Stimulus, Table};
use edgeproof_mock::MockService;
use edgeproof_mock::admin::Admin;
use serde::Serialize;
use serde_json::Value;

use super::page::DemoPage;

/// Addresses and test credentials of a ready mock service. `--json` prints them as one line; later versions only add
/// fields.
#[derive(Serialize)]
pub(super) struct ReadyMessage {
    schema: &'static str,
    /// URL of the service on this machine, with TLS.
    service: String,
    /// `SERVICE_URL` of the edge.
    service_url: String,
    /// URL of the service without TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    plain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edge: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin: Option<String>,
    /// URL of the demo page.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    allowed_origin: String,
    license: String,
    read_token: String,
    /// Public key for sealing collections.
    seal_key: Value,
    settings: PathBuf,
    env_file: PathBuf,
    service_ca_file: PathBuf,
    client_cert_file: PathBuf,
    client_key_file: PathBuf,
    signals_path: String,
    verdict_path: String,
    keys_path: String,
    /// Names of the settings in this version.
    #[serde(skip)]
    variables: [String; EdgeSettings::NAMES.len()],
    spec: String,
    seed: u64,
    pid: u32,
}

impl ReadyMessage {
    /// Collects what the started parts offer.
    pub(super) fn new(
        service: &MockService,
        (edge, admin, page): (Option<&Edge>, Option<&Admin>, Option<&DemoPage>),
        connection: &EdgeConnection,
        dir: &Path,
        seed: u64,
    ) -> Self {
        let (credentials, spec) = (service.credentials(), service.spec());
        let edge_dir = dir.join("edge");
        Self {
            schema: "edgeproof.mock/1",
            service: service.url(),
            service_url: connection.service_url.clone(),
            plain: service.plain_addr().map(|addr| format!("http://{addr}")),
            edge: edge.map(Edge::url),
            admin: admin.map(Admin::url),
            page: page.map(DemoPage::url),
            allowed_origin: connection.allowed_origin.clone(),
            license: credentials.license(LicenseForm::Valid),
            read_token: credentials.read_token(ReadTokenForm::Valid),
            seal_key: service.seal_key().to_jwk(),
            settings: dir.to_owned(),
            env_file: edge_dir.join("edge.env"),
            service_ca_file: edge_dir.join("service-ca.pem"),
            client_cert_file: edge_dir.join("client.pem"),
            client_key_file: edge_dir.join("client.key"),
            signals_path: path(spec, "edge", "POST"),
            verdict_path: path(spec, "service", "GET"),
            keys_path: path(spec, "keys", "GET"),
            variables: EdgeSettings::NAMES.map(|name| spec.variable(name).to_owned()),
            spec: spec.version().to_string(),
            seed,
            pid: std::process::id(),
        }
    }

    /// Prints it to standard output.
    pub(super) fn print(&self, json: bool) -> Result<(), Failure> {
        let text = if json {
            let line = serde_json::to_string(self);
            line.map_err(|why| Failure::of(&why, "this is a bug in edgeproof: report it"))? + "\n"
        } else {
            self.text()
        };
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|why| {
            Failure::usage(format!("cannot write to standard output: {why}"), "check its destination")
        })
    }

    /// Shell text: comments, settings to copy and a first request.
    fn text(&self) -> String {
        let mut text = String::from("# The mock service is ready. Ctrl-C stops it and removes its files.\n");
        let mut comment = |name: &str, value: &str| _ = writeln!(text, "#   {name:9} {value}");
        comment("service", &self.service);
        let optional = [&self.plain, &self.edge, &self.admin, &self.page];
        for (name, value) in ["plain", "edge", "admin", "page"].into_iter().zip(optional) {
            if let Some(value) = value {
                comment(name, value);
            }
        }
        comment("settings", &self.settings.display().to_string());
        comment("seed", &self.seed.to_string());
        _ = writeln!(text, "\n# Settings of an edge, also in {}:", self.env_file.display());
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let values = [
            self.license.clone(),
            self.service_url.clone(),
            path(&self.service_ca_file),
            path(&self.client_cert_file),
            path(&self.client_key_file),
            self.allowed_origin.clone(),
        ];
        for (name, value) in self.variables.iter().zip(values) {
            _ = writeln!(text, "export {name}={}", quoted(&value));
        }
        text.push_str("\n# Read token of a backend:\n");
        _ = writeln!(text, "export READ_TOKEN={}", quoted(&self.read_token));
        let ready = format!("magic.{}", Stimulus::VerdictReady);
        _ = writeln!(text, "\n# A first verdict, of a magic session:");
        let (base, ca) = match &self.plain {
            Some(plain) => (plain, String::new()),
            None => (&self.service, format!("--cacert {} ", quoted(&self.service_ca_file.to_string_lossy()))),
        };
        let url = format!("{base}{}", self.verdict_path.replace("{sessionRef}", &ready));
        let header = quoted(&format!("Authorization: Bearer {}", self.read_token));
        _ = writeln!(text, "curl {ca}-H {header} {}", quoted(&url));
        text
    }
}

/// Path of an endpoint, from the tables.
fn path(spec: &Spec, of: &str, method: &str) -> String {
    let paths = spec.table(Table::Endpoints).find_map(|row| match &row.fact {
        Fact::Endpoint { party, methods, path } if party == of && methods.iter().any(|one| one == method) => {
            Some(path.clone())
        }
        _ => None,
    });
    paths.unwrap_or_default()
}

/// Quotes a word for a shell.
fn quoted(text: &str) -> String {
    shell_words::quote(text).into_owned()
}

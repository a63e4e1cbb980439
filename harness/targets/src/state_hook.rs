use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::credentials::{Redactor, Secret};
use edgeproof_http::{Body, Draft, NoAnswer, ServerAddress, ServerAddressError};
use edgeproof_launch::{CommandError, CommandLine, Filter};
use edgeproof_mock::states::{StateError, StateProvider, StateReply, StateRequest};
use url::Url;

/// Brings a service into states (`docs/services.md`).
#[derive(Debug)]
pub struct StateHook {
    port: StatePort,
    redactor: Arc<Redactor>,
}

/// Where states are asked for.
#[derive(Debug)]
pub enum StatePort {
    /// The built-in mock.
    Mock(StateProvider),
    /// A URL (`--state-url`).
    Url {
        /// Server and path.
        address: ServerAddress,
        /// The end of the request target: the query, or the path of a URL without one.
        end: String,
        /// A header of each request (`--state-header`).
        header: Option<(String, Secret)>,
    },
    /// A program (`--state-command`).
    Command(Filter),
}

/// Options of a state hook.
#[derive(Debug, Clone, Copy)]
pub struct StateOptions<'o> {
    /// `--state-url`.
    pub url: Option<&'o str>,
    /// `--state-command`.
    pub command: Option<&'o str>,
    /// Folder in which the command runs (default: the current folder).
    pub folder: Option<&'o Path>,
    /// `--state-header`.
    pub header: Option<&'o str>,
    /// CA file of the URL's server (default: system roots).
    pub ca: Option<&'o Path>,
}

/// Why a state is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// The service does not support it.
    #[error("the state hook does not support this state")]
    Unsupported,
    /// The hook failed: its request and its answer, without secrets.
    #[error("{0}")]
    Failed(String),
}

/// An option of a state hook is wrong.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum StateOptionError {
    /// The URL.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Url(#[from] ServerAddressError),
    /// The URL contains a credential.
    #[error("cannot use the value of --state-url: it contains a user name")]
    #[diagnostic(help("remove it, and use --state-header 'Authorization: @FILE'"))]
    UrlCredential,
    /// The command.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Command(#[from] CommandError),
    /// The header is none.
    #[error("cannot use the value of --state-header: it is not a header")]
    #[diagnostic(help("write 'Name: @FILE'; the file holds the value"))]
    Header,
    /// The value of the header is none.
    #[error("cannot use the value of --state-header: it is not one line of text")]
    #[diagnostic(help("write one line without control characters"))]
    HeaderValue,
    /// The file with the value is unreadable.
    #[error("cannot read the value of --state-header from {path}: {why}")]
    #[diagnostic(help("name a text file that holds only the value after @"))]
    HeaderFile {
        /// The file.
        path: String,
        /// The system's error.
        why: std::io::Error,
    },
}

impl StateOptionError {
    /// Whether the option may be right: its host does not resolve now.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Url(ServerAddressError::Unresolved { .. }))
    }
}

/// Timeout of a hook (`docs/services.md`).
const LIMIT: Duration = Duration::from_secs(10);
/// Exit code of a command that does not support a state.
const UNSUPPORTED_CODE: i32 = 3;
/// Characters of an answer that an error shows.
const SHOWN: usize = 400;

impl StatePort {
    /// The hook that the options name, if any.
    pub async fn of_options(options: StateOptions<'_>) -> Result<Option<Self>, StateOptionError> {
        let StateOptions { url, command, folder, header, ca } = options;
        match (url, command) {
            (Some(url), _) => Self::at(url, header, ca).await.map(Some),
            (None, Some(command)) => Self::command(command, folder).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// A hook at a URL. `header`: `Name: value` or `Name: @FILE`.
    async fn at(url: &str, header: Option<&str>, ca: Option<&Path>) -> Result<Self, StateOptionError> {
        let header = header.map(parse_header).transpose()?;
        let parsed = Url::parse(url).ok().filter(Url::has_host);
        let parsed = parsed.ok_or_else(|| ServerAddressError::NotHttp(url.to_owned()))?;
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(StateOptionError::UrlCredential);
        }
        let address = ServerAddress::resolve(&parsed, ca).await?;
        let path = if address.base().is_empty() { "/" } else { "" };
        let query = parsed.query().map(|query| format!("?{query}")).unwrap_or_default();
        Ok(Self::Url { address, end: format!("{path}{query}"), header })
    }

    /// A hook that is a program.
    fn command(line: &str, folder: Option<&Path>) -> Result<Self, StateOptionError> {
        Ok(Self::Command(Filter::new(&CommandLine::parse_in(line, folder)?)))
    }

    /// The secret value of its header.
    pub fn secret(&self) -> Option<&Secret> {
        match self {
            Self::Url { header: Some((_, value)), .. } => Some(value),
            _ => None,
        }
    }
}

impl StateHook {
    /// A hook. The redactor removes secrets from its errors.
    pub fn new(port: StatePort, redactor: Arc<Redactor>) -> Self {
        Self { port, redactor }
    }

    /// Brings the service into a state.
    pub async fn provide(&self, request: &StateRequest) -> Result<StateReply, HookError> {
        match &self.port {
            StatePort::Mock(provider) => provider.provide(request.clone()).await.map_err(|why| match why {
                StateError::Unsupported(_) => HookError::Unsupported,
                StateError::Failed(why) => self.failed(request, &why),
            }),
            StatePort::Url { address, end, header } => {
                let mut draft = Draft::new("POST", end)
                    .header("Content-Type", "application/json")
                    .body(Body::Sized(json(request).into()));
                if let Some((name, value)) = header {
                    draft = draft.header(name, value.expose());
                }
                let sent = tokio::time::timeout(LIMIT, edgeproof_http::send(address, &draft, LIMIT)).await;
                let answer = sent.map_or_else(|_| Err(NoAnswer::TimedOut(LIMIT)), |sent| sent.reply);
                let answer = answer.map_err(|why| self.failed(request, &why.to_string()))?;
                match answer.status {
                    200 => self.reply(request, &answer.body),
                    501 => Err(HookError::Unsupported),
                    status => {
                        let body = self.shown(request, &answer.body);
                        Err(self
                            .failed(request, &format!("it answered {status} {body}; expected 200 or 501")))
                    }
                }
            }
            StatePort::Command(filter) => {
                let output = filter.run(json(request).as_bytes(), LIMIT).await;
                let output = output.map_err(|why| self.failed(request, &why.to_string()))?;
                match output.status.code() {
                    Some(0) => self.reply(request, &output.stdout),
                    Some(UNSUPPORTED_CODE) => Err(HookError::Unsupported),
                    _ => {
                        let wrote = self.shown(
                            request,
                            if output.stderr.is_empty() { &output.stdout } else { &output.stderr },
                        );
                        let status = output.status;
                        Err(self.failed(
                            request,
                            &format!("it ended with {status} and wrote {wrote}; expected exit code 0 or 3"),
                        ))
                    }
                }
            }
        }
    }

    /// Reads an answer: empty, or one object of JSON.
    fn reply(&self, request: &StateRequest, body: &[u8]) -> Result<StateReply, HookError> {
        if body.trim_ascii().is_empty() {
            return Ok(StateReply::default());
        }
        serde_json::from_slice(body).map_err(|why| {
            self.failed(
                request,
                &format!("it answered {}; expected an object of JSON: {why}", self.shown(request, body)),
            )
        })
    }

    /// Secrets that were learned later are hidden as well.
    pub fn redact_with(&mut self, redactor: Arc<Redactor>) {
        self.redactor = redactor;
    }

    /// The beginning of an answer, without secrets.
    fn shown(&self, request: &StateRequest, text: &[u8]) -> String {
        // The answer holds a token that nobody knows yet.
        if matches!(request, StateRequest::Credential { .. }) {
            return format!("[{} bytes, hidden]", text.len());
        }
        let text = String::from_utf8_lossy(text);
        // Before it is cut or escaped: neither may hide a secret from the redactor.
        let text = self.redactor.redact(text.trim());
        let cut: String = text.chars().take(SHOWN).collect();
        if cut.is_empty() { "nothing".to_owned() } else { format!("{cut:?}") }
    }

    /// The error of an answer that does not fit its request.
    pub fn failed(&self, request: &StateRequest, why: &str) -> HookError {
        let text = format!("the state hook failed for {}: {why}", json(request));
        HookError::Failed(self.redactor.redact(&text).into_owned())
    }
}

fn json(request: &StateRequest) -> String {
    serde_json::to_string(request).expect("a request is plain data")
}

/// Name and value of a header; the value may be in a file.
fn parse_header(text: &str) -> Result<(String, Secret), StateOptionError> {
    let (name, value) = text.split_once(':').ok_or(StateOptionError::Header)?;
    let (name, value) = (name.trim(), value.trim());
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || value.is_empty() || !name.bytes().all(is_token) {
        return Err(StateOptionError::Header);
    }
    let value = match value.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path)
            .map_err(|why| StateOptionError::HeaderFile { path: path.to_owned(), why })?,
        None => value.to_owned(),
    };
    let value = value.trim();
    if value.is_empty() || value.chars().any(char::is_control) {
        return Err(StateOptionError::HeaderValue);
    }
    Ok((name.to_owned(), Secret::new(value)))
}

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::str::FromStr;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use edgeproof_fixtures::credentials::{EdgeSettings, Redactor};
use edgeproof_fixtures::spec::{Endpoint, Spec};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use url::Url;

use super::mark::MARK;
use super::port::{HOST, free_port, is_taken};
use super::process::{Process, ProcessStart};
use super::running::LAST;
use super::{CommandLine, LaunchError, LogTail, RunningProgram, listeners};
use edgeproof_http::{Draft, NoAnswer, ServerAddress, send};
use edgeproof_reports::escape::visible;

/// Number of attempts when another program takes the chosen port.
const ATTEMPTS: usize = 3;
/// Timeout of one probe.
const PROBE_LIMIT: Duration = Duration::from_secs(2);
/// Pause after the first failed probe. Each pause is 25 % longer, up to the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// Maximum length of a quoted line of output (characters).
const LONGEST_SHOWN: usize = 500;
/// Maximum pause between probes.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// Concurrent starts. Each program needs a CPU to become ready within its timeout.
static STARTS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(2, |cores| cores.get().max(2))));

/// Launch of an edge as a program, with its ready check.
///
/// The environment contains the interface's settings that the configuration sets; omitted settings are unset.
/// The variable of [`PortName`] and `HOST` say where to listen. All other variables are inherited.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Command to start.
    pub command: CommandLine,
    /// Environment variable with the port.
    pub port_name: PortName,
    /// Scheme of the edge.
    pub scheme: Scheme,
    /// CA file for the edge's certificate (default: system roots). A program with another certificate never becomes
    /// ready, and the error names the certificate.
    pub ca: Option<PathBuf>,
    /// Path of the health check that tells when it is ready (default: that of the current interface).
    pub ready_path: String,
    /// Environment variables of the settings, in the order of [`EdgeSettings::NAMES`] (default: these names).
    pub variables: [String; EdgeSettings::NAMES.len()],
    /// Timeout for the first answer.
    pub ready_timeout: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
}

/// Scheme that an edge serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Plain HTTP at `127.0.0.1`.
    #[default]
    Http,
    /// HTTPS at `localhost`, because few certificates name an IP address.
    Https,
}

/// Name of the environment variable with a program's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortName(String);

/// Invalid name for the port variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("cannot use {name:?} as the variable for the port: {why}")]
#[diagnostic(help(
    "--port-env takes the name of the variable in which the program looks for its port, such as PORT"
))]
pub struct PortNameError {
    name: String,
    why: &'static str,
}

impl Launch {
    /// Defaults: `PORT`, `http`, ready timeout 10 s, 2 s from SIGTERM to SIGKILL.
    pub fn new(command: CommandLine) -> Self {
        Self {
            command,
            port_name: PortName::default(),
            scheme: Scheme::default(),
            ca: None,
            ready_path: Spec::current().path(Endpoint::Health).to_owned(),
            variables: EdgeSettings::NAMES.map(str::to_owned),
            ready_timeout: Duration::from_secs(10),
            grace: Duration::from_secs(2),
        }
    }

    /// The launch of an edge of this version: its health check and the names of its settings.
    #[must_use]
    pub fn of_version(self, spec: &Spec) -> Self {
        Self {
            ready_path: spec.path(Endpoint::Health).to_owned(),
            variables: EdgeSettings::NAMES.map(|name| spec.variable(name).to_owned()),
            ..self
        }
    }

    /// Starts the program and waits until it answers HTTP with any status.
    ///
    /// Dropping the future ends the program.
    pub async fn start(&self, settings: &EdgeSettings) -> Result<RunningProgram, LaunchError> {
        self.start_on(settings, free_port).await
    }

    /// The port is released just before the program binds it. If another program is faster, the start is repeated.
    async fn start_on(
        &self,
        settings: &EdgeSettings,
        mut ports: impl FnMut() -> io::Result<u16>,
    ) -> Result<RunningProgram, LaunchError> {
        let _start = STARTS.acquire().await.expect("the semaphore is never closed");
        let mut attempt = 1;
        loop {
            let port = ports().map_err(LaunchError::NoPort)?;
            match self.attempt(settings, port).await {
                Err(LaunchError::ExitedEarly { last, .. })
                    if attempt < ATTEMPTS && (is_taken(port) || tells_of_a_taken_port(&last)) =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    async fn attempt(&self, settings: &EdgeSettings, port: u16) -> Result<RunningProgram, LaunchError> {
        let endpoint =
            ServerAddress::resolve(&self.url(port), self.ca.as_deref()).await?.at((HOST, port).into());
        let words = self.command.fill(&HOST.to_string(), port).into_iter().map(OsString::from).collect();
        let environment = self.environment(settings, port);
        let folder = self.command.folder().map(Path::to_owned);
        let process = Process::spawn(&ProcessStart {
            words,
            folder,
            environment,
            grace: self.grace,
            stdin_open: false,
        })
        .map_err(|why| LaunchError::NotStarted { command: self.command.as_str().to_owned(), why })?;
        let probed = tokio::select! {
            answered = self.answers(&endpoint) => answered.map_err(StartFailure::NotReady),
            status = process.exit() => Err(StartFailure::Exited(status)),
        };
        let Err(failure) = probed else {
            return Ok(RunningProgram { endpoint, ready_path: self.ready_path.clone(), process });
        };
        let listens_on = listeners::of(process.descendants());
        let log = process.stop().await;
        let (command, last) = (self.command.as_str().to_owned(), last_lines(&log, settings));
        Err(match failure {
            StartFailure::Exited(status) => LaunchError::ExitedEarly { command, status, last },
            StartFailure::NotReady(observed) => LaunchError::NotReady {
                command: command.into(),
                url: endpoint.url().clone(),
                port_name: self.port_name.0.as_str().into(),
                ready_path: self.ready_path.as_str().into(),
                after: self.ready_timeout,
                observed,
                listens_on,
                last,
            },
        })
    }

    /// Probes until an answer or the timeout. The error is the result of the last probe.
    async fn answers(&self, endpoint: &ServerAddress) -> Result<(), NoAnswer> {
        let deadline = Instant::now() + self.ready_timeout;
        let mut pause = FIRST_PAUSE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Err(observed) =
                probe(endpoint, &self.ready_path, in_milliseconds(left.min(PROBE_LIMIT))).await
            else {
                return Ok(());
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(observed);
            }
            sleep(pause.min(left)).await;
            pause = (pause * 5 / 4).min(LONGEST_PAUSE);
        }
    }

    fn url(&self, port: u16) -> Url {
        let text = match self.scheme {
            Scheme::Http => format!("http://{HOST}:{port}/"),
            Scheme::Https => format!("https://localhost:{port}/"),
        };
        Url::parse(&text).expect("a scheme, a host and a number make a URL")
    }

    fn environment(&self, settings: &EdgeSettings, port: u16) -> Vec<(String, Option<OsString>)> {
        let mut environment: Vec<(String, Option<OsString>)> = Vec::new();
        let set = settings.env();
        for (name, variable) in EdgeSettings::NAMES.into_iter().zip(&self.variables) {
            let value = set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.clone());
            environment.push((variable.clone(), value));
        }
        environment.push(("HOST".into(), Some(HOST.to_string().into())));
        environment.push((self.port_name.0.clone(), Some(port.to_string().into())));
        environment
    }
}

/// Sends one health check to this path. Any HTTP answer means ready.
pub async fn probe(endpoint: &ServerAddress, path: &str, limit: Duration) -> Result<(), NoAnswer> {
    send(endpoint, &Draft::new("GET", path), limit).await.reply.map(drop)
}

/// Whether the output names a taken port. A short-lived client connection can hold the port and release it before
/// [`is_taken`] looks. The texts are the system's, as runtimes print them.
fn tells_of_a_taken_port(last: &[String]) -> bool {
    last.iter()
        .any(|line| line.to_lowercase().contains("address already in use") || line.contains("EADDRINUSE"))
}

/// Rounds to whole milliseconds, at least one.
fn in_milliseconds(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1))
}

impl Default for PortName {
    fn default() -> Self {
        Self("PORT".into())
    }
}

impl FromStr for PortName {
    type Err = PortNameError;

    fn from_str(name: &str) -> Result<Self, PortNameError> {
        let refuse = |why| Err(PortNameError { name: name.to_owned(), why });
        if name.is_empty() {
            return refuse("it is empty");
        }
        if name.contains(['=', '\0']) || name.contains(char::is_whitespace) {
            return refuse("it is not a valid variable name");
        }
        if ["HOST", MARK].contains(&name) || EdgeSettings::NAMES.contains(&name) {
            return refuse("edgeproof uses this variable itself");
        }
        Ok(Self(name.to_owned()))
    }
}

/// Last lines of the output as the program wrote them: redacted, shortened, control characters escaped.
fn last_lines(log: &LogTail, settings: &EdgeSettings) -> Vec<String> {
    let mut secrets = Redactor::empty();
    if let Some(license) = &settings.license {
        secrets.add("license", license.expose());
    }
    // The program cannot have printed a key that is unreadable.
    if let Some(key) = settings.client_key_file.as_ref().and_then(|file| fs::read_to_string(file).ok()) {
        secrets.add("client key", &key);
    }
    log.last(LAST)
        .iter()
        // Redacted before it is shortened: the redactor does not recognise half a secret.
        .map(|line| visible(&shortened(&secrets.redact(&line.text))).into_owned())
        .collect()
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.to_owned(),
    }
}

enum StartFailure {
    Exited(ExitStatus),
    NotReady(NoAnswer),
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::HeldPort;
    use super::*;

    async fn ports_asked_for(taken: &[u16], command: &str) -> (usize, Result<RunningProgram, LaunchError>) {
        let launch = Launch::new(CommandLine::parse(command).unwrap());
        let mut asked = 0;
        let ports = || {
            asked += 1;
            taken.get(asked - 1).map_or_else(free_port, |port| Ok(*port))
        };
        let result = launch.start_on(&EdgeSettings::default(), ports).await;
        (asked, result)
    }

    #[tokio::test]
    async fn taken_port_is_replaced() {
        let held = HeldPort::bind().unwrap();
        let taken = held.addr().port();
        for (taken, expected) in [(&[][..], 1), (&[taken], 2), (&[taken, taken], 3), (&[taken; 5], 3)] {
            let (asked, result) = ports_asked_for(taken, "sh -c 'exit 1'").await;
            assert_eq!(asked, expected);
            assert!(matches!(result, Err(LaunchError::ExitedEarly { .. })), "{result:?}");
        }
    }

    #[rstest]
    #[case("Error: listen EADDRINUSE: address already in use 127.0.0.1:8080", 3)]
    #[case("OSError: [Errno 98] Address already in use", 3)]
    #[case("LICENSE is not set", 1)]
    #[tokio::test]
    async fn briefly_taken_port_is_replaced(#[case] last: &str, #[case] expected: usize) {
        let command = format!("sh -c {}", shell_words::quote(&format!("echo '{last}' >&2; exit 1")));
        assert_eq!(ports_asked_for(&[], &command).await.0, expected);
    }

    #[rstest]
    #[case("PORT", true)]
    #[case("EDGE_PORT", true)]
    #[case("npm_config_port", true)]
    #[case("", false)]
    #[case("A=B", false)]
    #[case("A B", false)]
    #[case("HOST", false)]
    #[case("LICENSE", false)]
    #[case("EDGEPROOF_LAUNCH", false)]
    fn invalid_port_variable_name_is_an_error(#[case] name: &str, #[case] good: bool) {
        assert_eq!(name.parse::<PortName>().is_ok(), good);
    }
}

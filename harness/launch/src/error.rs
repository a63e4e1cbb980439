use std::fmt::{self, Write as _};
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use humantime::format_duration;
use url::Url;

use edgeproof_http::{NoAnswer, ServerAddressError};

/// Failed start of a program. Quoted output is redacted.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The system has no free port.
    #[error("cannot find a free port on 127.0.0.1: {0}")]
    NoPort(io::Error),
    /// The system refused to start the program, although the file exists.
    #[error("cannot start `{command}`: {why}")]
    NotStarted {
        /// Command, as given.
        command: String,
        /// Error of the system.
        why: io::Error,
    },
    /// The program exited before it answered.
    #[error("cannot start `{command}`: it exited with {status} before it answered")]
    ExitedEarly {
        /// Command, as given.
        command: String,
        /// Exit status.
        status: ExitStatus,
        /// Last lines of its output.
        last: Vec<String>,
    },
    /// The program runs but did not answer in time.
    #[error("cannot start `{command}`: it did not answer at {url} within {}; last probe: {observed}", format_duration(*after))]
    NotReady {
        /// Command, as given.
        command: Box<str>,
        /// URL that was probed.
        url: Url,
        /// Environment variable with the port.
        port_name: Box<str>,
        /// Path of the probes.
        ready_path: Box<str>,
        /// Ready timeout.
        after: Duration,
        /// Result of the last probe.
        observed: NoAnswer,
        /// Addresses that the program and its children listened on, where the system shows them.
        listens_on: Vec<std::net::SocketAddr>,
        /// Last lines of its output.
        last: Vec<String>,
    },
    /// The address of the program is unusable.
    #[error(transparent)]
    Address(#[from] ServerAddressError),
}

impl LaunchError {
    /// Last lines of the program's output, redacted.
    pub fn last_output(&self) -> &[String] {
        match self {
            Self::ExitedEarly { last, .. } | Self::NotReady { last, .. } => last,
            _ => &[],
        }
    }

    /// What to do.
    pub fn advice(&self) -> String {
        advice(self)
    }
}

impl miette::Diagnostic for LaunchError {
    /// Last output, and advice.
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        if let Self::Address(error) = self {
            return error.help();
        }
        let mut text = String::new();
        for (position, line) in self.last_output().iter().enumerate() {
            let before = if position == 0 { "its last output:\n" } else { "" };
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{before}  | {line}");
        }
        text.push_str(&self.advice());
        Some(Box::new(text))
    }
}

fn advice(error: &LaunchError) -> String {
    match error {
        LaunchError::NoPort(_) => "close programs that hold many connections, or raise the limit on open files".into(),
        LaunchError::NotStarted { .. } => {
            "check the interpreter in its first line, and that it is built for this machine".into()
        }
        LaunchError::ExitedEarly { last, .. } if last.is_empty() => {
            "it printed nothing; run the command by hand: an edge must run until it gets SIGTERM".into()
        }
        LaunchError::ExitedEarly { .. } => {
            "an edge runs until it gets SIGTERM, and it must start without the settings that a configuration omits".into()
        }
        LaunchError::NotReady { url, port_name, ready_path, listens_on, observed, .. } => {
            not_ready(url, port_name, ready_path, listens_on, observed)
        }
        LaunchError::Address(_) => String::new(),
    }
}

fn not_ready(
    url: &Url,
    port_name: &str,
    ready_path: &str,
    listens_on: &[std::net::SocketAddr],
    observed: &NoAnswer,
) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    let elsewhere: Vec<String> =
        listens_on.iter().filter(|at| at.port() != port).map(ToString::to_string).collect();
    let listens = listens_on.iter().any(|at| at.port() == port);
    match observed {
        NoAnswer::NoTls(why) => why.advice("--edge-ca", "omit --edge-scheme https"),
        _ if !elsewhere.is_empty() && !listens => format!(
            "it listens on {}, not on the port in the variable {port_name}; if it reads another variable, use --port-env \
             NAME, or put {{port}} into the command",
            elsewhere.join(", ")
        ),
        _ if listens => format!(
            "it listens, but did not answer GET {ready_path} in HTTP; if it speaks TLS, use --edge-scheme https"
        ),
        _ => format!(
            "it must listen on 127.0.0.1 and the port in the variable {port_name}; if it reads another variable, use \
             --port-env NAME, or put {{port}} into the command; if it needs longer, raise --ready-timeout"
        ),
    }
}

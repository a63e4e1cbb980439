use std::fmt::{self, Write as _};
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use humantime::format_duration;
use url::Url;

use edgeproof_http::{NoAnswer, ServerAddressError};

/// Why a program did not start. Its quoted output is redacted.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The system has no port left.
    #[error("find a free port on 127.0.0.1: {0}")]
    NoPort(io::Error),
    /// The system did not start the program, although it was there when it was looked up.
    #[error("start `{command}`: {why}")]
    NotStarted {
        /// The command as it was given.
        command: String,
        /// What the system said.
        why: io::Error,
    },
    /// The program ended before it answered.
    #[error("start `{command}`: it ended with {status} before it answered")]
    ExitedEarly {
        /// The command as it was given.
        command: String,
        /// Its exit status.
        status: ExitStatus,
        /// The last lines that it wrote.
        last: Vec<String>,
    },
    /// The program runs, and does not answer.
    #[error("start `{command}`: it did not answer at {url} within {}; the last try saw: {saw}", format_duration(*after))]
    NotReady {
        /// The command as it was given.
        command: String,
        /// Where it should have answered.
        url: Url,
        /// The variable that told it its port.
        port_name: String,
        /// How long it was waited for.
        after: Duration,
        /// What the last try saw.
        saw: NoAnswer,
        /// Where the program and its children listened instead, as far as that can be seen.
        listens_on: Vec<std::net::SocketAddr>,
        /// The last lines that it wrote.
        last: Vec<String>,
    },
    /// Its address cannot be used.
    #[error(transparent)]
    Address(#[from] ServerAddressError),
}

impl LaunchError {
    /// The last lines that the program wrote, redacted.
    pub fn last_output(&self) -> &[String] {
        match self {
            Self::ExitedEarly { last, .. } | Self::NotReady { last, .. } => last,
            _ => &[],
        }
    }
}

impl miette::Diagnostic for LaunchError {
    /// What the program wrote, and what to do.
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        if let Self::Address(error) = self {
            return error.help();
        }
        let mut text = String::new();
        for (position, line) in self.last_output().iter().enumerate() {
            let before = if position == 0 { "its last output:\n" } else { "" };
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{before}  | {line}");
        }
        text.push_str(&advice(self));
        Some(Box::new(text))
    }
}

fn advice(error: &LaunchError) -> String {
    match error {
        LaunchError::NoPort(_) => "close programs that hold many connections, or raise the limit on open files".into(),
        LaunchError::NotStarted { .. } => {
            "check the interpreter that its first line names, and that it is built for this machine".into()
        }
        LaunchError::ExitedEarly { last, .. } if last.is_empty() => {
            "it wrote nothing: start it by hand and see; an edge keeps running until it is ended".into()
        }
        LaunchError::ExitedEarly { .. } => {
            "an edge keeps running until it is ended; settings that a case leaves out are not in its environment, and it must \
             start without them"
                .into()
        }
        LaunchError::NotReady { url, port_name, listens_on, saw, .. } => not_ready(url, port_name, listens_on, saw),
        LaunchError::Address(_) => String::new(),
    }
}

fn not_ready(url: &Url, port_name: &str, listens_on: &[std::net::SocketAddr], saw: &NoAnswer) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    let elsewhere: Vec<String> =
        listens_on.iter().filter(|at| at.port() != port).map(ToString::to_string).collect();
    let listens = listens_on.iter().any(|at| at.port() == port);
    match saw {
        NoAnswer::NoTls(_) => {
            "check its certificate: it must be for localhost, from the authority in --edge-ca FILE; leave out --edge-scheme https \
             if it speaks plain HTTP"
                .into()
        }
        _ if !elsewhere.is_empty() && !listens => format!(
            "it listens on {}: it has to listen on the port that the variable {port_name} names; if it looks elsewhere, say \
             --port-env NAME, or put {{port}} into the command",
            elsewhere.join(", ")
        ),
        _ if listens => "it listens, but gave no HTTP answer to GET /health; if it speaks TLS, say --edge-scheme https".into(),
        _ => format!(
            "it has to listen on 127.0.0.1 and the port that the variable {port_name} names; if it looks elsewhere, say --port-env \
             NAME, or put {{port}} into the command; if it needs longer, raise --ready-timeout"
        ),
    }
}

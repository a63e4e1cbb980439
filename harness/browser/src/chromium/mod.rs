use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chromiumoxide::cdp::browser_protocol::browser::{CloseParams, GetVersionParams};
use edgeproof_launch::{LogTail, Process, ProcessStart};
use tempfile::TempDir;
use tokio::time::timeout;

mod arguments;
mod connection;
mod page;
mod page_state;
mod recording;

pub use page::Page;

use crate::{BrowserError, ChromiumOptions, PageOptions};
use connection::{CommandFailure, Connection};
use recording::text;

/// Timeout of a start.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// Timeout of an end in order, which lets Chromium finish its files. On a busy machine it takes seconds.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);
/// Lines of output that an error quotes.
const LAST: usize = 5;
/// Text before the URL of the debugging connection.
const LISTENING: &str = "DevTools listening on ";

/// Starts Chromium with our standard input as its debugging pipe, and deletes the folder `$0` when Chromium ends. Chromium
/// ends when the pipe closes, so that even SIGKILL of this process leaves neither. The protocol itself goes over WebSocket.
const SHELL: &str = r#""$@" 3<&0 4>/dev/null </dev/null; code=$?; rm -rf -- "$0"; exit $code"#;

/// Running Chromium. Dropping it ends its processes and deletes its profile.
///
/// The drop blocks until then, usually for a fraction of a second; [`Chromium::close`] does not block the runtime. Chromium
/// and its profile also go when this process is killed.
#[derive(Debug)]
pub struct Chromium {
    connection: Connection,
    executable: PathBuf,
    version: String,
    // Before the folder: fields are dropped in this order.
    process: Process,
    folder: TempDir,
}

impl Chromium {
    /// Starts Chromium with a fresh profile.
    pub async fn launch(options: ChromiumOptions) -> Result<Self, BrowserError> {
        let executable = crate::find_chromium(options.executable.as_deref())?;
        let failed = |why: String, last: Vec<String>| BrowserError::Start {
            executable: executable.clone(),
            why,
            last,
        };
        let folder =
            new_folder().map_err(|why| failed(format!("cannot create its profile: {why}"), Vec::new()))?;
        let start = start(&executable, folder.path(), &options.trusted_spki);
        let process = Process::spawn(&start).map_err(|why| failed(why.to_string(), Vec::new()))?;
        let connected = tokio::select! {
            connected = timeout(START_LIMIT, connect(process.log())) => connected,
            status = process.exit() => Ok(Err(format!("it exited with {status}"))),
        };
        let connected = connected.unwrap_or_else(|_| {
            let limit = humantime::format_duration(START_LIMIT);
            Err(format!("it offered no debugging connection within {limit}"))
        });
        match connected {
            Ok((connection, version)) => Ok(Self { connection, executable, version, process, folder }),
            Err(why) => {
                let log = process.stop().await;
                Err(failed(why, last_lines(&log)))
            }
        }
    }

    /// Product and version, such as `Chrome/156.0.1.2`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Executable that runs.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Opens a page in a context of its own, without cookies and storage of other pages.
    pub async fn open(&self, page: PageOptions) -> Result<Page, BrowserError> {
        tokio::select! {
            biased;
            () = self.connection.ended() => {
                Err(BrowserError::Ended { last: last_lines(self.process.log()) })
            }
            page = Page::open(&self.connection, page) => page,
        }
    }

    /// Ends the browser without blocking the runtime.
    pub async fn close(self) {
        let Self { connection, process, folder, .. } = self;
        // SIGTERM would also end the processes that write files.
        connection.send(None, &CloseParams::default());
        let _ = timeout(CLOSE_LIMIT, process.exit()).await;
        process.stop().await;
        // Fails only while the runtime shuts down: the drop deletes the folder as well.
        let _ = tokio::task::spawn_blocking(move || drop(folder)).await;
    }

    /// Process id of the shell that waits for Chromium, which leads the process group.
    #[doc(hidden)]
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Folder with the profile and all other files.
    #[doc(hidden)]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// Folder for everything that Chromium writes.
fn new_folder() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("edgeproof-chromium-").tempdir()?;
    std::fs::create_dir(folder.path().join("tmp"))?;
    Ok(folder)
}

fn start(executable: &Path, folder: &Path, trusted_spki: &[String]) -> ProcessStart {
    let mut words: Vec<OsString> =
        vec!["/bin/sh".into(), "-c".into(), SHELL.into(), folder.into(), executable.into()];
    words.extend(arguments::arguments(&folder.join("profile"), trusted_spki));
    let variable = |name: &str, folder: PathBuf| (name.to_owned(), Some(folder.into_os_string()));
    let environment = vec![
        variable("TMPDIR", folder.join("tmp")),
        variable("XDG_CACHE_HOME", folder.join("cache")),
        variable("XDG_CONFIG_HOME", folder.join("config")),
        variable("XDG_DATA_HOME", folder.join("data")),
    ];
    ProcessStart { words, folder: None, environment, grace: GRACE, stdin_open: true }
}

/// Connects as soon as the log names the URL. Yields the version as well.
async fn connect(log: &LogTail) -> Result<(Connection, String), String> {
    let lines =
        log.wait(0, START_LIMIT, |lines| lines.iter().any(|line| line.text.starts_with(LISTENING))).await;
    let url = lines.iter().find_map(|line| line.text.strip_prefix(LISTENING)).ok_or("it printed no URL")?;
    let connection = Connection::open(url.trim()).await?;
    let version = connection.execute(None, &GetVersionParams {}).await;
    let version = version.map_err(|why: CommandFailure| why.to_string())?;
    Ok((connection, text(&version, "/product").to_owned()))
}

fn last_lines(log: &LogTail) -> Vec<String> {
    log.last(LAST).iter().map(|line| line.visible().into_owned()).collect()
}

use std::path::PathBuf;

/// Command that installs Chromium on this kind of system.
pub const INSTALL_CHROMIUM: &str =
    if cfg!(target_os = "macos") { "brew install --cask chromium" } else { "sudo apt-get install chromium" };

/// Failure of the browser itself. What the page does wrong is a [`CallOutcome`](crate::CallOutcome).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum BrowserError {
    /// The program was built without the feature `chromium`.
    #[error("cannot start Chromium: this program was built without browser support")]
    #[diagnostic(help(
        "build it with the feature `collector`: cargo run --features collector -- conformance collector"
    ))]
    NotBuiltIn,
    /// No Chromium is installed.
    #[error("cannot find Chromium: searched {}", places.join(", "))]
    #[diagnostic(help("install it with `{INSTALL_CHROMIUM}`, or name it with --chromium FILE or in CHROME"))]
    NotFound {
        /// Names and files that were tried.
        places: Vec<String>,
    },
    /// The executable that the user named cannot be used.
    #[error("cannot use {} as Chromium, given by {given_by}: {why}", executable.display())]
    #[diagnostic(help(
        "name the executable of Chromium or Chrome 133 or newer, or leave it out to search for one"
    ))]
    Unusable {
        /// Executable, as given.
        executable: PathBuf,
        /// Source of the name: `--chromium` or `CHROME`.
        given_by: &'static str,
        /// Reason.
        why: String,
    },
    /// Chromium did not start.
    #[error("cannot start {}: {why}", executable.display())]
    #[diagnostic(help(
        "{}",
        with_output(last, "start it by hand with --headless=new --dump-dom about:blank")
    ))]
    Start {
        /// Executable.
        executable: PathBuf,
        /// Reason.
        why: String,
        /// Last lines of its output.
        last: Vec<String>,
    },
    /// Chromium ended or lost its connection during the run.
    #[error("Chromium ended during the run")]
    #[diagnostic(help(
        "{}",
        with_output(last, "run it again; if it happens again, give the browser more memory")
    ))]
    Ended {
        /// Last lines of its output.
        last: Vec<String>,
    },
    /// The page did not load.
    #[error("cannot open {url} in Chromium: {why}")]
    #[diagnostic(help("the browser reaches this machine only: localhost, 127.0.0.1 and names below .test"))]
    Open {
        /// URL of the page.
        url: String,
        /// Reason.
        why: String,
    },
    /// A script of the harness failed in the page.
    #[error("cannot evaluate a script in the page: {why}")]
    Evaluate {
        /// Reason.
        why: String,
    },
}

fn with_output(last: &[String], advice: &str) -> String {
    if last.is_empty() {
        return advice.to_owned();
    }
    format!("its last output:\n  | {}\n{advice}", last.join("\n  | "))
}

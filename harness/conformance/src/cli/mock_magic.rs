//! The pairing table that `edgeproof mock --magic` prints.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use edgeproof_fixtures::spec::Spec;
use serde_json::json;

use edgeproof_cli::Failure;
use edgeproof_mock::magic::{Carrier, Magic};

/// Prints the magic values of a version, for people or as one line of JSON.
pub(super) fn print(spec: &Spec, as_json: bool) -> Result<(), Failure> {
    let magic = Magic::of(spec);
    let text = if as_json { format!("{}\n", json!({ "magic": magic.pairs() })) } else { text(&magic) };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(why) if why.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("write to standard output: {why}"), "check where it goes"))
        }
        _ => Ok(()),
    }
}

fn text(magic: &Magic) -> String {
    let mut text = String::from(
        "# A mock service answers these with the row beside them, whatever else is in the request; other services refuse\n\
         # them. A session reference goes into a collection for relay rows, and into the path for verdict rows; anything\n\
         # may follow it behind a ~, and any number may stand before ms.\n",
    );
    let width = magic.pairs().iter().map(|pair| pair.value.len()).max().unwrap_or(0);
    for carrier in [Carrier::License, Carrier::ReadToken, Carrier::SessionRef] {
        _ = writeln!(text, "\n{}", carrier.name());
        for pair in magic.pairs().iter().filter(|pair| pair.carrier == carrier) {
            let code = pair.code.as_deref().unwrap_or("-");
            let after = pair.after_ms.map_or(String::new(), |millis| format!(" after {millis} ms"));
            _ = writeln!(text, "  {:width$}  {} {code}{after}  {}", pair.value, pair.status, pair.stimulus);
        }
    }
    text
}

use std::fmt::Write as _;

use edgeproof_cli::{Failure, write_stdout};
use edgeproof_fixtures::spec::Spec;
use edgeproof_mock::magic::{Carrier, Magic};
use serde_json::json;

/// Prints the magic values of an interface version, as a table or as one line of JSON.
pub(super) fn print(spec: &Spec, as_json: bool) -> Result<(), Failure> {
    let magic = Magic::of(spec);
    let text = if as_json { format!("{}\n", json!({ "magic": magic.pairs() })) } else { text(&magic) };
    write_stdout(text.as_bytes())
}

fn text(magic: &Magic) -> String {
    let mut text = String::from(
        "# The mock service answers each value with the row beside it; other services refuse the values.\n\
         # Put a session reference into a collection for relay rows, and into the path for verdict rows.\n\
         # Any text may follow a reference after a ~, and any number may precede ms.\n",
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

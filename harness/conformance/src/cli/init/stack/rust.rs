use std::fs;
use std::path::Path;

use edgeproof_cli::Failure;

use super::manifest::manifest;
use super::proposal::Proposal;

/// The compiled program, so that the edge starts fast.
pub(super) const STEPS: &str = "      - run: cargo build\n";
/// The first start compiles.
const READY_TIMEOUT: &str = "2m";

/// The program of Cargo.toml, if it has one.
pub(super) fn proposal(folder: &Path) -> Result<Option<Proposal>, Failure> {
    let cargo: toml::Table =
        manifest(folder, "Cargo.toml", |text| text.parse().map_err(|why: toml::de::Error| why.to_string()))?;
    let default = cargo.get("package").and_then(|package| package.get("default-run"));
    let mut programs = Vec::new();
    if folder.join("src/main.rs").is_file() {
        programs.push(None);
    }
    let named = cargo.get("bin").and_then(toml::Value::as_array).into_iter().flatten();
    // A table may only describe src/main.rs.
    let named = named.filter(|bin| bin.get("path").and_then(toml::Value::as_str) != Some("src/main.rs"));
    programs.extend(named.filter_map(|bin| Some(Some(bin.get("name")?.as_str()?.to_owned()))));
    let files = fs::read_dir(folder.join("src/bin")).into_iter().flatten().filter_map(Result::ok);
    let files = files.filter_map(|file| file.path().file_stem()?.to_str().map(str::to_owned));
    for name in files {
        if !programs.contains(&Some(name.clone())) {
            programs.push(Some(name));
        }
    }
    let launch = match &programs[..] {
        [None] => "cargo run --quiet".to_owned(),
        _ if default.is_some() => "cargo run --quiet".to_owned(),
        [Some(name)] => format!("cargo run --quiet --bin {name}"),
        _ => return Ok(None),
    };
    Ok(Some(Proposal { ready_timeout: Some(READY_TIMEOUT), ..Proposal::new(launch, "Cargo.toml") }))
}

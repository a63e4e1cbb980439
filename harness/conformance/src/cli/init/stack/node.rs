use std::path::Path;

use edgeproof_cli::Failure;
use serde_json::Value;

use super::manifest::manifest;
use super::proposal::Proposal;

/// Names of files that a server often has.
const NAMES: [&str; 5] = ["edge", "server", "index", "app", "main"];
/// Their extensions.
const EXTENSIONS: [&str; 3] = ["mjs", "js", "cjs"];
/// Characters that only a shell understands.
const SHELL: [char; 12] = ['&', '|', ';', '<', '>', '$', '`', '*', '?', '(', '#', '~'];

/// Lock files, and the command that installs what they hold.
const LOCK_FILES: [(&str, &str); 3] = [
    ("package-lock.json", "npm ci"),
    ("pnpm-lock.yaml", "corepack enable && pnpm install --frozen-lockfile"),
    ("yarn.lock", "corepack enable && yarn install"),
];

/// `scripts.start` or `main` of package.json, or else a file with a usual name.
pub(super) fn proposal(folder: &Path) -> Result<Option<Proposal>, Failure> {
    let package: Value =
        manifest(folder, "package.json", |text| serde_json::from_str(text).map_err(|why| why.to_string()))?;
    if let Some(start) = package["scripts"]["start"].as_str() {
        // npm would start a shell and a program of its own each time. It also runs what comes before.
        let is_plain =
            start.starts_with("node ") && !start.contains(SHELL) && package["scripts"]["prestart"].is_null();
        let launch = if is_plain { start } else { "npm start --silent" };
        return Ok(Some(Proposal::new(launch, "scripts.start of package.json")));
    }
    if let Some(main) = package["main"].as_str() {
        let named = [main.to_owned(), format!("{main}.js")];
        if let Some(file) = named.into_iter().find(|file| folder.join(file).is_file()) {
            return Ok(Some(Proposal::new(command(&file), "main of package.json")));
        }
    }
    let files = ["", "src/"].into_iter().flat_map(|within| {
        NAMES.iter().flat_map(move |name| EXTENSIONS.iter().map(move |end| format!("{within}{name}.{end}")))
    });
    let mut files = files.filter(|file| folder.join(file).is_file());
    Ok(files.next().map(|file| Proposal::new(command(&file), "beside package.json")))
}

/// Node, the packages, and the build that TypeScript and others need.
pub(super) fn steps(folder: &Path) -> String {
    let locked = LOCK_FILES.into_iter().find(|(file, _)| folder.join(file).is_file());
    let install = locked.map_or("npm install", |(_, install)| install);
    format!(
        "      - uses: actions/setup-node@v4\n        with:\n          node-version: lts/*\n      - run: {install}\n      - run: npm run build --if-present\n"
    )
}

fn command(file: &str) -> String {
    format!("node {}", shell_words::quote(file))
}

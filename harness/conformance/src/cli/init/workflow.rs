use super::files::WORKFLOW;

/// Address of the repository that holds `action.yml`.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// Host whose repositories a workflow names without it.
const GITHUB: &str = "https://github.com/";

/// The text of the workflow. `steps`: what a job does before the edge can start.
pub(super) fn text(steps: &str) -> String {
    let action = action(REPOSITORY);
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "\
name: edgeproof
on:
  push:
    branches: [main, master]
  pull_request:
permissions:
  contents: read
jobs:
  edge:
    runs-on: ubuntu-24.04
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
{steps}      - uses: {action}@v{version}
        with:
          conformance: edge # its options are in edgeproof.toml
"
    )
}

/// What the user has to know about the workflow.
pub(super) fn note() -> Option<String> {
    let is_placeholder = !REPOSITORY.starts_with(GITHUB);
    is_placeholder.then(|| {
        format!("note: edgeproof has no release yet, so name the folder of its action.yml in {WORKFLOW} (docs/ci.md)")
    })
}

/// A repository as a workflow names it.
fn action(repository: &str) -> &str {
    let path = repository.strip_prefix(GITHUB).or_else(|| repository.split_once("://").map(|(_, rest)| rest));
    path.unwrap_or(repository).trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn action_is_named_by_owner_and_repository() {
        assert_eq!(action("https://github.com/owner/edgeproof"), "owner/edgeproof");
        // The address before a release: two parts as well, so that the file validates.
        assert_eq!(action("https://example.org/edgeproof"), "example.org/edgeproof");
    }
}

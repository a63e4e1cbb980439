//! The modes of collections are those of the version.

use std::fs;
use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_fixtures::seal::{Collection, CollectorMode};
use edgeproof_fixtures::spec::{Spec, Version};
use rstest::rstest;
use tempfile::TempDir;

use super::support::Bench;

#[rstest]
#[case::listed(r#"["full", "lite"]"#, true)]
#[case::not_listed(r#"["full", "slow"]"#, false)]
#[tokio::test]
async fn version_lists_the_modes_of_collections(#[case] modes: &str, #[case] is_accepted: bool) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("next.toml");
    fs::write(&path, format!("[[change]]\nid = \"setting.collector.mode\"\nvalues = {modes}\n")).unwrap();
    let spec = Arc::new(Spec::load(&path).unwrap());
    let bench = Bench::with(Version::Current, |options| options.spec = spec).await;
    let collection = Collection::generated("a-session", 7, SystemTime::now()).mode(CollectorMode::Lite);
    let (status, body) = bench.post(collection.seal(&bench.service.seal_key())).await;
    assert_eq!(status == 200, is_accepted, "{status} {body:?}");
}

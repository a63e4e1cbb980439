//! Nothing right is blamed: the reference edge, varied in everything that the interface leaves free, alone and in
//! pairs, passes every case without a failure or a warning.
#![expect(clippy::unwrap_used, reason = "helpers of tests, which the lints do not know as such")]

mod launched;
mod pairs;
mod played;

use std::sync::Arc;

use edgeproof::target::{Embedded, Target};
use edgeproof_edge::style::Style;
use edgeproof_fixtures::spec::{Spec, Version};

use pairs::{all_pairs, singles};
use played::{Cases, Ground};

/// Styles that are proven side by side.
const SIDE_BY_SIDE: usize = 4;

fn embedded(spec: &Arc<Spec>, style: Style, https: bool, ground: &Ground) -> Target {
    let embedded = Embedded::new(Arc::clone(spec), spec.profile().clone()).style(style);
    let embedded = if https { embedded.https(&ground.credentials, &ground.files) } else { embedded };
    Target::Embedded(Box::new(embedded))
}

/// Proves an edge in each of the styles, and says which were blamed for what.
async fn prove(styles: Vec<Vec<usize>>, version: Version, https: bool, cases: Cases) {
    let spec = Arc::new(Spec::builtin(version));
    let ground = Arc::new(Ground::new());
    let mut waiting = styles.into_iter();
    let mut playing = tokio::task::JoinSet::new();
    let mut blamed = Vec::new();
    loop {
        while playing.len() < SIDE_BY_SIDE
            && let Some(values) = waiting.next()
        {
            let (spec, ground, style) = (Arc::clone(&spec), Arc::clone(&ground), Style::numbered(&values));
            playing.spawn(async move {
                let target = embedded(&spec, style, https, &ground);
                played::blamed(&spec, &ground, target, cases, &format!("{{{}}}", style.differences())).await
            });
        }
        let Some(done) = playing.join_next().await else { break };
        blamed.extend(done.unwrap());
    }
    assert!(blamed.is_empty(), "{}", blamed.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_freedom_alone() {
    prove(singles(Style::FREEDOMS), Version::Current, false, Cases::OneEdge).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pair_of_freedoms() {
    prove(all_pairs(Style::FREEDOMS), Version::Current, false, Cases::All).await;
}

/// Over TLS and HTTP/2, and as the interface was before collections were sealed.
#[tokio::test(flavor = "multi_thread")]
async fn a_few_of_them_elsewhere() {
    let mut styles = all_pairs(Style::FREEDOMS);
    styles.truncate(4);
    prove(styles.clone(), Version::Current, true, Cases::All).await;
    prove(styles, Version::PreSeal, false, Cases::All).await;
}

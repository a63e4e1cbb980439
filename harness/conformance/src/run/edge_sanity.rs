use edgeproof_fixtures::spec::{Fact, Spec, Table};
use miette::Diagnostic;
use serde_json::Value;

use super::SanityProbe;
use super::edge_pool::{EdgePool, EdgeUpstream, LeaseError};
use super::plan;
use super::play::Player;
use crate::cases::{Case, CaseFindings};
use crate::target::Setup;
use edgeproof_http::Answer;

/// What the first conversation says about the sanity that everything else stands on.
#[derive(Debug)]
pub enum SanityResult {
    /// The target can be judged.
    Sound,
    /// It can, but for some cases.
    Partial(Gap),
    /// It cannot: nothing is proven, and this is what to do.
    Unusable(String),
}

/// Where the sanity does not carry.
#[derive(Debug)]
pub struct Gap {
    /// What was found, and what to do.
    pub finding: String,
    /// The cases that cannot be played.
    pub concerns: fn(&Case) -> bool,
    /// What is said at each of them.
    pub because: &'static str,
}

/// The sanity is judged whatever was filtered, by a conversation of its own where `sanity.first` is not planned.
pub(super) async fn of_edges(player: &Player<EdgePool>) -> SanityResult {
    if let EdgeUpstream::Nothing(_, wanted) = player.runner.options().behind {
        return without_service(player, wanted).await;
    }
    let probe: SanityProbe = player.probe_sanity().await;
    let sanity = match probe {
        Ok(found) => judge(&player.runner.options().spec, &found, player.runner.starts_edges()),
        Err(why) => SanityResult::Unusable(told(&why)),
    };
    match (sanity, player.reasons()) {
        (SanityResult::Sound, reasons) => match reasons.await {
            Some(saw) => SanityResult::Partial(reads_no_reason(&saw)),
            None => SanityResult::Sound,
        },
        (sanity, _) => sanity,
    }
}

/// Why there is no edge: with what it wrote last, and what to do.
fn told(why: &LeaseError) -> String {
    let text = format!("failed to {}", edgeproof_cli::error_text(why));
    why.help().map_or(text.clone(), |help| format!("{text}\n{help}"))
}

/// An edge that is there, and that nothing of ours stands behind.
async fn without_service(player: &Player<EdgePool>, wanted: bool) -> SanityResult {
    let place = player.runner.reserve(Setup::Standard, false).await;
    match player.runner.lease(place).await {
        Err(why) => SanityResult::Unusable(told(&why)),
        Ok(_) if wanted => SanityResult::Sound,
        Ok(_) => SanityResult::Unusable(
            "nothing of edgeproof stands behind this edge. Start it with settings from `edgeproof mint edge-settings --out DIR` \
             and add --settings DIR; or add --no-service to prove only what needs no service"
                .into(),
        ),
    }
}

/// Every refusal comes back as unknown: one finding, not one for each reason.
fn reads_no_reason(saw: &str) -> Gap {
    let finding = format!(
        "the edge turns every reason of the mock service into `unknown`: it expects replies of another shape than {saw}. \
         Describe the shape that your service has with --reply-shape FILE, such as {{\"code\":\"{{reason}}\"}}"
    );
    Gap {
        finding,
        concerns: plan::needs_plain_reasons,
        because: "the edge reads no reason of the mock service: see the finding",
    }
}

/// Judges the sanity. Firm: the collection reached the mock service, or the edge answers as an edge does. One that
/// others started has to reach our mock service; for one that we started it is the edge's own fault if it does not.
fn judge(spec: &Spec, found: &CaseFindings, we_started_it: bool) -> SanityResult {
    if !found.arrivals.is_empty() {
        return SanityResult::Sound;
    }
    let Some(asked) = found.sent.first() else { return SanityResult::Unusable("nothing was sent".into()) };
    let answer = match &asked.sent.reply {
        Ok(answer) => answer,
        Err(why) => return SanityResult::Unusable(format!("the edge does not answer a collection: {why}")),
    };
    let seen = format!("it answers {} {}", answer.status, crate::judge::excerpt(&answer.body));
    if !is_an_edges(spec, answer) {
        return SanityResult::Unusable(format!(
            "nothing that was posted reached the mock service, and what answers is not an edge of this interface: {seen}"
        ));
    }
    if we_started_it {
        return SanityResult::Sound;
    }
    SanityResult::Unusable(format!(
        "this edge does not reach the mock service: {seen}, and nothing arrived. Point its SERVICE_URL, SERVICE_CA_FILE, \
         EDGE_CLIENT_CERT_FILE and EDGE_CLIENT_KEY_FILE at the settings that `edgeproof mint edge-settings` wrote, check \
         that the address is reachable from where it runs, and restart it; or use --no-service"
    ))
}

/// The answer is one that the interface gives an edge.
fn is_an_edges(spec: &Spec, answer: &Answer) -> bool {
    let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else { return false };
    spec.table(Table::Edge).any(|row| match &row.fact {
        Fact::Answer { body: Some(shape), .. } => same_shape(shape, &body),
        _ => false,
    })
}

/// The same members, and the same texts where the row gives one.
fn same_shape(shape: &Value, body: &Value) -> bool {
    match (shape, body) {
        (Value::Object(shape), Value::Object(body)) => {
            shape.len() == body.len()
                && shape.iter().all(|(key, shape)| body.get(key).is_some_and(|body| same_shape(shape, body)))
        }
        (Value::String(shape), _) if shape.starts_with('<') => true,
        (shape, body) => shape == body,
    }
}

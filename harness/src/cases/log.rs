use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use super::conversation::collection;
use super::{Catalog, Need, Stage};
use crate::judge;
use crate::mock::Script;
use crate::wire::Body;

/// How long a line is waited for after the answer it belongs to.
const LINE_LIMIT: Duration = Duration::from_millis(500);
/// Where the end user of the log cases connects from.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 83, 71, 59));

/// What the edge writes about a refusal: one line with status and reason, nothing of the end user's (7.2).
pub(super) fn add(cases: &mut Catalog<'_>) {
    let (status, reason) = (403, "edgeproof_logged");
    let (refused, barrier) = (cases.refuse(status, reason), cases.refuse(status, "edgeproof_barrier"));
    cases
        .steps("statement.refusal-logged", "log.refusal", "a refusal writes one line with its status and its reason", move |stage| {
            let (refused, barrier) = (refused.clone(), barrier.clone());
            Box::pin(async move {
                let lines = refuse(stage, refused, barrier, (status, reason)).await;
                stage.check(judge::one_refusal_line(status, reason, &lines));
            })
        })
        .needs(&[Need::Service, Need::Log])
        .alone();
    let (refused, barrier) = (cases.refuse(status, reason), cases.refuse(status, "edgeproof_barrier"));
    cases
        .steps("statement.log-without-end-user-data", "log.end-user", "nothing of the end user's request is in the log", move |stage| {
            let (refused, barrier) = (refused.clone(), barrier.clone());
            Box::pin(async move {
                let lines = refuse(stage, refused, barrier, (status, reason)).await;
                let canaries = canaries(stage);
                let canaries: Vec<_> = canaries.iter().map(|(name, canary)| (*name, canary.as_str())).collect();
                stage.check(judge::shows_nothing(&canaries, &lines));
            })
        })
        .needs(&[Need::Service, Need::Log, Need::LoopbackClients])
        .alone();
    let (refused, barrier) = (cases.refuse(status, reason), cases.refuse(status, "edgeproof_barrier"));
    cases
        .steps("statement.secrets-not-logged", "log.license", "the license is not in the log", move |stage| {
            let (refused, barrier) = (refused.clone(), barrier.clone());
            Box::pin(async move {
                refuse(stage, refused, barrier, (status, reason)).await;
                // All that it wrote since it was started: a license shows at the start as well.
                let lines = lines(stage, 0);
                let license = stage.scene.license.clone().unwrap_or_default();
                stage.check(judge::shows_nothing(&[("license", &license)], &lines));
            })
        })
        .needs(&[Need::Service, Need::Log])
        .alone();
}

/// Has a collection refused, and a second one as the barrier: when its line is there, the first one's is too.
/// Returns the lines since then.
async fn refuse(stage: &mut Stage, refused: Script, barrier: Script, (status, reason): (u16, &str)) -> Vec<String> {
    let Some(log) = stage.scene.log.clone() else { return Vec::new() };
    let mark = log.mark();
    let mut draft = collection();
    draft.from = stage.scene.endpoint.is_loopback().then_some(CLIENT);
    draft.body = Body::Sized(format!(r#"{{"sealed":"body-{}"}}"#, super::MARKER).into());
    for (name, canary) in canaries(stage) {
        match name {
            "user agent" => draft = draft.header("User-Agent", &canary),
            "cookie" => draft = draft.header("Cookie", &canary),
            "forwarded address" => draft = draft.header("X-Forwarded-For", &canary),
            _ => {}
        }
    }
    stage.script(refused);
    stage.send(&draft).await;
    stage.script(barrier);
    stage.send(&draft).await;
    let named = |line: &crate::target::LogLine| judge::names_refusal(status, "edgeproof_barrier", &line.text);
    let found = log.wait(mark, LINE_LIMIT, |lines| lines.iter().any(named)).await;
    let _ = reason;
    found.into_iter().map(|line| line.text).collect()
}

fn lines(stage: &Stage, mark: usize) -> Vec<String> {
    let log = stage.scene.log.as_ref();
    log.map(|log| log.since(mark)).unwrap_or_default().into_iter().map(|line| line.text).collect()
}

fn canaries(stage: &Stage) -> Vec<(&'static str, String)> {
    let mark = &stage.marker;
    vec![
        ("body", format!("body-{mark}")),
        ("user agent", format!("agent-{mark}")),
        ("cookie", format!("session=cookie-{mark}")),
        ("forwarded address", "198.51.100.83".into()),
        ("client address", CLIENT.to_string()),
    ]
}

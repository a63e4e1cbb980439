use super::args::{Load, SealKind};
use super::required_parts::RequiredParts;
use crate::plan::ScenarioName;
use edgeproof_cli::Failure;
use edgeproof_cli::args::EdgeScheme;

/// Rejects options without an effect. Options with a default value are not checked.
pub(super) fn reject_unused_options(
    name: &str,
    args: &Load,
    needs: RequiredParts,
    parts: &[(ScenarioName, usize)],
) -> Result<(), Failure> {
    let plays = |part: ScenarioName| parts.iter().any(|(name, _)| *name == part);
    let is_https = |url: &str| url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    let edge_tls = needs.edge
        && args
            .edge_url
            .as_deref()
            .map_or_else(|| args.launch.is_some() && args.edge_scheme == EdgeScheme::Https, is_https);
    let service_tls = needs.verdicts && args.base_url.as_deref().is_some_and(is_https);
    let replays = args.replay_share.value() > 0.0 && !plays(ScenarioName::EdgeRelay);
    let no_edge = format!("{name} does not use an edge");
    let no_replays = format!("{name} sends no replays");
    let own_sessions = format!("{name} polls for its own sessions");
    let no_verdicts = format!("{name} does not poll for verdicts");
    let no_seal = args.seal_key.is_some() && args.seal == SealKind::Opaque;
    let all = [
        (args.edge_url.is_some() && !needs.edge, "--edge-url", &*no_edge),
        (args.launch.is_some() && !needs.edge, "--launch", &no_edge),
        (args.seal == SealKind::Real && !needs.edge, "--seal real", &no_edge),
        (args.service_failing.is_some() && !needs.edge, "--service-failing", &no_edge),
        (replays, "--replay-share", &no_replays),
        (args.references.is_some() && !plays(ScenarioName::VerdictPolling), "--references", &own_sessions),
        (args.base_url.is_some() && !needs.verdicts, "--base-url", &no_verdicts),
        (args.edge_ca.is_some() && !edge_tls, "--edge-ca", "the edge does not speak TLS"),
        (args.service_ca.is_some() && !service_tls, "--service-ca", "the service does not speak TLS"),
        (
            args.client_cert.is_some() && !edge_tls && !service_tls,
            "--client-cert",
            "the target does not speak TLS",
        ),
        (no_seal, "--seal-key", "it needs --seal real"),
    ];
    match all.into_iter().find(|(unused, ..)| *unused) {
        None => Ok(()),
        Some((_, option, why)) => {
            Err(Failure::usage(format!("cannot use {option}: {why}"), format!("remove {option}")))
        }
    }
}

use super::args::{EdgeScheme, Load, SealKind};
use super::failure::Failure;
use super::ground::Needs;

/// Refuses what was asked for and would change nothing: whoever gave it believes that it does.
pub(super) fn refuse_unused(name: &str, args: &Load, needs: Needs) -> Result<(), Failure> {
    let edge_tls = needs.edge
        && args.edge_url.as_deref().map_or_else(
            || args.launch.is_some() && args.edge_scheme == EdgeScheme::Https,
            |url| url.starts_with("https:"),
        );
    let service_tls = needs.verdicts && args.base_url.as_deref().is_some_and(|url| url.starts_with("https:"));
    let no_edge = format!("{name} posts to no edge");
    let no_verdicts = format!("{name} asks for no verdicts");
    let plain = |what: &str| format!("{what} does not speak TLS");
    let all = [
        (args.edge_url.is_some() && !needs.edge, "--edge-url", no_edge.clone()),
        (args.launch.is_some() && !needs.edge, "--launch", no_edge),
        (args.base_url.is_some() && !needs.verdicts, "--base-url", no_verdicts),
        (args.edge_ca.is_some() && !edge_tls, "--edge-ca", plain("the edge")),
        (args.service_ca.is_some() && !service_tls, "--service-ca", plain("what --base-url names")),
        (args.client_cert.is_some() && !edge_tls && !service_tls, "--client-cert", plain("what is loaded")),
        (
            args.edge_scheme == EdgeScheme::Https && args.launch.is_none(),
            "--edge-scheme",
            "no edge is started with --launch".to_owned(),
        ),
        (
            args.seal_key.is_some() && args.seal == SealKind::Opaque,
            "--seal-key",
            "collections are not sealed without --seal real".to_owned(),
        ),
    ];
    match all.into_iter().find(|(unused, ..)| *unused) {
        None => Ok(()),
        Some((_, option, why)) => Err(Failure::usage(
            format!("use {option}: {why}"),
            format!("leave {option} out, or change what makes it useless"),
        )),
    }
}

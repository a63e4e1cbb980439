use edgeproof_cli::Failure;
use edgeproof_fixtures::spec::PartName;

use super::args::ConformanceArgs;

/// Refuses options that the target would ignore.
pub(super) fn check_options(args: &ConformanceArgs, part: PartName) -> Result<(), Failure> {
    if args.save.is_some() && args.explore == 0 {
        return Err(Failure::usage(
            "cannot use --save without --explore",
            "the option keeps the failing sequences of --explore N: add --explore, or omit --save",
        ));
    }
    if args.failed && is_embedded(args, part) {
        return Err(Failure::usage(
            format!("cannot use --failed with the {}: its runs are not kept", part.embedded()),
            "name the target as in the last run, such as --launch CMD; --rerun-failed REPORT works here",
        ));
    }
    let is_url = args.target.as_deref().is_some_and(|target| target.parse::<PartName>().is_err());
    if args.embedded && is_url {
        return Err(Failure::usage(
            "cannot use --embedded with the URL of an edge",
            "the option tests the built-in part: omit the option, or the URL",
        ));
    }
    if part != PartName::Collector
        && let Some(option) = first_given(&collector_options(args))
    {
        return Err(Failure::usage(
            format!("cannot use {option} without `collector`"),
            "the option applies to `edgeproof conformance collector`",
        ));
    }
    match part {
        PartName::Edge => return check_edge(args),
        PartName::Collector => return check_collector(args),
        PartName::Service | PartName::Keys => {}
    }
    let sequences = [("--explore", args.explore > 0), ("--replay", !args.replay.is_empty())];
    if let Some(option) = first_given(&sequences).filter(|_| part == PartName::Keys) {
        return Err(Failure::usage(
            format!("cannot use {option} with `keys`"),
            "a key set has no sequences of steps; `edgeproof conformance service` fetches it between other steps",
        ));
    }
    if let Some(option) = first_given(&edge_options(args)) {
        let advice = match part {
            PartName::Keys => "the option applies to edges; give the URL of a key set with --keys-url",
            _ => "the option applies to edges; give the URL of a service with --base-url",
        };
        return Err(Failure::usage(format!("cannot use {option} with `{part}`"), advice));
    }
    if part == PartName::Service && args.keys_url.is_some() {
        return Err(Failure::usage(
            "cannot use --keys-url with `service`",
            "the option applies to `edgeproof conformance keys`, which verifies a verdict if --base-url is given as well",
        ));
    }
    let (url, is_given) = match part {
        PartName::Keys => ("--keys-url", args.keys_url.is_some()),
        _ => ("--base-url", args.base_url.is_some()),
    };
    if let Some(option) = first_given(&service_options(args)).filter(|_| !is_given) {
        return Err(Failure::usage(
            format!("cannot use {option} without {url}"),
            format!("add {url} URL; without it the built-in mock is tested, which needs no {option}"),
        ));
    }
    Ok(())
}

/// Whether the target is a part of edgeproof.
fn is_embedded(args: &ConformanceArgs, part: PartName) -> bool {
    let is_given = match part {
        PartName::Edge => {
            let is_url = args.target.as_deref().is_some_and(|target| target != "edge");
            is_url || args.edge.launch.is_some() || args.edge.url.is_some()
        }
        PartName::Service => args.base_url.is_some(),
        PartName::Keys => args.keys_url.is_some(),
        PartName::Collector => args.module.is_some(),
    };
    !is_given
}

fn check_collector(args: &ConformanceArgs) -> Result<(), Failure> {
    if let Some(option) = first_given(&edge_options(args)) {
        return Err(Failure::usage(
            format!("cannot use {option} with `collector`"),
            "the option applies to edges; give the module of a collector with --module",
        ));
    }
    let keys_url = [("--keys-url", args.keys_url.is_some())];
    if let Some(option) = first_given(&service_options(args)).or(first_given(&keys_url)) {
        return Err(Failure::usage(
            format!("cannot use {option} with `collector`"),
            "the option applies to `edgeproof conformance service` and `edgeproof conformance keys`",
        ));
    }
    let others = [
        ("--explore", args.explore > 0, "a collector has no sequences of steps"),
        ("--replay", !args.replay.is_empty(), "a collector has no sequences of steps"),
        ("--waits", args.waits, "no case of a collector takes minutes"),
        ("--hold", args.hold.is_some(), "only edgeproof reaches the pages of its browser"),
    ];
    match others.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, why)) => Err(Failure::usage(
            format!("cannot use {option} with `collector`"),
            format!("{why}: omit the option"),
        )),
        None => Ok(()),
    }
}

fn check_edge(args: &ConformanceArgs) -> Result<(), Failure> {
    if args.origin.is_some() && !args.no_service {
        let is_url = args.target.as_deref().is_some_and(|target| target != "edge") || args.edge.url.is_some();
        let advice = if args.edge.settings.is_some() {
            "the settings name the origin that the edge allows: omit the option"
        } else if is_url {
            "add --no-service, or --settings DIR in place of --origin"
        } else {
            "edgeproof sets ALLOWED_ORIGIN of the edges that it starts: omit the option"
        };
        return Err(Failure::usage("cannot use --origin without --no-service", advice));
    }
    let keys_url = [("--keys-url", args.keys_url.is_some())];
    let Some(option) = first_given(&service_options(args)).or(first_given(&keys_url)) else { return Ok(()) };
    Err(Failure::usage(
        format!("cannot use {option} with an edge"),
        "the option applies to `edgeproof conformance service` and `edgeproof conformance keys`",
    ))
}

/// Options for edges.
fn edge_options(args: &ConformanceArgs) -> [(&'static str, bool); 10] {
    [
        ("--launch", args.edge.launch.is_some()),
        ("--url", args.edge.url.is_some()),
        ("--settings", args.edge.settings.is_some()),
        ("--no-service", args.no_service),
        ("--origin", args.origin.is_some()),
        ("--edge-scheme", args.edge.edge_scheme.is_some()),
        ("--edge-ca", args.edge.edge_ca.is_some()),
        ("--reply-shape", args.interface.reply_shape.is_some()),
        ("--fuzz", args.fuzz > 0),
        ("--thorough", args.thorough),
    ]
}

/// Options for collectors.
fn collector_options(args: &ConformanceArgs) -> [(&'static str, bool); 4] {
    [
        ("--module", args.module.is_some()),
        ("--name", args.name.is_some()),
        ("--open-with", args.open_with.is_some()),
        ("--chromium", args.chromium.is_some()),
    ]
}

/// Options for services and key sets that are not built in.
fn service_options(args: &ConformanceArgs) -> [(&'static str, bool); 8] {
    [
        ("--base-url", args.base_url.is_some()),
        ("--read-token", args.read_token.is_some()),
        ("--expired-token", args.expired_token.is_some()),
        ("--license", args.license.is_some()),
        ("--session-ref", args.session_ref.is_some()),
        ("--state-url", args.state_url.is_some()),
        ("--state-command", args.state_command.is_some()),
        ("--service-ca", args.service_ca.is_some()),
    ]
}

fn first_given(options: &[(&'static str, bool)]) -> Option<&'static str> {
    options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::config::ConfigKey;
    use crate::cli::conformance::command;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        args: ConformanceArgs,
    }

    /// A key of `edgeproof.toml` that the part does not take is an error there. This is the same decision.
    #[test]
    fn keys_of_the_file_apply_to_the_same_parts_as_their_options() {
        for key in ConfigKey::all(&command()) {
            for part in PartName::ALL {
                let mut words = vec!["conformance".to_owned(), part.to_string(), key.example()];
                let more: &[&str] = match (key.option(), part) {
                    ("origin", _) => &["--no-service"],
                    ("save", _) => &["--explore=3"],
                    ("port-env" | "ready-timeout", _) => &["--launch=a"],
                    ("service-listen", _) => &["--settings=a"],
                    ("state-header", _) => &["--state-url=a"],
                    _ => &[],
                };
                let url = match part {
                    PartName::Service => "--base-url=a",
                    PartName::Keys => "--keys-url=a",
                    PartName::Edge | PartName::Collector => "",
                };
                words.extend(
                    more.iter().copied().chain([url]).filter(|word| !word.is_empty()).map(str::to_owned),
                );
                words.dedup_by_key(|word| word.split('=').next().unwrap_or_default().to_owned());
                let args = Arguments::try_parse_from(&words).unwrap().args;
                let is_accepted = check_options(&args, *part).is_ok();
                assert_eq!(is_accepted, key.parts().contains(part), "{words:?}");
            }
        }
    }
}

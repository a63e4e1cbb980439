use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use edgeproof_cli::args::EdgeScheme;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::{SpecChoice, Version};
use shell_words::quote;

use super::args::ConformanceArgs;
use crate::cli::edges::{EdgeTargetArgs, InterfaceArgs};
use crate::cli::spec_option::spec_option;
use crate::run::RerunCommand;

/// Name of the program if its caller gave none.
const PROGRAM: &str = "edgeproof";

/// The command that runs a case of this command again. `program`: the program as it was called; `seed`: seed of this run.
///
/// It repeats target and options that affect a case, and omits selection, reports and baseline. What `edgeproof.toml` sets,
/// it sets again: only options in `given`, those of the command line, are repeated. A credential from the
/// command line becomes a shell variable; the redactor replaces every other secret.
pub(super) fn rerun(
    args: &ConformanceArgs,
    given: &ConformanceArgs,
    program: Option<OsString>,
    seed: u64,
    redactor: &Redactor,
) -> RerunCommand {
    let program = program.filter(|program| !program.is_empty()).unwrap_or_else(|| PROGRAM.into());
    let mut words = Words { redactor, words: Vec::new() };
    words.push(&program.to_string_lossy());
    words.push("conformance");
    // Without a file, `edge` is the default target.
    let is_said = |target: &&str| *target != "edge" || args.project.is_some();
    if let Some(target) = given.target.as_deref().filter(is_said) {
        words.push(target);
    }
    push_edge(&mut words, given);
    push_service(&mut words, given);
    push_collector(&mut words, given);
    push_run(&mut words, given);
    words.text("--target", given.config.target.as_deref());
    words.flag("--embedded", given.embedded);
    words.flag("--no-config", given.config.no_config);
    let shared = words.take();
    let mut command = RerunCommand::new(shared).about(spec_option(&args.interface.spec));
    if args.target.as_deref().is_none_or(|target| target == "edge") {
        words.push(&program.to_string_lossy());
        words.push("serve");
        let start = words.take();
        push_target(&mut words, &given.edge);
        push_interface(&mut words, &given.interface);
        words.text("--target", given.config.target.as_deref());
        words.flag("--no-config", given.config.no_config || given.embedded);
        command = command.served(start, words.take());
    }
    if args.fuzz > 0 {
        words.option("--fuzz", args.fuzz);
        words.option("--seed", seed);
        command.for_case("relay.fuzz", words.take());
    }
    if args.explore > 0 {
        words.option("--explore", args.explore);
        words.option("--seed", seed);
        let own = words.take();
        for id in ["explore.edge", "explore.service"] {
            command.for_case(id, own.clone());
        }
    }
    for path in &args.replay {
        words.path("--replay", Some(path));
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        command.for_case(&format!("replay.{name}"), words.take());
    }
    command
}

fn push_edge(words: &mut Words<'_>, args: &ConformanceArgs) {
    push_target(words, &args.edge);
    words.flag("--no-service", args.no_service);
    words.text("--origin", args.origin.as_deref());
}

fn push_target(words: &mut Words<'_>, args: &EdgeTargetArgs) {
    words.text("--launch", args.launch.as_deref());
    words.text("--url", args.url.as_deref());
    words.path("--settings", args.settings.as_deref());
    words.text("--service-listen", args.service_listen);
    words.text("--port-env", Some(args.port_env.as_str()).filter(|name| *name != "PORT"));
    words.duration("--ready-timeout", args.ready_timeout);
    let scheme = args.edge_scheme.map(|scheme| match scheme {
        EdgeScheme::Http => "http",
        EdgeScheme::Https => "https",
    });
    words.text("--edge-scheme", scheme);
    words.path("--edge-ca", args.edge_ca.as_deref());
}

fn push_service(words: &mut Words<'_>, args: &ConformanceArgs) {
    words.text("--base-url", args.base_url.as_deref());
    words.text("--keys-url", args.keys_url.as_deref());
    words.path("--service-ca", args.service_ca.as_deref());
    words.credential("--read-token", "READ_TOKEN", args.read_token.as_deref());
    words.credential("--expired-token", "READ_TOKEN_EXPIRED", args.expired_token.as_deref());
    words.credential("--license", "LICENSE", args.license.as_deref());
    words.text("--session-ref", args.session_ref.as_deref());
    words.text("--state-url", args.state_url.as_deref());
    words.text("--state-command", args.state_command.as_deref());
    words.credential("--state-header", "STATE_HEADER", args.state_header.as_deref());
}

fn push_collector(words: &mut Words<'_>, args: &ConformanceArgs) {
    words.text("--module", args.module.as_deref());
    words.text("--name", args.name.as_deref());
    words.text("--open-with", args.open_with.as_deref());
    words.path("--chromium", args.chromium.as_deref());
}

fn push_run(words: &mut Words<'_>, args: &ConformanceArgs) {
    words.flag("--waits", args.waits);
    words.flag("--thorough", args.thorough);
    push_interface(words, &args.interface);
    words.path("--pin", args.pin.as_deref());
    words.flag("--strict", args.strict);
    words.duration("--case-timeout", args.case_timeout);
    words.text("--repeat", Some(args.repeat).filter(|rounds| *rounds > 1));
}

fn push_interface(words: &mut Words<'_>, args: &InterfaceArgs) {
    match &args.spec {
        SpecChoice::Path(path) => words.path("--spec", Some(path)),
        SpecChoice::Builtin(version) => {
            words.text("--spec", Some(version).filter(|version| **version != Version::default()));
        }
    }
    words.path("--profile", args.profile.as_deref());
    words.path("--reply-shape", args.reply_shape.as_deref());
}

/// Words of a command, quoted for a shell.
struct Words<'r> {
    redactor: &'r Redactor,
    words: Vec<String>,
}

/// Default of `--ready-timeout` and `--case-timeout`.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

impl Words<'_> {
    fn push(&mut self, word: &str) {
        self.words.push(quote(&self.redactor.redact(word)).into_owned());
    }

    fn flag(&mut self, option: &str, is_given: bool) {
        if is_given {
            self.words.push(option.to_owned());
        }
    }

    fn option(&mut self, option: &str, value: impl Display) {
        let value = value.to_string();
        if value.starts_with('-') {
            // As a word of its own it would be another option.
            self.push(&format!("{option}={value}"));
        } else {
            self.words.push(option.to_owned());
            self.push(&value);
        }
    }

    fn text(&mut self, option: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.option(option, value);
        }
    }

    fn path(&mut self, option: &str, path: Option<&Path>) {
        self.text(option, path.map(Path::display));
    }

    fn duration(&mut self, option: &str, duration: Duration) {
        // `humantime` writes spaces between units: the shortest exact unit needs none.
        let value = match duration.as_millis() {
            _ if duration == DEFAULT_TIMEOUT => return,
            millis if millis > 0 && duration.subsec_nanos() == 0 => format!("{}s", duration.as_secs()),
            millis if Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX)) == duration => {
                format!("{millis}ms")
            }
            _ => format!("{}ns", duration.as_nanos()),
        };
        self.option(option, value);
    }

    /// A credential: its file, or a shell variable that the user sets.
    fn credential(&mut self, option: &str, variable: &str, value: Option<&str>) {
        match value {
            None => {}
            Some(file) if file.starts_with('@') => self.option(option, file),
            Some(_) => self.words.extend([option.to_owned(), format!("\"${variable}\"")]),
        }
    }

    fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.words)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use rstest::rstest;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: ConformanceArgs,
    }

    fn parse(words: &[&str]) -> ConformanceArgs {
        Command::try_parse_from([&["conformance"], words].concat()).unwrap().args
    }

    /// The command without its program, for the case `method.get`.
    fn again(words: &[&str], id: &str) -> String {
        let args = parse(words);
        let command = rerun(&args, &args, Some("edgeproof".into()), 7, &Redactor::empty()).of(id);
        command.strip_prefix("edgeproof conformance ").unwrap().to_owned()
    }

    #[rstest]
    #[case::embedded(&[], "")]
    #[case::edge(&["edge"], "")]
    #[case::launch(&["--launch", "node edge.mjs"], "--launch 'node edge.mjs' ")]
    #[case::quotes(&["--launch", "sh -c 'PORT=1; exec \"a b\"'"], r#"--launch 'sh -c '\''PORT=1; exec "a b"'\''' "#)]
    #[case::launch_options(
        &["--launch", "a", "--port-env", "LISTEN", "--ready-timeout", "1m", "--edge-scheme", "https", "--edge-ca", "my ca.pem"],
        "--launch a --port-env LISTEN --ready-timeout 60s --edge-scheme https --edge-ca 'my ca.pem' "
    )]
    #[case::url(&["http://127.0.0.1:8080", "--settings", "dir"], "http://127.0.0.1:8080 --settings dir ")]
    #[case::url_option(
        &["--url", "http://[::1]:1/a?b", "--settings", "dir", "--service-listen", "127.0.0.1:9"],
        "--url 'http://[::1]:1/a?b' --settings dir --service-listen 127.0.0.1:9 "
    )]
    #[case::production(
        &["https://edge.example", "--no-service", "--origin", "https://shop.example"],
        "https://edge.example --no-service --origin https://shop.example "
    )]
    #[case::interface(
        &["--spec", "pre-seal", "--profile", "p.toml", "--reply-shape", "r.json", "--pin", "pins.json"],
        "--spec pre-seal --profile p.toml --reply-shape r.json --pin pins.json "
    )]
    #[case::run(
        &["--strict", "--waits", "--case-timeout", "1500ms", "--repeat", "3"],
        "--waits --strict --case-timeout 1500ms --repeat 3 "
    )]
    #[case::defaults_are_omitted(&["--launch", "a", "--port-env", "PORT", "--case-timeout", "10s", "--repeat", "1"], "--launch a ")]
    #[case::of_the_run_only(
        &[
            "--filter", "relay.*", "--exclude", "a.*", "--rerun-failed", "r.json", "--cases-of", "0.1.0", "--quick", "--record", "rec.json",
            "--baseline", "known.txt", "--write-baseline", "new.txt", "--require-all", "--jobs", "2", "--seed", "5", "--shuffle", "--hold", "method.get",
            "--report", "json=r.json", "--github", "--color", "never", "--verbose", "--fuzz", "3", "--explore", "4",
            "--save", "found", "--replay", "a.toml",
        ],
        ""
    )]
    #[case::keys(&["keys", "--keys-url", "https://keys.example"], "keys --keys-url https://keys.example ")]
    #[case::collector(
        &["collector", "--module", "dist/a b.mjs", "--name", "maker", "--chromium", "/opt/chromium"],
        "collector --module 'dist/a b.mjs' --name maker --chromium /opt/chromium "
    )]
    #[case::dash(&["--launch=-x"], "'--launch=-x' ")]
    fn options_that_affect_a_case_are_repeated(#[case] words: &[&str], #[case] expected: &str) {
        let text = again(words, "method.get");
        assert_eq!(text, format!("{expected}--filter method.get"));
        let parsed = shell_words::split(&text).unwrap();
        // The command is valid, and repeats itself.
        let again = again(&parsed.iter().map(String::as_str).collect::<Vec<_>>(), "method.get");
        assert_eq!(again, text);
    }

    #[rstest]
    #[case::fuzz("relay.fuzz", "--fuzz 3 --seed 7 ")]
    #[case::explore("explore.edge", "--explore 4 --seed 7 ")]
    #[case::replay("replay.late", "--replay 'my dir/late.toml' ")]
    #[case::other("relay.body.pretty", "")]
    fn generated_case_gets_its_options_and_the_seed(#[case] id: &str, #[case] expected: &str) {
        let words = ["--fuzz", "3", "--explore", "4", "--replay", "my dir/late.toml", "--replay", "b.toml"];
        assert_eq!(again(&words, id), format!("{expected}--filter {id}"));
    }

    #[test]
    fn credentials_are_never_repeated() {
        let words = [
            "service",
            "--base-url",
            "https://service.example",
            "--service-ca",
            "ca.pem",
            "--read-token",
            "service_read_hunter2",
            "--expired-token",
            "@old token",
            "--license",
            "hunter2",
            "--session-ref",
            "s 1",
        ];
        let text = again(&words, "verdict.pending");
        assert_eq!(
            text,
            "service --base-url https://service.example --service-ca ca.pem --read-token \"$READ_TOKEN\" \
             --expired-token '@old token' --license \"$LICENSE\" --session-ref 's 1' --filter verdict.pending"
        );
        let mut redactor = Redactor::empty();
        redactor.add("read-token given", "service_read_hunter2hunter2hunter2");
        let launch = parse(&["--launch", "TOKEN=service_read_hunter2hunter2hunter2 edge"]);
        let text = rerun(&launch, &launch, None, 0, &redactor).of("method.get");
        assert!(!text.contains("hunter2"), "{text}");
    }

    #[rstest]
    #[case::on_the_path(Some("edgeproof"), "edgeproof")]
    #[case::relative(Some("target/debug/edgeproof"), "target/debug/edgeproof")]
    #[case::blank(Some("/opt/edge proof/edgeproof"), "'/opt/edge proof/edgeproof'")]
    #[case::unknown(None, "edgeproof")]
    #[case::empty(Some(""), "edgeproof")]
    fn program_is_named_as_it_was_called(#[case] program: Option<&str>, #[case] expected: &str) {
        let command = rerun(&parse(&[]), &parse(&[]), program.map(Into::into), 0, &Redactor::empty());
        assert_eq!(command.of("method.get"), format!("{expected} conformance --filter method.get"));
    }
}

use edgeproof_http::Draft;

use super::probe::{Probe, probe_each};
use crate::cases::service::expected::PENDING;
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed};

/// References that have a meaning in routers, file systems, languages and databases.
const NAMES: [&str; 33] = [
    "health",
    "verdict",
    "verdicts",
    "v1",
    "admin",
    "index.html",
    "favicon.ico",
    "robots.txt",
    ".well-known",
    ".env",
    "...",
    "~",
    "-",
    "_",
    "*",
    "0",
    "-1",
    "1",
    "a",
    "NULL",
    "true",
    "NaN",
    "Infinity",
    "constructor",
    "__proto__",
    "prototype",
    "toString",
    "hasOwnProperty",
    "{sessionRef}",
    ":ref",
    "{}",
    "[]",
    "status",
];

/// Texts that software changes by mistake: name, text.
const TEXTS: [(&str, &str); 53] = [
    ("a leading space", " {}"),
    ("a trailing space", "{} "),
    ("a trailing no-break space", "{}\u{a0}"),
    ("a leading ideographic space", "\u{3000}{}"),
    ("a byte order mark", "\u{feff}{}"),
    ("a zero-width space", "{}a\u{200b}b"),
    ("a zero-width joiner", "{}👩\u{200d}💻"),
    ("a composed letter", "{}é"),
    ("a decomposed letter", "{}e\u{301}"),
    ("a ligature", "{}ﬁ"),
    ("full-width digits", "{}１２３"),
    ("Arabic digits", "{}٣٤"),
    ("a Turkish dotted I", "{}İı"),
    ("a sharp s", "{}ßẞ"),
    ("a Kelvin sign", "{}K"),
    ("right-to-left text", "{}שלום"),
    ("a right-to-left override", "{}\u{202e}abc"),
    ("a line separator", "{}\u{2028}x"),
    ("a letter beyond 16 bits", "{}𝒳"),
    ("a flag", "{}🇺🇳"),
    ("a replacement character", "{}\u{fffd}"),
    ("a private-use character", "{}\u{e000}"),
    ("capitals", "ABC{}XYZ"),
    ("a trailing dot", "{}."),
    ("a trailing dash", "{}-"),
    ("two dashes", "{}--x"),
    ("a leading dot", ".{}"),
    ("a file extension", "{}.json"),
    ("another file extension", "{}.html"),
    ("three parts between dots", "{}.b.c"),
    ("a comma", "{},b"),
    ("a semicolon with a parameter", "{};jsessionid=1"),
    ("an equals sign", "{}=="),
    ("an ampersand", "{}&waitMs=1"),
    ("an entity", "{}&amp;&#65;"),
    ("a question mark", "{}?waitMs=1"),
    ("a number sign", "{}#top"),
    ("a colon", "{}:8080"),
    ("an e-mail address", "{}@shop.example"),
    ("an exclamation mark", "{}!"),
    ("a dollar sign", "{}$1${x}"),
    ("an asterisk", "{}*"),
    ("parentheses", "{}(a)"),
    ("square brackets", "{}[0]"),
    ("braces", "{}{{7*7}}"),
    ("a vertical bar", "{}|b"),
    ("a caret and a backtick", "{}^`b`"),
    ("an apostrophe", "{}' OR '1'='1"),
    ("a backslash escape", "{}\\n\\u0041"),
    ("a percent escape as text", "{}%41%00%2e"),
    ("an incomplete percent escape as text", "{}%4%"),
    ("a format directive", "{}%s%d"),
    ("a time", "{}2026-01-02T03:04:05+00:00"),
];

/// Texts that proxies may refuse.
const ODD_TEXTS: [(&str, &str); 7] = [
    ("a tab", "{}\tx"),
    ("a line feed", "{}\nx"),
    ("a carriage return and a line feed", "{}\r\nX-Injected: 1"),
    ("an escape character", "{}\u{1b}[31m"),
    ("a URL", "https://shop.example/{}?a=b#c"),
    ("a path with dots", "{}/../b"),
    ("two slashes", "{}//b"),
];

/// Other values of a session reference (4, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    let token = &[ServiceNeed::ReadToken];
    let title = "a reference that has a meaning elsewhere comes back unchanged";
    probe_each(cases, [PENDING, "vary.verdict.reference-name", title], token, |context, _| {
        let probe = |name: &&str| Probe::pending(format!("reference {name:?}"), context, name);
        NAMES.iter().map(probe).collect()
    });
    let title = "a reference of any characters comes back unchanged";
    probe_each(cases, [PENDING, "vary.verdict.reference-text", title], token, |context, unknown| {
        let probe = |(name, text): &(&str, &str)| {
            Probe::pending(format!("a reference with {name}"), context, &text.replacen("{}", unknown, 1))
        };
        let odd = ODD_TEXTS.iter().map(probe).map(Probe::should);
        TEXTS.iter().map(probe).chain(odd).collect()
    });
    let title = "a reference of any length comes back whole";
    probe_each(cases, [PENDING, "vary.verdict.reference-length", title], token, lengths);
    let title = "each spelling of a reference in a URL is the same reference";
    probe_each(cases, [PENDING, "vary.verdict.reference-encoding", title], token, encodings);
    let title = "a reference that resembles that of a session has no verdict";
    let session = &[ServiceNeed::ReadToken, ServiceNeed::Session];
    probe_each(cases, [PENDING, "vary.verdict.reference-similar", title], session, similar);
}

fn lengths(context: &ServiceCaseContext, unknown: &str) -> Vec<Probe> {
    let long = |length: usize| {
        // Each part differs, so that a missing part shows.
        let text: String =
            (0..length).map(|at| char::from(b'a' + u8::try_from(at % 23).unwrap_or(0))).collect();
        let text = format!("{unknown}{text}");
        let probe = Probe::pending(
            format!("a reference of {length} characters"),
            context,
            &text[text.len() - length..],
        );
        // The interface has no limit. Some servers limit URLs, to 1024 characters or more.
        if length < 1000 { probe } else { probe.should() }
    };
    let unicode = format!("{unknown}{}", "注文".repeat(60));
    [33, 37, 63, 65, 127, 129, 255, 256, 257, 400, 513, 800, 1025, 2000]
        .map(long)
        .into_iter()
        .chain([Probe::pending("a reference of 120 Chinese characters", context, &unicode)])
        .collect()
}

/// The same reference in other spellings (RFC 3986 §2.1, §6.2.2).
fn encodings(context: &ServiceCaseContext, unknown: &str) -> Vec<Probe> {
    let spelled = |name: &str, path: String, reference: String| {
        Probe::pending(name, context, &reference)
            .map(|draft| Draft { path: context.spec().verdict_path().with(&path), ..draft })
    };
    let hex = |text: &str| text.bytes().fold(String::new(), |hex, byte| hex + &format!("%{byte:02X}"));
    vec![
        spelled("encoded letters", hex(unknown), unknown.into()),
        spelled("encoded letters in lower case", hex(unknown).to_lowercase(), unknown.into()),
        spelled("an encoded dash and dot", format!("{unknown}%2D%2Ex"), format!("{unknown}-.x")),
        spelled("lower-case escapes", format!("{unknown}%c3%bc"), format!("{unknown}ü")),
        spelled("mixed-case escapes", format!("{unknown}%C3%bC%3a"), format!("{unknown}ü:")),
        spelled("an unencoded colon and at sign", format!("{unknown}:a@b"), format!("{unknown}:a@b")),
        spelled("unencoded sub-delimiters", format!("{unknown}!$&'()*,;="), format!("{unknown}!$&'()*,;=")),
        spelled("an encoded percent sign", format!("{unknown}%2541"), format!("{unknown}%41")),
        spelled("an encoded slash", format!("{unknown}%2Fb"), format!("{unknown}/b")).should(),
        spelled("an encoded slash in lower case", format!("{unknown}%2fb"), format!("{unknown}/b")).should(),
        spelled("a twice encoded slash", format!("{unknown}%252Fb"), format!("{unknown}%2Fb")),
        spelled("a query without parameters", format!("{unknown}?"), unknown.into()),
        spelled("an unknown parameter", format!("{unknown}?ref=other"), unknown.into()),
        spelled(
            "a parameter named like the path",
            format!("{unknown}?sessionRef=other&id=1"),
            unknown.into(),
        ),
    ]
}

fn similar(context: &ServiceCaseContext, session: &str) -> Vec<Probe> {
    let mut others = vec![
        ("capitals", session.to_uppercase()),
        ("small letters", session.to_lowercase()),
        ("a trailing space", format!("{session} ")),
        ("a leading space", format!(" {session}")),
        ("a trailing dot", format!("{session}.")),
        ("a file extension", format!("{session}.json")),
        ("a parameter", format!("{session};a=b")),
        ("a trailing zero-width space", format!("{session}\u{200b}")),
        ("one more character", format!("{session}x")),
        ("an equals sign", format!("{session}=")),
        ("a full-width letter at its end", format!("{session}\u{ff41}")),
        ("a wildcard", format!("{session}*")),
        ("a percent wildcard", format!("{session}%")),
        ("the reference twice", format!("{session}{session}")),
        ("the reference in quotes", format!("\"{session}\"")),
        ("two references", format!("{session},{session}")),
        ("an encoded query", format!("{session}?")),
        ("an encoded fragment", format!("{session}#")),
    ];
    let mut shorter = session.to_owned();
    shorter.pop();
    others.push(("one character less", shorter));
    others.push((
        "a wildcard in place of the last character",
        format!("{}_", &session[..session.len() - session.chars().last().map_or(0, char::len_utf8)]),
    ));
    others
        .into_iter()
        .filter(|(_, text)| text != session && !text.is_empty())
        .map(|(name, text)| Probe::pending(format!("a session's reference with {name}"), context, &text))
        .chain([Probe::new(
            "the session itself, afterwards",
            context.with_token(session).draft(),
            crate::cases::service::Expected::Verdict,
        )])
        .collect()
}

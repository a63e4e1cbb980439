use std::collections::BTreeSet;

use edgeproof_fixtures::verdict::{Confidence, Decision, Judgement};
use edgeproof_http::Draft;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::{CaseLevel, counted};
use edgeproof_targets::HookError;

use super::chosen::CHOSEN;
use super::named::own_verdict;
use super::odd_references::without_verdict;
use crate::cases::service::expected::{AVAILABLE, PENDING, answer};
use crate::cases::{CaseList, Service, ServiceCaseContext, ServiceNeed, as_segment};
use crate::judge;
use crate::states::StateNeed;

/// A reference that has a verdict, and texts that are near to it and have none.
struct Named {
    id: &'static str,
    /// What the reference is like.
    what: &'static str,
    /// The end of the reference; its beginning is unique to the case.
    text: &'static str,
    /// Ends that lead to another session.
    near: &'static [&'static str],
}

const fn named(
    id: &'static str,
    what: &'static str,
    text: &'static str,
    near: &'static [&'static str],
) -> Named {
    Named { id, what, text, near }
}

/// References that a page may pass to `start()`.
const NAMED: [Named; 20] = [
    named(
        "plain",
        "letters, digits and dashes",
        "Ab-7_x.y~z",
        &["\u{ff21}b-7_x.y~z", "Ab-7_x.y~", "Ab-7_x.y~zz", "Ab-7_x.y~z0", "Ab7_x.y~z", "Ab-7-x.y~z", ""],
    ),
    named("case", "letters in both cases", "AbCdE", &["abcde", "ABCDE", "AbCde"]),
    named(
        "composed",
        "composed characters",
        "Gr\u{f6}\u{df}e-\u{e9}",
        &[
            "Gro\u{308}\u{df}e-e\u{301}",
            "Grosse-e",
            "Gr\u{f6}sse-\u{e9}",
            "Gr\u{d6}\u{df}e-\u{e9}",
            "Gr\u{f6}\u{df}e-\u{c9}",
        ],
    ),
    named("decomposed", "decomposed characters", "Gro\u{308}\u{df}e-e\u{301}", &["Gr\u{f6}\u{df}e-\u{e9}"]),
    named(
        "wide",
        "characters beyond the basic plane",
        "\u{1f6d2}-\u{20bb7}",
        &["\u{1f6cd}-\u{20bb7}", "-", "??-?"],
    ),
    named(
        "compatible",
        "characters with compatible forms",
        "\u{ff11}\u{fb01}",
        &["1fi", "1\u{fb01}", "\u{ff11}fi"],
    ),
    named("hash", "texts that a common hash confuses", "Aa", &["BB", "C#"]),
    named("checksum", "texts with one CRC-32", "plumless", &["buckeroo"]),
    named(
        "kana",
        "Japanese letters",
        "\u{30ab}\u{30ca}",
        &["\u{304b}\u{306a}", "\u{ff76}\u{ff85}", "\u{30ab}\u{306a}"],
    ),
    named("replacement", "the replacement character", "a\u{fffd}", &["a?", "a", "a\u{fffd}\u{fffd}"]),
    named("dotless", "the Turkish i", "I\u{131}\u{130}i", &["i\u{131}\u{130}i", "IIII", "iiii"]),
    named("space", "a space", "a b", &["a b ", "a  b", "a+b", "ab"]),
    named("plus", "a plus sign", "a+b", &["a b", "a%2Bb"]),
    named("percent", "percent signs", "100%25", &["100%", "100%2525"]),
    named("wildcard", "wildcards of databases", "a%_b*", &["aXXb*", "a%Xb*", "a%_bX"]),
    named("query", "a question mark and a hash", "a?b=c#d", &["a", "a?b=c"]),
    named("padding", "equals signs at its end", "YWI==", &["YWI=", "YWI", "YWI==="]),
    named("semicolon", "a semicolon", "a;b=c", &["a", "a;b"]),
    named("quotes", "quotes and a backslash", "o'n\"\\e", &["on\\e", "o''n\"\\e", "o'n\"e"]),
    named("markup", "markup", "<b>&amp;", &["<b>&", "&lt;b&gt;&amp;amp;", "b&amp;"]),
];

/// Lengths of references (bytes). The interface does not limit them.
const LENGTHS: [usize; 9] = [1, 36, 64, 65, 128, 255, 256, 512, 1024];

/// A verdict is found by exactly its reference (1.3, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    for Named { id, what, text, near } in NAMED {
        let title = format!("a verdict is found by its exact reference: {what}");
        cases
            .case(AVAILABLE, &format!("verdict.named.{id}"), &title)
            .steps(steps!(async |context| {
                let start = context.reference("named-");
                let near: Vec<String> = near.iter().map(|end| format!("{start}{end}")).collect();
                found_alone(context, &format!("{start}{text}"), &near).await;
            }))
            .requires(&CHOSEN)
            .also(PENDING);
    }
    segments(cases);
    digits(cases);
    uuid(cases);
    lengths(cases);
    judgements(cases);
}

/// An encoded slash is part of the reference. Many proxies refuse it, although RFC 3986 §2.2 allows it in a segment. None
/// of them takes a part of the reference for the whole.
fn segments(cases: &mut CaseList<'_, Service>) {
    for (id, what, start, near) in [
        ("slash", "slashes", "a/b/", ["b/", "a/", "/", "a//b/", "a\\b\\"]),
        ("dot-segments", "dot segments", "a/../", ["a/", "../", "./", "a/./", "a\\..\\"]),
    ] {
        let title = format!("a verdict is found by its exact reference: {what}");
        cases
            .case(AVAILABLE, &format!("verdict.named.{id}"), &title)
            .steps(steps!(async |context| {
                let end = context.reference("segment");
                let reference = format!("{start}{end}");
                if context.chosen(StateRequest::verdict(&reference)).await.is_none() {
                    return;
                }
                let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                // A pending answer is the service's own: no proxy refused the path.
                let expected = answer(context.row(PENDING), &reference);
                let is_pending = judge::exact(&expected, &reply).iter().all(|check| check.ok);
                let level = if is_pending { CaseLevel::Must } else { CaseLevel::Should };
                let checks = own_verdict(context, &reference, &reply).into_iter();
                context.checks(checks.map(|check| check.at(level)).collect());
                if context.has_status(AVAILABLE, &reply) {
                    // The digits of an escape are the same in both cases (RFC 3986 §6.2.2.1).
                    let path = context.spec().verdict_path().with(&in_lower_case(&as_segment(&reference)));
                    let draft = Draft { path, ..context.with_token(&reference).draft() };
                    let reply = context.send(&draft, context.timeout).await.reply;
                    let checks = own_verdict(context, &reference, &reply).into_iter();
                    context.checks(checks.map(|check| check.of("escapes in lower case")).collect());
                }
                pending(context, std::slice::from_ref(&end)).await;
                let near = near.iter().map(|start| format!("{start}{end}"));
                for text in near.chain(escaped(&reference)) {
                    let draft = context.with_token(&text).draft();
                    without_verdict(context, &text, &draft).await;
                }
            }))
            .requires(&CHOSEN)
            .also(PENDING);
    }
}

/// A number is a text: with leading zeros, and beyond 64 bits.
fn digits(cases: &mut CaseList<'_, Service>) {
    for (id, title, count) in [
        ("digits", "a verdict is found by its exact reference: digits with leading zeros", 12),
        ("long-number", "a verdict is found by its exact reference: more digits than 64 bits hold", 30),
    ] {
        cases
            .case(AVAILABLE, &format!("verdict.named.{id}"), title)
            .steps(steps!(async |context| {
                let unique = context.reference("").into_bytes();
                let digit = |byte: &u8| char::from(b'0' + byte % 10);
                let number: String = unique.iter().rev().take(count).map(digit).collect();
                let text = format!("00{number}7");
                let near = [
                    text.trim_start_matches('0').to_owned(),
                    format!("0{number}7"),
                    format!("00{number}8"),
                    format!("00{number}6"),
                    format!("{text}0"),
                    format!("{text}.0"),
                    format!("+{text}"),
                    format!(" {text}"),
                    format!("{text}n"),
                ];
                found_alone(context, &text, &near).await;
            }))
            .requires(&CHOSEN)
            .also(PENDING);
    }
}

/// A UUID is a text: other spellings of it are other references.
fn uuid(cases: &mut CaseList<'_, Service>) {
    cases
        .case(
            AVAILABLE,
            "verdict.named.whole-uuid",
            "a verdict is found by its exact reference: nothing but a UUID",
        )
        .steps(steps!(async |context| {
            let unique = context.reference("").into_bytes();
            let digit = |byte: &u8| char::from_digit(u32::from(byte % 16), 16);
            let digits: String = unique.iter().rev().cycle().take(32).filter_map(digit).collect();
            // It has letters, the f and the a, so that its case can differ.
            let (start, middle, end) = (&digits[..7], &digits[8..12], &digits[20..]);
            let text = format!("{start}f-{middle}-4{}-a{}-{end}", &digits[13..16], &digits[17..20]);
            let near = [
                text.to_ascii_uppercase(),
                text.replace('-', ""),
                format!("{{{text}}}"),
                format!("urn:uuid:{text}"),
            ];
            found_alone(context, &text, &near).await;
        }))
        .requires(&CHOSEN)
        .also(PENDING);
}

fn lengths(cases: &mut CaseList<'_, Service>) {
    for length in LENGTHS {
        let title = format!(
            "a verdict is found by a reference of {}, if the service stores it",
            counted(length, "byte")
        );
        cases
            .case(AVAILABLE, &format!("verdict.named.bytes-{length}"), &title)
            .steps(steps!(async |context| {
                let start = context.reference("length-");
                let text = match length {
                    1 => "Z".to_owned(),
                    _ => format!("{}{}", "x".repeat(length.saturating_sub(start.len())), start)
                        .chars()
                        .rev()
                        .take(length)
                        .collect(),
                };
                // A reference of one byte can be in use by others.
                let near = if length == 1 {
                    Vec::new()
                } else {
                    let cut = text[..length - 1].to_owned();
                    let changed = places(length).map(|at| {
                        let other = if text.as_bytes()[at] == b'y' { "z" } else { "y" };
                        format!("{}{other}{}", &text[..at], &text[at + 1..])
                    });
                    [cut, format!("{text}x")].into_iter().chain(changed).collect()
                };
                match context.ask(&StateRequest::verdict(&text)).await {
                    Ok(_) => found_alone(context, &text, &near).await,
                    Err(HookError::Unsupported) => context.observe_case("the service does not store it"),
                    Err(HookError::Failed(why)) => context.found.not_run = Some(why),
                }
            }))
            .observes_itself()
            .requires(&CHOSEN)
            .also(PENDING);
    }
}

/// Places of a text of this length: its ends, and eight within.
fn places(length: usize) -> impl Iterator<Item = usize> {
    let within = (1..=8).map(move |eighth| length * eighth / 8);
    let all: BTreeSet<usize> = within.map(|end| end - 1).chain([0, length / 2]).collect();
    all.into_iter()
}

/// A verdict at the limits of its values is a verdict.
fn judgements(cases: &mut CaseList<'_, Service>) {
    for (id, title, decision, hundredths) in [
        ("no-confidence", "a verdict with a confidence of 0 is available", Decision::Deny, 0),
        ("little-confidence", "a verdict with a confidence of 0.01 is available", Decision::Review, 1),
        ("review", "a verdict that asks for a review is available", Decision::Review, 50),
        ("denied", "a verdict that denies is available", Decision::Deny, 100),
    ] {
        cases
            .case(AVAILABLE, &format!("verdict.value.{id}"), title)
            .steps(steps!(async |context| {
                let confidence = Confidence::hundredths(hundredths).unwrap_or(Confidence::FULL);
                let judgement = Judgement { decision, confidence };
                let reference = context.reference("value");
                let Some(reference) = context.made(StateRequest::judged(reference, judgement)).await else {
                    return;
                };
                for query in ["", "waitMs=1000"] {
                    let request = context.with_token(&reference);
                    let request = if query.is_empty() { request } else { request.query(query) };
                    let reply = context.fetch_verdict(&request).await;
                    let checks = own_verdict(context, &reference, &reply);
                    context.checks(checks);
                }
            }))
            .requires(&[
                ServiceNeed::ReadToken,
                ServiceNeed::Session,
                ServiceNeed::State(StateNeed::Verdict),
            ]);
    }
}

/// The session of this reference has a verdict, and those of the near texts have none.
async fn found_alone(context: &mut ServiceCaseContext, reference: &str, near: &[String]) {
    if context.chosen(StateRequest::verdict(reference)).await.is_none() {
        return;
    }
    let reply = context.fetch_verdict(&context.with_token(reference)).await;
    let checks = own_verdict(context, reference, &reply);
    context.checks(checks);
    let near: Vec<String> = near.iter().cloned().chain(escaped(reference)).collect();
    pending(context, &near).await;
    pending_over_http2(context, &near).await;
    // A request for a near text changes nothing.
    let reply = context.fetch_verdict(&context.with_token(reference)).await;
    let checks = own_verdict(context, reference, &reply);
    context.checks(checks);
}

/// Texts that are this reference only after they are decoded a second time (RFC 3986 §2.4). None for one without escapes.
fn escaped(reference: &str) -> Vec<String> {
    let upper = as_segment(reference);
    let lower = in_lower_case(&upper);
    BTreeSet::from([upper, lower]).into_iter().filter(|text| text != reference).collect()
}

/// The text with lower-case digits in its escapes.
fn in_lower_case(segment: &str) -> String {
    let parts = segment.split('%').enumerate().map(|(number, part)| match part.split_at_checked(2) {
        Some((digits, rest)) if number > 0 => format!("%{}{rest}", digits.to_ascii_lowercase()),
        _ => part.to_owned(),
    });
    parts.collect()
}

/// The same over HTTP/2, where the service offers it.
async fn pending_over_http2(context: &mut ServiceCaseContext, texts: &[String]) {
    for text in texts {
        let draft = context.with_token(text).draft();
        let Some(sent) = context.send_http2(&draft).await else { return };
        let reply = sent.reply.clone();
        context.record(&draft, sent);
        let expected = answer(context.row(PENDING), text);
        let name = format!("{text:?} over HTTP/2");
        let checks = judge::exact(&expected, &reply).into_iter().map(|check| check.of(&name));
        context.checks(checks.collect());
    }
}

/// These texts lead to no verdict.
pub(super) async fn pending(context: &mut ServiceCaseContext, texts: &[String]) {
    for text in texts {
        let reply = context.fetch_verdict(&context.with_token(text)).await;
        let expected = answer(context.row(PENDING), text);
        let checks = judge::exact(&expected, &reply).into_iter().map(|check| check.of(&format!("{text:?}")));
        context.checks(checks.collect());
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("Ab-7_x.y~z", &[])]
    #[case::slash("a/b", &["a%2Fb", "a%2fb"])]
    #[case::digits_only("a b", &["a%20b"])]
    #[case::beyond_ascii("\u{e9}", &["%C3%A9", "%c3%a9"])]
    #[case::escape_as_text("%2F", &["%252F"])]
    fn escaped_references_are_other_texts(#[case] reference: &str, #[case] expected: &[&str]) {
        assert_eq!(escaped(reference), expected);
    }
}

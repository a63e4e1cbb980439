use edgeproof_http::Draft;
use edgeproof_mock::states::StateRequest;
use edgeproof_reports::CaseLevel;

use super::chosen::CHOSEN;
use super::named::own_verdict;
use super::references::pending;
use crate::cases::service::expected::{AVAILABLE, PENDING, answer};
use crate::cases::{CaseList, Service, ServiceCaseContext, as_segment, summary};
use crate::judge;

/// References that servers may refuse or change, and words that programs take for something else (1.3, 7.4).
pub(super) fn add(cases: &mut CaseList<'_, Service>) {
    odd(cases);
    words(cases);
    long(cases);
    nul(cases);
}

/// Servers may refuse these texts. None of them leads to the verdict of a text that resembles it.
fn odd(cases: &mut CaseList<'_, Service>) {
    const ODD: [(&str, &str); 7] = [
        ("a", "{}a%FF"),
        ("a", "{}a%C3"),
        ("ab", "{}ab%0A"),
        ("ab", "{}ab%0D%0A"),
        ("ab", "{}ab%09"),
        ("ab", "%0A{}ab"),
        ("ab", "{}ab%7F"),
    ];
    let title = "a verdict is found by its exact reference, and not with control characters or broken UTF-8";
    cases
        .case(AVAILABLE, "verdict.named.odd", title)
        .steps(steps!(async |context| {
            for (number, (text, near)) in ODD.iter().enumerate() {
                let start = context.reference(&format!("odd-{number}-"));
                let reference = format!("{start}{text}");
                if context.chosen(StateRequest::verdict(&reference)).await.is_none() {
                    return;
                }
                let reply = context.fetch_verdict(&context.with_token(&reference)).await;
                let checks = own_verdict(context, &reference, &reply);
                context.checks(checks);
                let segment = near.replace("{}", &as_segment(&start));
                let path = context.spec().verdict_path().with(&segment);
                without_verdict(context, &segment, &Draft { path, ..context.with_token(&start).draft() })
                    .await;
            }
        }))
        .requires(&CHOSEN)
        .also(PENDING);
}

/// Words that programs take for nothing. A page may pass them to `start()`. `vary/references.rs` asks for other words: these
/// have a verdict for two minutes.
const WORDS: [&str; 4] = ["null", "undefined", "None", "nil"];

/// A session whose reference is such a word has its verdict.
fn words(cases: &mut CaseList<'_, Service>) {
    let title = "a verdict is found by its exact reference: a word that programs take for nothing";
    cases
        .case(AVAILABLE, "verdict.named.words", title)
        .steps(steps!(async |context| {
            for word in WORDS {
                // A service may store no such reference.
                if context.ask(&StateRequest::verdict(word)).await.is_err() {
                    continue;
                }
                let reply = context.fetch_verdict(&context.with_token(word)).await;
                let checks = own_verdict(context, word, &reply).into_iter();
                context.checks(checks.map(|check| check.of(&format!("{word:?}"))).collect());
            }
        }))
        .requires(&CHOSEN);
}

/// Length of a long reference (bytes): longer than usual columns and keys.
const LONG: usize = 4000;

/// Servers may refuse long paths. None of them takes the beginning of a reference for the whole.
fn long(cases: &mut CaseList<'_, Service>) {
    let title = "a long reference is no other one with the same beginning";
    cases
        .case(PENDING, "verdict.named.long", title)
        .steps(steps!(async |context| {
            let start = context.reference("long-");
            let text = format!("{start}{}", "x".repeat(LONG - start.len()));
            if !is_stored(context, &text).await {
                return;
            }
            let cut = &text[..LONG - 1];
            for near in [cut.to_owned(), format!("{cut}y"), format!("{text}x")] {
                let draft = context.with_token(&near).draft();
                without_verdict(context, &near, &draft).await;
            }
        }))
        .observes_itself()
        .requires(&CHOSEN);
}

/// Many services refuse a reference with a NUL. One that stores it does not cut it there.
fn nul(cases: &mut CaseList<'_, Service>) {
    cases
        .case(PENDING, "verdict.named.nul", "a reference with a NUL is no other reference")
        .steps(steps!(async |context| {
            let start = context.reference("nul");
            let text = format!("{start}\0end");
            if !is_stored(context, &text).await {
                return;
            }
            pending(context, &[start.clone(), format!("{start}end"), format!("{start} end")]).await;
        }))
        .observes_itself()
        .requires(&CHOSEN);
}

/// Whether the service stores a verdict for this reference. Observes its answer, or that it does not store it.
async fn is_stored(context: &mut ServiceCaseContext, reference: &str) -> bool {
    match context.ask(&StateRequest::verdict(reference)).await {
        Ok(_) => {
            let reply = context.fetch_verdict(&context.with_token(reference)).await;
            context.observe_case(summary::status(&reply));
            return true;
        }
        Err(_) => context.observe_case("the service does not store it"),
    }
    false
}

/// This request does not return a verdict. A server may refuse it, and the interface does not show which reference an odd
/// path has.
pub(super) async fn without_verdict(context: &mut ServiceCaseContext, name: &str, draft: &Draft) {
    context.weakest = CaseLevel::Open;
    let reply = context.send(draft, context.timeout).await.reply;
    context.weakest = CaseLevel::Must;
    if context.has_status(AVAILABLE, &reply) {
        let expected = answer(context.row(PENDING), name);
        let checks = judge::exact(&expected, &reply).into_iter();
        context.checks(checks.map(|check| check.of(&format!("{name:?}"))).collect());
    }
}

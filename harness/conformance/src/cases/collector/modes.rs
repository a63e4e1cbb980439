use edgeproof_fixtures::seal::CollectorMode;
use edgeproof_fixtures::spec::{Fact, Stimulus};
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Counted, PageEffect, PageValue, SessionSubject};
use serde_json::{Value, json};

use crate::cases::{CaseList, Collector, CollectorCaseContext};
use crate::judge::{Check, fails_with, resolves};

/// The option `mode` (2, 7.1).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    let Fact::Setting { values, .. } = &cases.row(MODE).fact else { return };
    for mode in values {
        known(cases, mode);
    }
    // The interface lists the default first.
    if let Some(default) = values.first() {
        by_default(cases, default);
    }
    unknown(cases, values);
    observed(cases);
}

const MODE: &str = "setting.collector.mode";
/// A text that nobody should cut.
const LONG: &str = "the-whole-value-of-an-option-belongs-in-its-error-however-long-the-page-made-it";
const UNKNOWN: &str = "collector.unknown-mode";

fn known(cases: &mut CaseList<'_, Collector>, mode: &str) {
    let given = mode.to_owned();
    cases
        .case(
            MODE,
            &format!("mode.{mode}"),
            &format!("the collector accepts mode {mode}, and the collection contains it"),
        )
        .steps(move |context| Box::pin(session_in(context, Some(given.clone()), given.clone())));
}

fn by_default(cases: &mut CaseList<'_, Collector>, default: &str) {
    let default = default.to_owned();
    cases
        .case("statement.mode-default", "mode.default", &format!("without the option, the mode is {default}"))
        .steps(steps!(with(default), async |context| {
            if context.needs_verdict() {
                session_in(context, None, default).await;
            }
        }))
        .also(MODE);
}

/// Runs a session in a mode. A collection that opens has to name the expected mode.
async fn session_in(context: &mut CollectorCaseContext, mode: Option<String>, expected: String) {
    let Some((edge, page)) = context.opened(context.edge_setup()).await else { return };
    let mut options = context.options(&edge.url());
    if let Some(mode) = mode {
        options.insert("mode".into(), json!(mode));
    }
    let session = page.session(options, &context.reference("mode")).await;
    context.check(resolves(&session));
    let posts = edge.posts();
    context.check(Check::counted(Counted::Collections, 1, posts.len()).which("at the edge"));
    let opened = posts.into_iter().find_map(|post| edge.open(&post.body.unwrap_or_default()).ok());
    if let Some(contents) = opened {
        let mode = contents.mode.as_str();
        let ok = mode == expected;
        context.check(Check::page_is(PageEffect::Mode, expected, PageValue::text(mode), ok));
    }
}

fn unknown(cases: &mut CaseList<'_, Collector>, known: &[String]) {
    let upper: Vec<String> = known.iter().flat_map(|mode| [mode.to_uppercase(), capitalised(mode)]).collect();
    let around: Vec<String> =
        known.iter().flat_map(|mode| [format!(" {mode}"), format!("{mode}s")]).collect();
    let texts = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    let mut others = texts(&["turbo", "none", "0", "auto\"quoted\"", "$&-$`-$$", "плный", LONG]);
    // A version may lack modes of the current one.
    others.extend(CollectorMode::ALL.iter().map(|mode| mode.name().to_owned()));
    others.retain(|mode| !known.contains(mode));
    for (id, title, values) in [
        ("other", "an unknown mode", others),
        ("empty", "an empty mode", texts(&["", " "])),
        ("case", "a mode in another case", upper),
        ("around", "a mode with other characters around it", [around, vec![known.join(",")]].concat()),
        (
            // A lookup in a plain object finds these names.
            "prototype",
            "a mode that is a property of every object",
            texts(&["toString", "__proto__", "constructor", "hasOwnProperty", "valueOf"]),
        ),
        ("word", "a mode that is a word for a missing value", texts(&["null", "undefined", "default"])),
    ] {
        let title = format!("the collector refuses {title}");
        cases
            .case(UNKNOWN, &format!("mode.unknown.{id}"), &title)
            .steps(steps!(with(values), async |context| {
                let Some(page) = context.page().await else { return };
                for value in &values {
                    let mut options = context.options(NOWHERE);
                    options.insert("mode".into(), json!(value));
                    let session = page.session(options, &context.reference("mode")).await;
                    let expected = context.error(UNKNOWN, value);
                    context.check(fails_with(SessionSubject::Mode(value.into()), &expected, &session));
                }
            }))
            .stimulus(Stimulus::ModeUnknown)
            .also(MODE);
    }
}

/// An edge that no page needs: the options are refused before.
const NOWHERE: &str = "https://edge.invalid";

/// Values that are not texts.
fn observed(cases: &mut CaseList<'_, Collector>) {
    let values: [(&str, Value); 4] =
        [("null", Value::Null), ("zero", json!(0)), ("false", json!(false)), ("array", json!(["full"]))];
    let points = values.clone().map(|(name, _)| format!("collector.mode.{name}"));
    cases
        .case(MODE, "mode.observed", "how the collector handles a non-string mode")
        .steps(steps!(with(values), async |context| {
            let Some(page) = context.page().await else { return };
            for (name, value) in values {
                let mut options = context.options(NOWHERE);
                options.insert("mode".into(), value);
                let session = page.session(options, &context.reference("mode")).await;
                context.observe(&format!("collector.mode.{name}"), session.summary());
            }
        }))
        .observes(points)
        .level(CaseLevel::Open);
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

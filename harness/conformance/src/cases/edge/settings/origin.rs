use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use edgeproof_fixtures::spec::{Advice, AllowedOriginForm};
use edgeproof_http::Draft;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{DifferenceKind, GrantForm};

use super::play::Play;
use super::relayed::post;
use crate::cases::{
    EdgeCaseContext, OTHER_ORIGIN, SECOND_ORIGIN, collection_from, page_origin, preflight, summary,
};
use crate::judge::{self, Check};

/// Origins that no form allows.
const OTHERS: [&str; 3] = [OTHER_ORIGIN, "https://shop.example.other.example", "null"];

/// The named origin gets a grant, and no other one.
pub(super) async fn play(play: &Play, form: AllowedOriginForm, context: &mut EdgeCaseContext) {
    if page_origin(form).is_some() {
        // Who comes first does not decide who gets a grant. What arrives before the first script belongs to no case.
        for draft in [preflight(OTHER_ORIGIN), collection_from(OTHER_ORIGIN)] {
            grants(form, context, OTHER_ORIGIN, &draft).await;
        }
    }
    let sent = post(play, context).await;
    if let Some(origin) = page_origin(form) {
        context.checks(judge::exact(&play.accepted, &sent.reply));
        context.check(judge::readable(origin, &sent.reply).at(play.level));
        let sent = context.send(&preflight(origin)).await;
        context.checks(judge::preflight_passes(origin, &sent.reply));
    } else {
        let named = from(play, form, context, ALLOWED_ORIGIN).await;
        context.observe_case(format!("{}; {named}", summary::status(&sent.reply)));
    }
    for origin in OTHERS.into_iter().chain([SECOND_ORIGIN]) {
        from(play, form, context, origin).await;
    }
}

/// Whether this form names the origin, so that a grant to it is open.
fn is_named(form: AllowedOriginForm, origin: &str) -> bool {
    match form {
        AllowedOriginForm::Slash | AllowedOriginForm::UpperCase => origin == ALLOWED_ORIGIN,
        AllowedOriginForm::Several => [ALLOWED_ORIGIN, SECOND_ORIGIN].contains(&origin),
        AllowedOriginForm::Localhost
        | AllowedOriginForm::Ipv6
        | AllowedOriginForm::Empty
        | AllowedOriginForm::Unset => false,
    }
}

/// Level of a grant to an origin that the form does not name. Without an origin in the setting, nothing says whom to refuse.
fn level(form: AllowedOriginForm) -> CaseLevel {
    match form {
        AllowedOriginForm::Empty | AllowedOriginForm::Unset => CaseLevel::Should,
        _ => CaseLevel::Must,
    }
}

/// Posts a collection from `origin` and sends its preflight. Yields in words whether there is a grant.
async fn from(
    play: &Play,
    form: AllowedOriginForm,
    context: &mut EdgeCaseContext,
    origin: &str,
) -> &'static str {
    context.script(play.accept.clone());
    let mut any = false;
    for draft in [collection_from(origin), preflight(origin)] {
        any |= grants(form, context, origin, &draft).await;
    }
    if any { "grants the origin" } else { "does not grant the origin" }
}

/// Whether the answer to this request from `origin` grants it. Checks that it does so only if the form names it.
async fn grants(form: AllowedOriginForm, context: &mut EdgeCaseContext, origin: &str, draft: &Draft) -> bool {
    let may = is_named(form, origin);
    let draft = context.fill(draft);
    let sent = context.exchange(&draft).await;
    let check = judge::no_grant(origin, &sent.reply);
    let grants = !check.ok;
    // A grant to every origin includes origins that no form names.
    let is_for_all = matches!(check.kind(), Some(DifferenceKind::Grant { form: GrantForm::Any, .. }));
    let ok = check.ok || may && !is_for_all;
    if !ok {
        context.record(&draft, sent);
    }
    let check = Check { ok, ..check }.of(origin).at(level(form));
    context.check(check.advise(Advice::GrantUnset));
    grants
}

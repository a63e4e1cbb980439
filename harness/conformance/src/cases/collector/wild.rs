use std::time::Duration;

use edgeproof_fixtures::collector::modes;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::difference::{Counted, PageEffect, PageValue};

use super::page_scripts::{ANY_PAGE, DEVIATING_PAGE, PAGE_SCRIPTS, scoped};
use super::page_watch;
use super::sealed::check_reference;
use crate::cases::{AVAILABLE, CaseList, Collector, CollectorCaseContext, CollectorPage, PageSetup, SealUse};
use crate::collector::{CollectorEdge, PageForm, PageOrigin};
use crate::judge::{self, Check, resolves};

const UNCHANGED: &str = "statement.page-unchanged";

/// Longest time of a new page with a session, and of the wait for what lasts a moment only, on a busy machine.
const PAGE: Duration = Duration::from_secs(10);

/// Pages that come with scripts, policies, frames and languages of their own (1.1, 5).
pub(super) fn add(cases: &mut CaseList<'_, Collector>) {
    for scripts in &PAGE_SCRIPTS {
        let pages = scripts.ways.iter().map(|(what, script)| {
            let before = vec![scoped(script)];
            (*what, PageSetup { before, ..PageSetup::at(PageOrigin::Https) })
        });
        wild(cases, scripts.row, scripts.id, scripts.title, pages.collect());
    }
    for (row, form, title) in [
        (ANY_PAGE, PageForm::Redirected, "a redirect before it"),
        (ANY_PAGE, PageForm::Base, "a base URL on another host"),
        (ANY_PAGE, PageForm::Quirks, "no doctype"),
        (ANY_PAGE, PageForm::Xhtml, "XHTML"),
        (ANY_PAGE, PageForm::NoReferrer, "a policy of no referrer"),
        (ANY_PAGE, PageForm::RightToLeft, "text from right to left"),
        (ANY_PAGE, PageForm::Policy, "a content security policy without eval"),
        (ANY_PAGE, PageForm::SameOriginFrame, "the collector in a frame of the same origin"),
        (ANY_PAGE, PageForm::OtherSiteFrame, "the collector in a frame of another site"),
        (DEVIATING_PAGE, PageForm::StrictPolicy, "a content security policy that allows the POST only"),
        (DEVIATING_PAGE, PageForm::TrustedTypes, "a policy that requires trusted types"),
    ] {
        let page = PageSetup { form, ..PageSetup::at(PageOrigin::Https) };
        wild(cases, row, form.into(), title, vec![(title, page)]);
    }
    wild(cases, ANY_PAGE, "languages", "other languages, digits and time zones", languages());
}

/// Pages with digits, letters and time zones that differ from the usual ones.
fn languages() -> Vec<(&'static str, PageSetup)> {
    let page = |locale: &str, zone: &str| {
        let script = format!(
            "get(Navigator.prototype, 'language', () => '{locale}');
             get(Navigator.prototype, 'languages', () => Object.freeze(['{locale}']));"
        );
        PageSetup {
            before: vec![scoped(&script)],
            locale: Some(locale.to_owned()),
            time_zone: Some(zone.to_owned()),
            ..PageSetup::at(PageOrigin::Https)
        }
    };
    vec![
        ("Arabic, and the time of Nepal", page("ar-EG", "Asia/Kathmandu")),
        ("Turkish, and the time of Kiribati", page("tr-TR", "Pacific/Kiritimati")),
    ]
}

/// A case with a session in each of these pages.
fn wild(
    cases: &mut CaseList<'_, Collector>,
    row: &str,
    id: &str,
    title: &str,
    pages: Vec<(&'static str, PageSetup)>,
) {
    let takes = PAGE * u32::try_from(pages.len()).unwrap_or(1);
    cases
        .case(row, &format!("wild.{id}"), &format!("a session is accepted on a page with {title}"))
        .steps(steps!(with(pages), async |context| {
            for (what, page) in pages {
                if session_on(context, page, &format!("on a page with {what}")).await.is_none() {
                    return;
                }
            }
        }))
        .also(UNCHANGED)
        .takes(takes);
}

/// Plays a session on a page. None: there is no page, or it cannot tell what changed.
async fn session_on(context: &mut CollectorCaseContext, mut setup: PageSetup, what: &str) -> Option<()> {
    let (form, origin) = (setup.form, setup.form.inner_origin(setup.origin));
    setup.before.insert(0, page_watch::script());
    let mut edge = context.edge_setup();
    edge.allowed_origin = context.target.pages.origin(origin);
    let edge = context.edge(edge).await?;
    let page = context.page_with(setup).await?;
    let reference = context.reference("wild");
    let session = page.session(context.options(&edge.url()), &reference).await;
    context.check(resolves(&session).which(what).advise(Advice::PageAssumed));
    if session.is_returned() {
        let posts = edge.posts().len().max(page.posts().await);
        context.check(Check::counted(Counted::Collections, 1, posts).which(&format!("at the edge, {what}")));
        has_verdict(context, &edge, &reference, what).await;
        has_default_mode(context, &edge, what);
    }
    // The page around a frame sees the frame only.
    if !form.has_frame() {
        unchanged(context, &page, what).await;
    }
    Some(())
}

/// The page chose no mode, so that the collection has the default one.
fn has_default_mode(context: &mut CollectorCaseContext, edge: &CollectorEdge, what: &str) {
    let opened = edge.posts().into_iter().find_map(|post| edge.open(&post.body?).ok());
    let Some((contents, default)) = opened.zip(modes(context.spec()).into_iter().next()) else { return };
    let mode = contents.mode.as_str();
    let check = Check::page_is(PageEffect::Mode, default, PageValue::text(mode), mode == default);
    context.check(check.which(what));
}

/// The collection opens, and a backend gets the verdict by its reference.
async fn has_verdict(context: &mut CollectorCaseContext, edge: &CollectorEdge, reference: &str, what: &str) {
    let posted = edge.posts().into_iter().find_map(|post| post.body);
    let Some(body) = posted.filter(|_| context.opens_collections()) else { return };
    if check_reference(context, edge, &body, reference, Some(what)).await.is_none()
        || context.target.seal == SealUse::Foreign
    {
        return;
    }
    let Ok(reply) = edge.verdict(reference).await else { return };
    let ok = context.has_status(AVAILABLE, &reply);
    context.check(Check::page(PageEffect::Verdict, Some(judge::page_answer(&reply)), ok).which(what));
}

async fn unchanged(context: &mut CollectorCaseContext, page: &CollectorPage, what: &str) {
    if let Some(changes) = page_watch::changes(page).await {
        page_watch::check_unchanged(context, &changes, what);
    }
}

use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{PageEffect, PageValue};
use serde::Deserialize;
use serde_json::json;

use crate::cases::{CollectorCaseContext, CollectorPage};
use crate::judge::Check;

/// Function that notes the state of a page.
const WATCH: &str = include_str!("page_watch.js");
/// Property of the page with the comparison.
const KEY: &str = "edgeproofPageWatch";

/// What changed in a page since it was loaded.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageChanges {
    built_ins: Vec<String>,
    left: Vec<String>,
    handlers: Vec<String>,
    /// New properties of the global object.
    pub(super) globals: Vec<String>,
    /// Directives of the page's policy that something violated.
    pub(super) policy: Vec<String>,
    /// Tasks that took longer than 50 ms.
    pub(super) long_tasks: usize,
}

/// Script that notes the state of a page. It runs before all others.
pub(super) fn script() -> String {
    format!("({WATCH})({});", json!(KEY))
}

/// The changes of a page with the script. None: the page cannot tell.
pub(super) async fn changes(page: &CollectorPage) -> Option<PageChanges> {
    serde_json::from_value(page.evaluate(&format!("globalThis[{}]()", json!(KEY))).await?).ok()
}

/// The page is as it was. `what`: the page.
pub(super) fn check_unchanged(context: &mut CollectorCaseContext, changes: &PageChanges, what: &str) {
    for (effect, found) in [
        (PageEffect::BuiltIns, &changes.built_ins),
        (PageEffect::Leftovers, &changes.left),
        (PageEffect::OtherHandlers, &changes.handlers),
    ] {
        let actual = (!found.is_empty()).then(|| PageValue::texts(found));
        let check = Check::page(effect, actual, found.is_empty()).which(what).at(CaseLevel::Should);
        context.check(check.advise(Advice::PageChanged));
    }
}

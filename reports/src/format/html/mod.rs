//! HTML page for people: one file without network. Its only script adds search, filters, links and copy buttons; without it
//! the page is complete. The page is well-formed XML, so that tests can prove that no text leaves its element.

mod anchor;
mod cases;
mod causes;
mod rows;
mod sequence;
mod values;

use std::collections::HashMap;
use std::iter;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use self::cases::CaseEntry;
use self::causes::CauseCard;
use self::rows::RowTable;
use crate::model::{
    CauseGroup, Hop, Observation, Outcome, Report, Titles, by_reason, by_section, cause_groups, headline,
    titled,
};
use crate::text::escape::one_line;
use crate::text::open_points;
use crate::text::page::{STYLE, rendered};
use crate::text::units;
use crate::text::verdict::verdict;

/// The script of the page. It has no `<` and no `&`: the page stays well-formed XML.
const SCRIPT: &str = include_str!("../../../templates/report.js");
/// What the page needs besides the style of all pages.
const OWN_STYLE: &str = include_str!("../../../templates/report.css");

/// The document.
pub(super) fn render(report: &Report, titles: &Titles) -> String {
    let groups = cause_groups(&report.causes, &report.cases);
    let cards: Vec<CauseCard> =
        groups.iter().zip(1..).map(|(group, number)| CauseCard::new(number, group, report)).collect();
    let style = format!("{STYLE}{OWN_STYLE}");
    rendered(&ReportPage {
        verdict: verdict(report),
        policy: format!("style-src {}; script-src {}", source(&style), source(SCRIPT)),
        style,
        script: SCRIPT,
        report,
        sections: sections(report, titles, &groups, &cards),
        rows: RowTable::new(report, titles),
        causes: cause_lists(&groups, cards),
        findings: &report.findings,
        unresolved: reasons(report, Outcome::NotRun),
        inapplicable: reasons(report, Outcome::NotApplicable),
        unchecked: open_points::unchecked_pins(report),
        doubtful: open_points::doubtful(report),
        facts: facts(report),
    })
}

/// Values of the template.
#[derive(Template)]
#[template(path = "report.html")]
struct ReportPage<'a> {
    verdict: String,
    policy: String,
    style: String,
    script: &'static str,
    report: &'a Report,
    causes: Vec<CauseList>,
    /// Each of one line or more.
    findings: &'a [String],
    /// Number of cases and reason.
    unresolved: Vec<(usize, String)>,
    inapplicable: Vec<(usize, String)>,
    rows: RowTable,
    sections: Vec<SectionCases<'a>>,
    unchecked: Option<String>,
    doubtful: Vec<String>,
    facts: Vec<(&'static str, String)>,
}

/// Causes of the failures, or of the warnings.
struct CauseList {
    heading: String,
    cards: Vec<CauseCard>,
}

/// A section with its cases.
struct SectionCases<'a> {
    number: &'a str,
    heading: String,
    counts: String,
    cases: Vec<CaseEntry<'a>>,
}

impl ReportPage<'_> {
    fn class(&self) -> &'static str {
        match self.report.exit_code {
            0 => "pass",
            1 => "fail",
            _ => "not-run",
        }
    }

    /// Number and title of each cause, for the filter.
    fn cause_options(&self) -> impl Iterator<Item = (usize, &str)> {
        self.causes.iter().flat_map(|list| &list.cards).map(|card| (card.number, card.title.as_str()))
    }

    /// The result, and the inputs that cases lack.
    fn result(&self) -> (&str, Option<&str>) {
        self.verdict
            .split_once("; ")
            .map_or((&self.verdict, None), |(result, lacking)| (result, Some(lacking)))
    }

    /// Name of the tested part, as far as the exchanges show it.
    fn part(&self) -> &'static str {
        let mut hops = self.report.cases.iter().flat_map(|case| &case.exchanges).map(|exchange| exchange.hop);
        if hops.any(|hop| hop == Hop::EdgeService) { "edge" } else { "target" }
    }

    fn observations(&self) -> &[Observation] {
        &self.report.observations
    }
}

/// Source of a policy that admits this text alone.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

/// The lists that are not empty. `cards`: one for each group.
fn cause_lists(groups: &[CauseGroup<'_>], cards: Vec<CauseCard>) -> Vec<CauseList> {
    let mut cards = cards.into_iter();
    let mut lists = Vec::new();
    // Groups of failures come first.
    for outcome in [Outcome::Fail, Outcome::Warn] {
        let own: Vec<_> = groups.iter().filter(|group| group.outcome == outcome).collect();
        if !own.is_empty() {
            let cards = cards.by_ref().take(own.len()).collect();
            lists.push(CauseList { heading: headline(&own, outcome), cards });
        }
    }
    lists
}

fn sections<'a>(
    report: &'a Report,
    titles: &Titles,
    groups: &[CauseGroup<'_>],
    cards: &[CauseCard],
) -> Vec<SectionCases<'a>> {
    let mut causes: HashMap<&str, Vec<(&CauseGroup<'_>, &CauseCard)>> = HashMap::new();
    for (group, card) in iter::zip(groups, cards) {
        for case in &group.cases {
            causes.entry(&case.id).or_default().push((group, card));
        }
    }
    let sections = by_section(&report.cases).into_iter().map(|section| SectionCases {
        number: section.number,
        heading: one_line(&titled(section.number, titles)).into_owned(),
        counts: section.summary().line(),
        cases: section
            .cases
            .iter()
            .map(|case| CaseEntry::new(case, causes.get(case.id.as_str()).map_or(&[], Vec::as_slice)))
            .collect(),
    });
    sections.collect()
}

/// The reasons for an outcome, each with the number of its cases.
fn reasons(report: &Report, outcome: Outcome) -> Vec<(usize, String)> {
    let cases = report.cases.iter().filter(|case| case.outcome == outcome);
    by_reason(cases).into_iter().map(|(reason, cases)| (cases.len(), one_line(reason).into_owned())).collect()
}

/// What the run was, at the end of the page.
fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let mut facts = vec![("target", report.target.to_string()), ("interface", report.spec.to_string())];
    facts.extend(report.cases_of.map(|version| ("cases", format!("of edgeproof {version}"))));
    facts.extend(report.latency.as_ref().map(|latency| ("edge-added latency", units::latency(latency))));
    facts.extend([
        ("started", report.started.clone()),
        ("exchanges", units::count(report.exchange_count)),
        ("duration", units::duration(report.duration_ms)),
        ("seed", report.seed.to_string()),
        ("edgeproof", report.tool.version.clone()),
    ]);
    facts.into_iter().map(|(name, value)| (name, one_line(&value).into_owned())).collect()
}

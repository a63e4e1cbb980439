use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Case, CaseContext, Catalog, Monitor, Part, Phase, PointRule, Procedure};
use edgeproof_fixtures::spec::Fact;
use edgeproof_reports::CaseLevel;

/// Cases of one part, and what they are derived from.
pub struct CaseList<'a, P: Part> {
    catalog: Catalog<'a>,
    cases: Vec<Case<P>>,
}

/// A case without its requests.
pub struct NewCase<'c, 't, 'a, P: Part> {
    pub(super) list: &'c mut CaseList<'a, P>,
    row: &'t str,
    pub(super) id: &'t str,
    title: &'t str,
}

impl<'a, P: Part> CaseList<'a, P> {
    /// An empty list.
    pub fn new(catalog: Catalog<'a>) -> Self {
        Self { catalog, cases: Vec::new() }
    }

    /// The cases in the order in which they were added, without those of rows that this version lacks. At the end those of
    /// rules about open points.
    pub fn into_cases(mut self) -> Vec<Case<P>> {
        self.rules();
        let spec = self.catalog.spec;
        let mut cases = self.cases;
        cases.retain(|case| case.rows.first().is_some_and(|row| spec.row(row).is_some()));
        for case in &mut cases {
            let mut rows = Vec::new();
            for row in case.rows.iter().filter_map(|id| spec.row_or_renamed(id)) {
                if !rows.contains(&row.id) {
                    rows.push(row.id.clone());
                }
            }
            case.rows = rows;
        }
        cases
    }

    /// Begins a case that proves `row`. Its exchange or its steps complete it.
    pub fn case<'c, 't>(&'c mut self, row: &'t str, id: &'t str, title: &'t str) -> NewCase<'c, 't, 'a, P> {
        NewCase { list: self, row, id, title }
    }

    /// Adds a case for each monitor.
    pub fn monitors(&mut self) {
        for monitor in P::MONITORS {
            let spec = self.spec;
            let rows: Vec<&str> =
                monitor.rows().iter().copied().filter(|row| spec.row_or_renamed(row).is_some()).collect();
            let [row, others @ ..] = &rows[..] else { continue };
            let case = self.case(row, monitor.id(), monitor.title()).with(Procedure::Monitor(*monitor));
            case.requires(monitor.needs()).phase(Phase::Monitors);
            for other in others {
                case.also(other);
            }
            if monitor.point().is_some() {
                case.level(CaseLevel::Open);
            }
        }
    }
}

impl<P: Part> CaseList<'_, P> {
    /// Adds a case for each rule about an open point that a case with requests observes.
    fn rules(&mut self) {
        for row in self.spec.rows() {
            let Fact::Rule { point, value } = &row.fact else { continue };
            let observes = |case: &&Case<P>| {
                case.points.contains(point) && !matches!(case.procedure, Procedure::Monitor(_))
            };
            let Some(observer) = self.cases.iter().find(observes) else { continue };
            let rule = PointRule {
                row: row.id.clone(),
                point: point.clone(),
                value: value.clone(),
                caseless: self.spec.profile().point(point).is_some_and(|known| known.caseless),
                observer: observer.id.clone(),
            };
            let case = observer.judging(row, rule);
            self.cases.push(case);
        }
    }
}

impl<'c, P: Part> NewCase<'c, '_, '_, P> {
    /// Completes the case with one exchange.
    pub fn exchange(self, exchange: P::Exchange) -> &'c mut Case<P> {
        self.with(Procedure::Exchange(Box::new(exchange)))
    }

    /// Completes the case with several named exchanges.
    pub fn exchanges(self, exchanges: Vec<(String, P::Exchange)>) -> &'c mut Case<P> {
        self.with(Procedure::Exchanges(exchanges.into()))
    }

    /// Completes the case with other steps, made by [`steps!`](crate::steps).
    pub fn steps<F>(self, steps: F) -> &'c mut Case<P>
    where
        F: for<'s> Fn(&'s mut CaseContext<P::Target>) -> BoxFuture<'s, ()> + Send + Sync + 'static,
    {
        self.with(Procedure::Steps(Arc::new(steps)))
    }

    fn with(self, procedure: Procedure<P>) -> &'c mut Case<P> {
        let title = self.list.spec.in_words(self.title);
        let case = Case::of(self.list.row(self.row), self.id, &title, procedure);
        self.list.cases.push(case);
        self.list.cases.last_mut().expect("a case was just pushed")
    }
}

impl<'a, P: Part> Deref for CaseList<'a, P> {
    type Target = Catalog<'a>;

    fn deref(&self) -> &Catalog<'a> {
        &self.catalog
    }
}

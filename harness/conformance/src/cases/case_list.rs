use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Case, CaseContext, Catalog, Monitor, Part, Phase, Procedure};
use edgeproof_reports::CaseLevel;

/// Cases of one part, and what they are derived from.
pub struct CaseList<'a, P: Part> {
    catalog: Catalog<'a>,
    cases: Vec<Case<P>>,
}

impl<'a, P: Part> CaseList<'a, P> {
    /// An empty list.
    pub fn new(catalog: Catalog<'a>) -> Self {
        Self { catalog, cases: Vec::new() }
    }

    /// The cases in the order in which they were added.
    pub fn into_cases(self) -> Vec<Case<P>> {
        self.cases
    }

    /// Adds a case for `row`.
    pub fn add(&mut self, row: &str, id: &str, title: &str, procedure: Procedure<P>) -> &mut Case<P> {
        let case = Case::of(self.row(row), id, title, procedure);
        self.cases.push(case);
        self.cases.last_mut().expect("a case was just pushed")
    }

    /// Adds a case for `row` with one exchange.
    pub fn exchange(&mut self, row: &str, id: &str, title: &str, exchange: P::Exchange) -> &mut Case<P> {
        self.add(row, id, title, Procedure::Exchange(Box::new(exchange)))
    }

    /// Adds a case for `row` with several named exchanges.
    pub fn exchanges(
        &mut self,
        row: &str,
        id: &str,
        title: &str,
        exchanges: Vec<(String, P::Exchange)>,
    ) -> &mut Case<P> {
        self.add(row, id, title, Procedure::Exchanges(exchanges.into()))
    }

    /// Adds a case for `row` with other steps.
    pub fn steps<F>(&mut self, row: &str, id: &str, title: &str, steps: F) -> &mut Case<P>
    where
        F: for<'s> Fn(&'s mut CaseContext<P::Target>) -> BoxFuture<'s, ()> + Send + Sync + 'static,
    {
        self.add(row, id, title, Procedure::Steps(Arc::new(steps)))
    }

    /// Adds a case for each monitor.
    pub fn monitors(&mut self) {
        for monitor in P::MONITORS {
            let [row, others @ ..] = monitor.rows() else { continue };
            let case = self.add(row, monitor.id(), monitor.title(), Procedure::Monitor(*monitor));
            case.requires(monitor.needs()).phase(Phase::Monitors);
            for other in others {
                case.also(other);
            }
            if monitor.is_open() {
                case.level(CaseLevel::Open);
            }
        }
    }
}

impl<'a, P: Part> Deref for CaseList<'a, P> {
    type Target = Catalog<'a>;

    fn deref(&self) -> &Catalog<'a> {
        &self.catalog
    }
}

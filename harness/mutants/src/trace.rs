use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use edgeproof_fixtures::spec::{Row, Spec, Table};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::sockets::{Side, World, WorldError};
use super::{at_row, serving};
use edgeproof::cases::Case;
use edgeproof::target::FaultInjection;
use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeOptions, EdgeRequest, Relayed};
use edgeproof_mock::{ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceOptions, ServiceRequest};

/// Which rows' answers each case brings about, found by playing it on what is right: a deviation at a row touches no
/// other case.
pub(super) type Traces = BTreeMap<String, BTreeSet<String>>;

/// Plays each case by itself, so many at the same time, and notes the rows.
pub(super) async fn traces(world: &World, cases: &[(Side, Case)], jobs: usize) -> Result<Traces, WorldError> {
    let traced = cases.iter().map(|(side, case)| async move {
        let trace = Arc::new(Trace::new(&world.pure.spec));
        let faults = Arc::new(Tracing(Arc::clone(&trace))) as Arc<dyn FaultInjection>;
        world.play(*side, std::slice::from_ref(case), Some(&faults)).await?;
        let seen = trace.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok((case.id.clone(), seen))
    });
    stream::iter(traced).buffer_unordered(jobs).try_collect().await
}

#[derive(Debug)]
struct Tracing(Arc<Trace>);

impl FaultInjection for Tracing {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::clone(&self.0) as Arc<dyn EdgeFaultHooks>;
    }

    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::clone(&self.0) as Arc<dyn ServiceFaultHooks>;
    }
}

#[derive(Debug)]
struct Trace {
    rows: Vec<Row>,
    seen: Mutex<BTreeSet<String>>,
}

impl Trace {
    fn new(spec: &Spec) -> Self {
        let tables = [Table::Edge, Table::Relay, Table::Verdict, Table::Keys];
        let rows = tables.into_iter().flat_map(|table| spec.table(table)).cloned().collect();
        Self { rows, seen: Mutex::default() }
    }

    fn note(&self, shows: impl Fn(&Row) -> bool) {
        let shown = self.rows.iter().filter(|row| shows(row)).map(|row| row.id.clone());
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(shown);
    }
}

impl EdgeFaultHooks for Trace {
    fn conclude(&self, asked: &EdgeRequest<'_>, relayed: Option<&Relayed>, right: EdgeAnswer) -> EdgeAction {
        self.note(|row| {
            matches!(row.table, Table::Edge | Table::Relay) && at_row::shows(row, asked, relayed, &right)
        });
        EdgeAction::Answer(right)
    }
}

impl ServiceFaultHooks for Trace {
    fn conclude(&self, asked: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        self.note(|row| serving::shows(row, asked.endpoint, &right));
        ServiceAction::At(Duration::ZERO, right)
    }
}

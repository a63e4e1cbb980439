use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use edgeproof::cases::CaseFacts;
use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult};
use edgeproof_fixtures::spec::{PartName, Row, Spec, Table};
use edgeproof_mock::{ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceOptions, ServiceRequest};
use edgeproof_targets::FaultInjection;
use futures_util::{StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;

use super::test_bed::{TestBed, TestBedError};
use crate::mutation::{is_edge_answer, is_service_answer};

/// Ids of the rows whose answers each case meets, by case id. A row mutation affects no other case.
pub(crate) type Traces = BTreeMap<String, BTreeSet<String>>;

/// Runs each case alone against the reference parts and records the rows. `jobs`: concurrent cases.
pub(crate) async fn trace(
    bed: &TestBed,
    cases: &[(PartName, CaseFacts)],
    jobs: usize,
) -> Result<Traces, TestBedError> {
    let traced = cases.iter().map(|(part, case)| async move {
        let recorder = RowRecorder(Arc::new(RecordedRows::new(&bed.spec)));
        let recorded = Arc::clone(&recorder.0);
        bed.play(*part, std::slice::from_ref(case), Some(Arc::new(recorder))).await?;
        let rows = recorded.met.lock().clone();
        Ok((case.id.clone(), rows))
    });
    stream::iter(traced).buffer_unordered(jobs).try_collect().await
}

/// Records the rows of all answers in one run.
#[derive(Debug)]
struct RowRecorder(Arc<RecordedRows>);

#[derive(Debug)]
struct RecordedRows {
    rows: Vec<Row>,
    met: Mutex<BTreeSet<String>>,
}

impl RecordedRows {
    fn new(spec: &Spec) -> Self {
        let tables = [Table::Edge, Table::Relay, Table::Verdict, Table::Keys];
        let rows = tables.into_iter().flat_map(|table| spec.table(table)).cloned().collect();
        Self { rows, met: Mutex::default() }
    }

    fn record(&self, is_answer: impl Fn(&Row) -> bool) {
        let met = self.rows.iter().filter(|row| is_answer(row)).map(|row| row.id.clone());
        self.met.lock().extend(met);
    }
}

impl FaultInjection for RowRecorder {
    fn edge(&self, options: &mut EdgeOptions) {
        options.hooks = Arc::clone(&self.0) as Arc<dyn EdgeFaultHooks>;
    }

    fn service(&self, options: &mut ServiceOptions) {
        options.hooks = Arc::clone(&self.0) as Arc<dyn ServiceFaultHooks>;
    }
}

impl EdgeFaultHooks for RecordedRows {
    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        self.record(|row| is_edge_answer(row, request, relayed, &right));
        EdgeAction::Answer(right)
    }
}

impl ServiceFaultHooks for RecordedRows {
    fn conclude(&self, request: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        self.record(|row| is_service_answer(row, request.endpoint, &right));
        ServiceAction::At(Duration::ZERO, right)
    }
}

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use fixtures::spec::{Row, Spec, Table};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::at_row::shows;
use super::sockets::{World, WorldError};
use crate::cases::Case;
use crate::mock::edge::{Answer, Asked, Quirk, Relayed, Said};
use crate::target::Twist;

/// Which rows' answers each case brings about, found by playing it on the right edge: a deviation at a row touches no
/// other case.
pub(super) type Traces = BTreeMap<String, BTreeSet<String>>;

/// Plays each case by itself, so many at the same time, and notes the rows.
pub(super) async fn traces(world: &World, cases: &[Case], jobs: usize) -> Result<Traces, WorldError> {
    let traced = cases.iter().map(|case| async move {
        let trace = Arc::new(Trace::new(&world.pure.spec));
        let quirk = Arc::clone(&trace);
        let twist = Twist::new(move |options| options.quirk = Arc::clone(&quirk) as Arc<dyn Quirk>);
        world.play(std::slice::from_ref(case), Some(&twist)).await?;
        let seen = trace.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok((case.id.clone(), seen))
    });
    stream::iter(traced).buffer_unordered(jobs).try_collect().await
}

#[derive(Debug)]
struct Trace {
    rows: Vec<Row>,
    seen: Mutex<BTreeSet<String>>,
}

impl Trace {
    fn new(spec: &Spec) -> Self {
        let rows = spec.table(Table::Edge).chain(spec.table(Table::Relay)).cloned().collect();
        Self { rows, seen: Mutex::default() }
    }
}

impl Quirk for Trace {
    fn conclude(&self, asked: &Asked<'_>, relayed: Option<&Relayed>, right: Answer) -> Said {
        let shown = self.rows.iter().filter(|row| shows(row, asked, relayed, &right));
        let shown: Vec<String> = shown.map(|row| row.id.clone()).collect();
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).extend(shown);
        Said::Answer(right)
    }
}

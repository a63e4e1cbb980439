use edgeproof_fixtures::spec::{Spec, Table};

/// What the tables list of refusals: status and reason, in the order of the rows.
#[derive(Debug)]
pub(super) struct Listed(Vec<(u16, String)>);

impl Listed {
    pub(super) fn of(spec: &Spec) -> Self {
        let rows = spec.table(Table::Relay);
        Self(rows.filter_map(|row| Some((row.status()?, row.code()?.to_owned()))).collect())
    }

    pub(super) fn has_status(&self, status: u16) -> bool {
        self.0.iter().any(|(listed, _)| *listed == status)
    }

    pub(super) fn has_reason(&self, reason: &str) -> bool {
        self.0.iter().any(|(_, listed)| listed == reason)
    }

    /// The statuses that a reason is listed with.
    pub(super) fn statuses(&self, reason: &str) -> impl DoubleEndedIterator<Item = u16> {
        self.0.iter().filter(move |(_, listed)| listed == reason).map(|(status, _)| *status)
    }
}

use edgeproof_fixtures::spec::{Spec, Table};

/// Status and reason of each refusal in the relay table, in the order of its rows.
#[derive(Debug)]
pub(super) struct RelayCodes(Vec<(u16, String)>);

impl RelayCodes {
    pub(super) fn new(spec: &Spec) -> Self {
        let rows = spec.table(Table::Relay);
        Self(rows.filter_map(|row| Some((row.status()?, row.code()?.to_owned()))).collect())
    }

    pub(super) fn has_status(&self, status: u16) -> bool {
        self.0.iter().any(|(listed, _)| *listed == status)
    }

    pub(super) fn has_reason(&self, reason: &str) -> bool {
        self.0.iter().any(|(_, listed)| listed == reason)
    }

    /// Statuses listed for a reason.
    pub(super) fn statuses(&self, reason: &str) -> impl DoubleEndedIterator<Item = u16> {
        self.0.iter().filter(move |(_, listed)| listed == reason).map(|(status, _)| *status)
    }
}

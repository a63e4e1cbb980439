use std::collections::BTreeSet;
use std::time::Duration;

use edgeproof_fixtures::spec::{Row, Spec, Table};
use serde_json::json;

use super::{Conversation, ExpectedRelay, context};
use crate::judge::ExpectedAnswer;
use edgeproof_mock::{ReplyShape, Script};

/// What cases are derived from.
#[derive(Clone, Copy)]
pub struct Catalog<'a> {
    /// The interface.
    pub spec: &'a Spec,
    /// How the mock service writes a refusal.
    pub shape: &'a ReplyShape,
    /// Cases may take minutes of real time (`--waits`).
    pub waits: bool,
    /// Cases play what is too slow for a default run (`--thorough`).
    pub thorough: bool,
    /// Number of generated bodies and their seed.
    pub fuzz: (u32, u64),
    /// Adds the cases that explore variation. `--quick` leaves them out.
    pub explores: bool,
}

impl<'a> Catalog<'a> {
    /// A catalog without generated bodies and without exploration.
    pub fn new(spec: &'a Spec, shape: &'a ReplyShape, waits: bool) -> Self {
        Self { spec, shape, waits, thorough: false, fuzz: (0, 0), explores: false }
    }

    /// Sets the number of generated bodies and their seed (default: no generated bodies).
    #[must_use]
    pub fn fuzz(mut self, bodies: u32, seed: u64) -> Self {
        self.fuzz = (bodies, seed);
        self
    }

    /// Also plays what is too slow for a default run, or not (default: not).
    #[must_use]
    pub fn thorough(mut self, thorough: bool) -> Self {
        self.thorough = thorough;
        self
    }

    /// Adds the cases that explore variation, or not (default: not).
    #[must_use]
    pub fn explore(mut self, explores: bool) -> Self {
        self.explores = explores;
        self
    }

    /// The rows of the relay table, each with its status and its reason code.
    pub fn relay_rows(&self) -> Vec<(&'a Row, u16, &'a str)> {
        self.spec.table(Table::Relay).filter_map(|row| Some((row, row.status()?, row.code()?))).collect()
    }

    /// The statuses of the relay table, in ascending order.
    pub fn refusal_statuses(&self) -> Vec<u16> {
        let statuses: BTreeSet<_> = self.relay_rows().into_iter().map(|(_, status, _)| status).collect();
        statuses.into_iter().collect()
    }

    /// A posted collection that the service accepts.
    pub fn accepted_post(&self) -> Conversation {
        Conversation::post(self.accept(), self.accepted())
    }

    /// A posted collection that the service refuses with a plain reason.
    pub fn refused_post(&self, status: u16, reason: &str) -> Conversation {
        Conversation::post(self.refuse(status, reason), self.refused(status, reason))
    }

    /// A posted collection that the edge cannot relay, because the service is unreachable.
    pub fn unreachable_post(&self) -> Conversation {
        let answer = self.answer("edge.502.service-unreachable", None);
        Conversation::post(self.accept(), answer).relay(ExpectedRelay::Nothing)
    }

    /// The status of an edge that gets no answer from the service, for titles.
    pub fn unreachable_status(&self) -> u16 {
        self.answer("edge.502.service-unreachable", None).status
    }

    /// The answer in a row of the edge table, with the service's status and reason filled in.
    pub fn answer(&self, row: &str, refused: Option<(u16, &str)>) -> ExpectedAnswer {
        let row = self.row(row);
        let status = row.status().or(refused.map(|(status, _)| status)).unwrap_or_default();
        let values =
            refused.map(|(status, reason)| [("<status>", json!(status)), ("<reason>", json!(reason))]);
        let body = row.body_with(values.as_ref().map_or(&[], |values| values.as_slice()));
        ExpectedAnswer { status, body, to_head: false }
    }

    /// The answer to an accepted collection.
    pub fn accepted(&self) -> ExpectedAnswer {
        self.answer("edge.200.accepted", None)
    }

    /// The answer to a collection that the service refuses.
    pub fn refused(&self, status: u16, reason: &str) -> ExpectedAnswer {
        self.answer("edge.refused", Some((status, reason)))
    }

    /// The service accepts the collection.
    pub fn accept(&self) -> Script {
        Script::accept(self.spec.profile())
    }

    /// The service refuses the collection with a plain reason.
    pub fn refuse(&self, status: u16, reason: &str) -> Script {
        Script::refuse(self.shape, status, reason)
    }

    /// How long a case waits for an edge whose service never answers.
    pub fn silence_limit(&self) -> Duration {
        if self.waits { Duration::from_secs(60) } else { Duration::from_millis(1500) }
    }

    /// A row by its id.
    pub fn row(&self, id: &str) -> &'a Row {
        context::row(self.spec, id)
    }
}

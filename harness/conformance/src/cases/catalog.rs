use std::sync::Arc;
use std::time::Duration;

use edgeproof_fixtures::spec::{Row, Spec, Table};
use futures_util::future::BoxFuture;
use serde_json::json;

use super::{Case, CaseContext, Conversation, Procedure, ServiceCaseContext};
use crate::judge::ExpectedAnswer;
use edgeproof_mock::{ReplyShape, Script};

/// The cases as they are collected, with what they are derived from.
pub struct Catalog<'a> {
    /// The interface.
    pub spec: &'a Spec,
    /// How the mock service words a refusal.
    pub shape: &'a ReplyShape,
    /// Cases that need real time may take it.
    pub waits: bool,
    /// Generated bodies, and the seed that they are made from.
    pub fuzz: (u32, u64),
    cases: Vec<Case>,
}

impl<'a> Catalog<'a> {
    /// An empty one.
    pub fn new(spec: &'a Spec, shape: &'a ReplyShape, waits: bool) -> Self {
        Self { spec, shape, waits, fuzz: (0, 0), cases: Vec::new() }
    }

    /// With a case of this many generated bodies, made from this seed.
    #[must_use]
    pub fn fuzz(mut self, bodies: u32, seed: u64) -> Self {
        self.fuzz = (bodies, seed);
        self
    }

    /// The cases, in the order they were added.
    pub fn into_cases(self) -> Vec<Case> {
        self.cases
    }

    /// Adds a case for `row` that is one conversation.
    pub fn conversation(
        &mut self,
        row: &str,
        id: &str,
        title: &str,
        conversation: Conversation,
    ) -> &mut Case {
        self.add(row, id, title, Procedure::Conversation(Box::new(conversation)))
    }

    /// Adds a case for `row` that is these conversations, one after the other.
    pub fn conversations(
        &mut self,
        row: &str,
        id: &str,
        title: &str,
        conversations: Vec<(String, Conversation)>,
    ) -> &mut Case {
        self.add(row, id, title, Procedure::Conversations(conversations.into()))
    }

    /// Adds a case for `row` that is anything else.
    pub fn edge_steps<F>(&mut self, row: &str, id: &str, title: &str, steps: F) -> &mut Case
    where
        F: for<'s> Fn(&'s mut CaseContext) -> BoxFuture<'s, ()> + Send + Sync + 'static,
    {
        self.add(row, id, title, Procedure::EdgeSteps(Arc::new(steps)))
    }

    /// Adds a case for `row` that a backend plays. It needs nothing but its target, unless it is told so.
    pub fn service_steps<F>(&mut self, row: &str, id: &str, title: &str, steps: F) -> &mut Case
    where
        F: for<'s> Fn(&'s mut ServiceCaseContext) -> BoxFuture<'s, ()> + Send + Sync + 'static,
    {
        self.add(row, id, title, Procedure::ServiceSteps(Arc::new(steps))).requires(&[])
    }

    /// The rows of the relay table.
    pub fn relay_rows(&self) -> Vec<&'a Row> {
        self.spec.table(Table::Relay).collect()
    }

    /// The answer that a row of the edge table gives, with the service's status and reason filled in.
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

    /// The service accepts.
    pub fn accept(&self) -> Script {
        Script::accept(self.spec.profile())
    }

    /// The service refuses with a plain reason.
    pub fn refuse(&self, status: u16, reason: &str) -> Script {
        Script::refuse(self.shape, status, reason)
    }

    /// How long a service that never answers is waited for.
    pub fn silence_limit(&self) -> Duration {
        if self.waits { Duration::from_secs(60) } else { Duration::from_millis(1500) }
    }

    fn add(&mut self, row: &str, id: &str, title: &str, procedure: Procedure) -> &mut Case {
        let case = Case::of(self.row(row), id, title, procedure);
        self.cases.push(case);
        self.cases.last_mut().expect("a case was just pushed")
    }

    /// A row by its id.
    pub fn row(&self, id: &str) -> &'a Row {
        // The names of rows in the code are checked by a test over every version of the interface.
        self.spec.row(id).unwrap_or_else(|| panic!("no row {id} in version {}", self.spec.version()))
    }
}

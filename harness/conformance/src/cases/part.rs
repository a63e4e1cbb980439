use std::convert::Infallible;
use std::fmt::Debug;

use edgeproof_fixtures::spec::Spec;
use edgeproof_http::Sent;
use edgeproof_reports::difference::Subject;
use futures_util::future::BoxFuture;

use super::{CaseContext, CaseTarget};
use crate::causes::Fingerprints;

/// A tested part of the interface: an edge, a service, a key set, a collector, or one of your own.
pub trait Part: Copy + Send + Sync + 'static {
    /// Its name on the command line, such as `keys`.
    const NAME: &'static str;
    /// Its name in messages, such as `the key set`.
    const SUBJECT: Subject;
    /// What it means that the target limits the rate of requests.
    const RATE_LIMIT: RateLimitRule = RateLimitRule::Open;
    /// Needs of a case that names none.
    const NEEDS: &'static [Self::Need] = &[];
    /// The invariants of a run, in the order of the report.
    const MONITORS: &'static [Self::Monitor];

    /// What a case requires besides its target.
    type Need: Copy + PartialEq + Debug + Send + Sync + 'static;
    /// What only cases of this part set, such as the settings of an edge.
    type Settings: CaseSettings;
    /// One request with its expected result, as data.
    type Exchange: Exchange<Self::Target>;
    /// What steps reach through their context.
    type Target: CaseTarget;
    /// An invariant of a whole run.
    type Monitor: Monitor<Self::Need>;

    /// The fingerprints of the causes that the part can have.
    fn fingerprints() -> &'static Fingerprints {
        Fingerprints::builtin()
    }

    /// Whether an exchange went the whole way through the target, so that its time shows how fast the target is.
    fn is_whole(sent: &Sent) -> bool {
        sent.reply.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status))
    }

    /// The commands that play a case.
    fn commands(id: &str) -> Vec<String> {
        vec![format!("edgeproof conformance {} --filter {id}", Self::NAME)]
    }
}

/// What it means for a failed case that the target answered by itself that it limits the rate of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateLimitRule {
    /// The case fails: the interface has no such answer.
    Fails,
    /// The case proves nothing: the interface does not show whether there is a limit.
    Open,
    /// Nothing: the exchanges of the cases are not with the target.
    NotOfTarget,
}

/// What only the cases of one part set.
pub trait CaseSettings: Clone + Default + Send + Sync + 'static {
    /// The target that the settings demand, such as `an edge with …`. None: the usual one.
    fn describe(&self) -> Option<String>;
}

/// One request with its expected result: pure data.
pub trait Exchange<T: CaseTarget>: Clone + Send + Sync + 'static {
    /// Plays the exchange and checks its result. False: no answer came in time, so others would wait as long.
    fn play<'a>(&'a self, context: &'a mut CaseContext<T>) -> BoxFuture<'a, bool>;

    /// Ids of the open points that it observes. `case`: id of its case, which names the point that has no other name.
    fn points(&self, case: &str) -> Vec<String> {
        let _ = case;
        Vec::new()
    }

    /// The exchange in lines, as an example.
    fn describe(&self, spec: &Spec) -> Vec<String>;
}

/// An invariant of a whole run, planned and reported as a case.
pub trait Monitor<Need: 'static>: Copy + Send + Sync + 'static {
    /// Id of the case.
    fn id(self) -> &'static str;

    /// The invariant in one line.
    fn title(self) -> &'static str;

    /// The rows that the monitor proves. The first one gives level, basis and section.
    fn rows(self) -> &'static [&'static str];

    /// What the monitor requires besides the target.
    fn needs(self) -> &'static [Need] {
        &[]
    }

    /// Id of the open point that it observes. Such a monitor judges nothing.
    fn point(self) -> Option<&'static str> {
        None
    }
}

impl CaseSettings for () {
    fn describe(&self) -> Option<String> {
        None
    }
}

/// A part whose cases are steps.
impl<T: CaseTarget> Exchange<T> for Infallible {
    fn play<'a>(&'a self, _: &'a mut CaseContext<T>) -> BoxFuture<'a, bool> {
        match *self {}
    }

    fn describe(&self, _: &Spec) -> Vec<String> {
        match *self {}
    }
}

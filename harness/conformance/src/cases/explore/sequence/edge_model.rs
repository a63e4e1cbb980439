use edgeproof_fixtures::spec::{Change, Event, Family, Level, Side, Value};
use edgeproof_mock::Action;
use edgeproof_reports::CaseLevel;
use proptest::strategy::BoxedStrategy;
use strum::VariantArray;

use super::action_model::{ActionModel, SavedFieldError, SavedFields, value};
use super::edge_strategy;
use crate::cases::explore::change::combine;
use crate::cases::explore::model::{Model, applies};
use crate::cases::explore::{ChangeIndex, Trial};
use crate::cases::{Case, CaseList, Catalog, Conversation, Edge, EdgeNeed, Procedure, Setup, edge};
use crate::judge::ExpectedAnswer;
use crate::nearest::{nearest_ids, similar_text};

/// Largest body of a step (bytes): a run keeps each body until its end.
const LARGEST_BODY: usize = 70_000;

/// A step at an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeAction {
    /// An exchange of the model of variation.
    Exchange(Trial),
    /// The conversation of a case, by its position.
    Case(usize),
    /// An event. Its answer is judged if nothing broke.
    Event(Event),
}

/// The steps that an edge allows.
#[derive(Debug, Clone)]
pub struct EdgeModel {
    /// Rows and dimensions.
    pub(super) variation: Model,
    /// Cases with one conversation.
    pub(super) cases: Vec<EdgeCase>,
    /// The answer to another method.
    pub(super) not_allowed: ExpectedAnswer,
}

/// A case with one conversation.
#[derive(Debug, Clone)]
pub(super) struct EdgeCase {
    /// Id of the case.
    pub(super) id: String,
    /// Title of the case.
    pub(super) title: String,
    /// Level of the case.
    pub(super) level: CaseLevel,
    /// The conversation.
    pub(super) conversation: Conversation,
}

impl EdgeModel {
    /// The model of a catalog's interface.
    pub fn new(catalog: &Catalog<'_>) -> Self {
        let mut plain = CaseList::new(Catalog::new(catalog.spec, catalog.shape, false));
        edge::add(&mut plain);
        let variation = Model::new(&plain);
        let not_allowed = plain.answer("edge.405.method-not-allowed", None);
        let cases = plain.into_cases().into_iter().filter_map(EdgeCase::of).collect();
        Self { variation, cases, not_allowed }
    }

    /// Rows and dimensions.
    pub fn variation(&self) -> &Model {
        &self.variation
    }

    /// The values that a step may have. Those of connection and history are steps of their own.
    pub(super) fn changes(&self) -> Vec<ChangeIndex> {
        let dimensions = self.variation.dimensions.iter().enumerate();
        let of_messages = dimensions.filter(|(_, all)| matches!(all.side, Side::Request | Side::Reply));
        of_messages
            .flat_map(|(dimension, all)| {
                (0..all.values.len()).map(move |value| ChangeIndex { dimension, value })
            })
            .filter(|index| is_quick(&self.variation.value(*index).change))
            .collect()
    }

    /// The trial with those of these changes that fit its row and the changes before them.
    pub(super) fn compatible(&self, row: usize, changes: &[ChangeIndex]) -> Trial {
        let mut fitting: Vec<ChangeIndex> = Vec::new();
        for change in changes {
            if self.fits(row, &fitting, *change).is_ok() {
                fitting.push(*change);
            }
        }
        fitting.sort_unstable();
        Trial { row, changes: fitting }
    }

    /// Whether a change fits a row and other changes. The error says why not.
    fn fits(&self, row: usize, others: &[ChangeIndex], change: ChangeIndex) -> Result<(), String> {
        let (dimension, value) = (&self.variation.dimensions[change.dimension], self.variation.value(change));
        let row = &self.variation.rows[row];
        if !applies(dimension, row.family) {
            return Err(format!("it does not apply to {}", row.id));
        }
        // As in the cases of single values, the first family shows how an edge treats an open value.
        if value.level == Level::Open && dimension.families.first() != Some(&row.family) {
            return Err(format!("it is open, and not played with {}", row.id));
        }
        for other in others {
            let with = self.variation.value(*other);
            if other.dimension == change.dimension {
                return Err(format!("the step has another value of {}", dimension.id));
            }
            let alone = |value: &Value| value.alone || value.level == Level::Open;
            if alone(value) || alone(with) || !combine(&value.change, &with.change) {
                return Err(format!("it cannot be combined with {}", self.variation.value_name(*other)));
            }
        }
        Ok(())
    }

    fn trial(&self, row: &str, values: &[String]) -> Result<Trial, SavedFieldError> {
        let rows = || self.variation.rows.iter().map(|row| row.id.as_str());
        let Some(row) = rows().position(|id| id == row) else {
            let similar = similar_text(&nearest_ids(row, rows()));
            let advice = "name a row of `edgeproof spec list` that an edge can be refused or accepted with";
            return Err(SavedFieldError::of("exchange", format!("there is no row {row:?}{similar}"), advice));
        };
        let known: Vec<(String, ChangeIndex)> =
            self.changes().into_iter().map(|change| (self.variation.value_name(change), change)).collect();
        let mut changes = Vec::new();
        for value in values {
            let Some((_, change)) = known.iter().find(|(name, _)| name == value) else {
                let similar = similar_text(&nearest_ids(value, known.iter().map(|(name, _)| name.as_str())));
                let why = format!("there is no value {value:?}{similar}");
                return Err(SavedFieldError::of(
                    "values",
                    why,
                    "write dimension=value, such as framing=chunked-1",
                ));
            };
            self.fits(row, &changes, *change).map_err(|why| {
                SavedFieldError::of("values", format!("{value:?} does not fit: {why}"), "remove the value")
            })?;
            changes.push(*change);
        }
        changes.sort_unstable();
        Ok(Trial { row, changes })
    }

    /// The rows that plainer exchanges have: the plainest of the first three families.
    fn plain_rows(&self) -> Vec<usize> {
        let families = [Family::Accepted, Family::Refusals, Family::Unknown];
        families.into_iter().filter_map(|family| self.variation.plainest(family)).collect()
    }

    fn plainer_trials(&self, trial: &Trial) -> Vec<Trial> {
        let family = self.variation.rows[trial.row].family;
        let mut rows = self.plain_rows();
        rows.extend(self.variation.plainest(family));
        let plain = rows.iter().chain([&trial.row]).map(|row| Trial { row: *row, changes: Vec::new() });
        let single = trial.changes.iter().map(|change| Trial { row: trial.row, changes: vec![*change] });
        let same = rows.iter().map(|row| self.compatible(*row, &trial.changes));
        let fewer = (0..trial.changes.len()).map(|removed| {
            let mut changes = trial.changes.clone();
            changes.remove(removed);
            Trial { row: trial.row, changes }
        });
        let size = |trial: &Trial| (trial.changes.len(), trial.row);
        plain.chain(single).chain(fewer).chain(same).filter(|other| size(other) < size(trial)).collect()
    }
}

impl ActionModel for EdgeModel {
    type Action = EdgeAction;

    const TARGET: &'static str = "edge";
    const KEYS: &'static [&'static str] = &["exchange", "values", "case", "event"];

    fn strategy(&self) -> BoxedStrategy<EdgeAction> {
        edge_strategy::actions(self)
    }

    fn plainer(&self, action: &EdgeAction) -> Vec<EdgeAction> {
        if let EdgeAction::Exchange(trial) = action {
            return self.plainer_trials(trial).into_iter().map(EdgeAction::Exchange).collect();
        }
        let plain = self.plain_rows().into_iter();
        plain.map(|row| EdgeAction::Exchange(Trial { row, changes: Vec::new() })).collect()
    }

    /// An edge may send several requests over one connection to the service, and the end of it breaks all of them.
    fn is_alone(&self, action: &EdgeAction) -> bool {
        match action {
            EdgeAction::Exchange(trial) => self.variation.rows[trial.row].family == Family::Unreachable,
            EdgeAction::Case(case) => breaks_connection(&self.cases[*case].conversation),
            EdgeAction::Event(event) => matches!(
                event,
                Event::ServiceClosed | Event::ServiceReset | Event::ServiceGarbage | Event::ServiceCut
            ),
        }
    }

    fn is_judged(&self, action: &EdgeAction) -> bool {
        match action {
            EdgeAction::Exchange(_) | EdgeAction::Case(_) => true,
            EdgeAction::Event(event) => matches!(
                event,
                Event::Preflight | Event::ForeignPreflight | Event::OtherMethod | Event::Health
            ),
        }
    }

    fn has_own_connection(&self, action: &EdgeAction) -> bool {
        let leaves = [Event::ClientLeftInBody, Event::ClientLeftBeforeAnswer, Event::NotHttp];
        matches!(action, EdgeAction::Event(event) if leaves.contains(event))
    }

    fn describe(&self, action: &EdgeAction) -> String {
        match action {
            EdgeAction::Exchange(trial) => {
                let row = &self.variation.rows[trial.row];
                let what = match row.family {
                    Family::Accepted => "a collection that the service accepts",
                    Family::Refusals => "a collection that the service refuses for a reason",
                    Family::Unknown => "a collection that the service refuses without a plain reason",
                    Family::Unreachable => "a collection whose connection the service breaks",
                };
                let values = trial.changes.iter().map(|change| {
                    let dimension = &self.variation.dimensions[change.dimension];
                    format!(", with {}: {}", dimension.title, dimension.values[change.value].title)
                });
                format!("{what} ({}){}", row.id, values.collect::<String>())
            }
            EdgeAction::Case(case) => {
                let case = &self.cases[*case];
                format!("the request of {} ({})", case.id, case.title)
            }
            EdgeAction::Event(event) => describe_event(*event).to_owned(),
        }
    }

    fn save(&self, action: &EdgeAction) -> SavedFields {
        match action {
            EdgeAction::Exchange(trial) => {
                let mut fields = vec![("exchange", vec![self.variation.rows[trial.row].id.clone()])];
                if !trial.changes.is_empty() {
                    fields.push((
                        "values",
                        trial.changes.iter().map(|change| self.variation.value_name(*change)).collect(),
                    ));
                }
                fields
            }
            EdgeAction::Case(case) => vec![("case", vec![self.cases[*case].id.clone()])],
            EdgeAction::Event(event) => vec![("event", vec![event.to_string()])],
        }
    }

    fn parse(&self, fields: &SavedFields) -> Result<EdgeAction, SavedFieldError> {
        let values = fields.iter().find(|(key, _)| *key == "values").map(|(_, values)| values.as_slice());
        let one = "a step has exactly one of `exchange`, `case` and `event`";
        let given = (value(fields, "exchange"), value(fields, "case"), value(fields, "event"));
        if !matches!(given, (Some(_), _, _)) && values.is_some() {
            let advice = "remove it, or add `exchange`";
            return Err(SavedFieldError::of("values", "`values` belongs to an `exchange`", advice));
        }
        match given {
            (Some(row), None, None) => Ok(EdgeAction::Exchange(self.trial(row, values.unwrap_or_default())?)),
            (None, Some(id), None) => {
                let ids = || self.cases.iter().map(|case| case.id.as_str());
                ids().position(|known| known == id).map(EdgeAction::Case).ok_or_else(|| {
                    let similar = similar_text(&nearest_ids(id, ids()));
                    let why = format!("no case {id:?} with one plain request{similar}");
                    SavedFieldError::of("case", why, "name a case of `edgeproof conformance --list`")
                })
            }
            (None, None, Some(name)) => {
                let event = events().into_iter().find(|event| event.to_string() == name);
                event.map(EdgeAction::Event).ok_or_else(|| {
                    let names: Vec<String> = events().iter().map(ToString::to_string).collect();
                    let advice = format!("the events are {}", names.join(", "));
                    SavedFieldError::of("event", format!("there is no event {name:?}"), advice)
                })
            }
            _ => Err(SavedFieldError {
                key: None,
                why: one.to_owned(),
                advice: "write one of them".to_owned(),
            }),
        }
    }
}

impl EdgeCase {
    /// The conversation of a case, if it can be a step among others.
    fn of(case: Case<Edge>) -> Option<Self> {
        let usual = [EdgeNeed::Service, EdgeNeed::Origin, EdgeNeed::PlainReasons];
        let is_usual = case.settings.setup == Setup::Standard
            && !case.exclusive
            && case.level != CaseLevel::Open
            && case.takes.is_zero()
            && case.needs.iter().all(|need| usual.contains(need));
        let Procedure::Exchange(conversation) = case.procedure else { return None };
        let is_quick = conversation.draft.body.bytes().len() <= LARGEST_BODY;
        // Rules need the context of their case, and events send requests of other origins.
        let is_plain = conversation.rules.is_empty() && !conversation.denied;
        (is_usual && is_quick && is_plain).then(|| Self {
            id: case.facts.id,
            title: case.facts.title,
            level: case.facts.level,
            conversation: *conversation,
        })
    }
}

/// The events of steps. Others are exchanges, which are judged, or have large bodies.
pub(super) fn events() -> Vec<Event> {
    let others = [Event::Accepted, Event::Refused, Event::Unknown, Event::LargeBody];
    Event::VARIANTS.iter().copied().filter(|event| !others.contains(event)).collect()
}

/// Whether the service answers something other than HTTP, or nothing.
fn breaks_connection(conversation: &Conversation) -> bool {
    let replies = conversation.script.iter().flat_map(|script| &script.replies);
    let mut actions = replies.map(|reply| &reply.action);
    actions.any(|action| {
        !matches!(
            action,
            Action::Answer { .. } | Action::Shaped(_) | Action::Decide | Action::Pass | Action::Again
        )
    })
}

/// Whether an exchange with this change takes little time and space.
fn is_quick(change: &Change) -> bool {
    match change {
        Change::DelayMs(delay) => *delay <= 50,
        Change::Size(size) => *size <= LARGEST_BODY,
        Change::Parts { count, pause_ms } => *count as u64 * pause_ms <= 100,
        _ => true,
    }
}

/// Whether a value of the trial is open.
pub(super) fn is_open(model: &EdgeModel, trial: &Trial) -> bool {
    trial.changes.iter().any(|change| model.variation.value(*change).level == Level::Open)
}

fn describe_event(event: Event) -> &'static str {
    match event {
        Event::Accepted => "a collection that the service accepts, not judged",
        Event::Refused => "a collection that the service refuses for a reason, not judged",
        Event::Unknown => "a collection that the service refuses without a plain reason, not judged",
        Event::Preflight => "a preflight",
        Event::ForeignPreflight => "a preflight of another origin",
        Event::OtherMethod => "a request with another method",
        Event::Health => "a health check",
        Event::ServiceClosed => "a collection during which the service closes its connection",
        Event::ServiceReset => "a collection during which the service resets its connection",
        Event::ServiceGarbage => "a collection to which the service replies with bytes that are no HTTP",
        Event::ServiceCut => "a collection to which the service's reply is cut",
        Event::ClientLeftInBody => "a client that leaves in the middle of its body",
        Event::ClientLeftBeforeAnswer => "a client that leaves before the answer",
        Event::LargeBody => "a collection of 1 MiB",
        Event::NotHttp => "bytes that are no HTTP",
    }
}

use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use strum::VariantArray;

use super::action_model::{ActionModel, SavedFieldError, SavedFields, value};
use super::service_step::{ServiceAction, SessionChoice, VerdictStep, header_fields, methods, queries};
use crate::cases::TokenChoice;
use crate::cases::{ServiceCaseContext, ServiceNeed};

/// The steps that a service allows.
#[derive(Debug, Clone)]
pub struct ServiceModel {
    /// The sessions that requests may name.
    pub sessions: Vec<SessionChoice>,
    /// The credentials that requests may carry.
    pub tokens: Vec<TokenChoice>,
}

/// Events in a saved file, with their actions.
const EVENTS: [(&str, ServiceAction); 2] =
    [("key-set", ServiceAction::KeySet), ("client-left", ServiceAction::ClientLeft)];

impl ServiceModel {
    /// What a case that plays this action requires.
    pub(super) fn requires(action: &ServiceAction) -> Vec<ServiceNeed> {
        let ServiceAction::Verdict(step) = action else { return Vec::new() };
        let session = match step.session {
            SessionChoice::Known => Some(ServiceNeed::Session),
            other => other.need().map(ServiceNeed::State),
        };
        let token = match step.token {
            TokenChoice::Expired => Some(ServiceNeed::ExpiredToken),
            TokenChoice::Revoked => Some(ServiceNeed::RevokedToken),
            TokenChoice::License => Some(ServiceNeed::License),
            TokenChoice::OtherLicense => Some(ServiceNeed::OtherToken),
            _ => None,
        };
        session.into_iter().chain(token).collect()
    }

    /// All steps, whatever the user's inputs.
    pub fn all() -> Self {
        Self { sessions: SessionChoice::VARIANTS.to_vec(), tokens: TokenChoice::all() }
    }

    /// The steps for which the user gave the inputs.
    pub(in crate::cases) fn of(context: &ServiceCaseContext) -> Self {
        let inputs = &context.target.inputs;
        let mut model = Self::all();
        model.sessions.retain(|session| session.is_known(context));
        let token = context.read_token();
        model.tokens.retain(|choice| match choice {
            TokenChoice::Expired => inputs.expired_token.is_some(),
            TokenChoice::Revoked => inputs.revoked_token.is_some(),
            TokenChoice::License => inputs.license.is_some(),
            TokenChoice::OtherLicense => inputs.other_token.is_some(),
            TokenChoice::Damaged(damage) => damage.apply(&token).is_some(),
            _ => true,
        });
        model
    }
}

impl ActionModel for ServiceModel {
    type Action = ServiceAction;

    const TARGET: &'static str = "service";
    const KEYS: &'static [&'static str] = &["session", "token", "method", "query", "header", "event"];

    fn strategy(&self) -> BoxedStrategy<ServiceAction> {
        let token = prop_oneof![3 => Just(TokenChoice::Valid), 4 => select(self.tokens.clone())];
        let method = prop_oneof![6 => Just("GET"), 1 => select(methods())];
        let query = weighted(0.3, select(queries()));
        let header = weighted(0.25, select(header_fields()));
        let verdict = (select(self.sessions.clone()), token, method, query, header).prop_map(
            |(session, token, method, query, header)| {
                ServiceAction::Verdict(VerdictStep { session, token, method, query, header })
            },
        );
        prop_oneof![10 => verdict, 1 => Just(ServiceAction::KeySet), 1 => Just(ServiceAction::ClientLeft)]
            .boxed()
    }

    fn plainer(&self, action: &ServiceAction) -> Vec<ServiceAction> {
        let plain = VerdictStep::PLAIN;
        let ServiceAction::Verdict(step) = action else { return vec![ServiceAction::Verdict(plain)] };
        let rank = |step: &VerdictStep| {
            let tokens = TokenChoice::all();
            (step.variations(), tokens.iter().position(|token| *token == step.token))
        };
        let mut plainer = vec![plain.clone()];
        plainer.push(VerdictStep { session: step.session, ..plain.clone() });
        plainer.push(VerdictStep { token: step.token, ..plain.clone() });
        plainer.push(VerdictStep { header: None, ..step.clone() });
        plainer.push(VerdictStep { query: None, ..step.clone() });
        plainer.push(VerdictStep { method: plain.method, ..step.clone() });
        plainer.push(VerdictStep { token: plain.token, ..step.clone() });
        plainer.push(VerdictStep { session: plain.session, ..step.clone() });
        plainer.extend(self.tokens.iter().map(|token| VerdictStep { token: *token, ..step.clone() }));
        plainer.retain(|other| rank(other) < rank(step));
        plainer.into_iter().map(ServiceAction::Verdict).collect()
    }

    fn is_judged(&self, action: &ServiceAction) -> bool {
        *action != ServiceAction::ClientLeft
    }

    fn has_own_connection(&self, action: &ServiceAction) -> bool {
        *action == ServiceAction::ClientLeft
    }

    fn describe(&self, action: &ServiceAction) -> String {
        let step = match action {
            ServiceAction::KeySet => return "a request for the key set".into(),
            ServiceAction::ClientLeft => return "a client that leaves during a wait".into(),
            ServiceAction::Verdict(step) => step,
        };
        let session = match step.session {
            SessionChoice::Unknown => "an unknown session",
            SessionChoice::OtherUnknown => "another unknown session",
            SessionChoice::Known => "a session with a verdict",
            SessionChoice::Pending => "a session without a verdict yet",
            SessionChoice::TooOld => "a session whose verdict is too old",
            SessionChoice::OtherLicense => "a session of another license",
        };
        let mut text = format!("{} of {session}, with {}", step.method, step.token.describe());
        if let Some(query) = step.query {
            text = format!("{text}, with ?{query}");
        }
        if let Some((name, value)) = step.header {
            text = format!("{text}, with {name}: {value}");
        }
        text
    }

    fn save(&self, action: &ServiceAction) -> SavedFields {
        let ServiceAction::Verdict(step) = action else {
            let event = EVENTS.iter().find(|(_, event)| event == action).map(|(name, _)| (*name).to_owned());
            return vec![("event", event.into_iter().collect())];
        };
        let mut fields =
            vec![("session", vec![step.session.to_string()]), ("token", vec![step.token.name()])];
        if step.method != VerdictStep::PLAIN.method {
            fields.push(("method", vec![step.method.to_owned()]));
        }
        fields.extend(step.query.map(|query| ("query", vec![query.to_owned()])));
        fields.extend(step.header.map(|(name, value)| ("header", vec![format!("{name}: {value}")])));
        fields
    }

    fn parse(&self, fields: &SavedFields) -> Result<ServiceAction, SavedFieldError> {
        if let Some(name) = value(fields, "event") {
            if let Some((key, _)) = fields.iter().find(|(key, _)| *key != "event") {
                let why = format!("an event has no `{key}`");
                return Err(SavedFieldError::of(key, why, "remove it, or remove `event`"));
            }
            let names = EVENTS.map(|(name, _)| name);
            let event = EVENTS.into_iter().find(|(known, _)| *known == name).map(|(_, event)| event);
            return event.ok_or_else(|| unknown("event", name, names));
        }
        let session = one_of("session", fields, &self.sessions, ToString::to_string)?;
        let token = one_of("token", fields, &self.tokens, |token| token.name())?;
        let method = one_of("method", fields, &methods(), |method| (*method).to_owned())?;
        let query = one_of("query", fields, &queries(), |query| (*query).to_owned())?;
        let header = one_of("header", fields, &header_fields(), |(name, value)| format!("{name}: {value}"))?;
        let Some(session) = session else {
            let why = "a step has a `session` or an `event`".to_owned();
            return Err(SavedFieldError { key: None, why, advice: "write one of them".into() });
        };
        let (token, method) =
            (token.unwrap_or(TokenChoice::Valid), method.unwrap_or(VerdictStep::PLAIN.method));
        Ok(ServiceAction::Verdict(VerdictStep { session, token, method, query, header }))
    }
}

/// The choice with the name that a key gives, if the key is given.
fn one_of<T: Clone>(
    key: &'static str,
    fields: &SavedFields,
    choices: &[T],
    name: impl Fn(&T) -> String,
) -> Result<Option<T>, SavedFieldError> {
    let Some(given) = value(fields, key) else { return Ok(None) };
    let choice = choices.iter().find(|choice| name(choice) == given).cloned();
    choice.map(Some).ok_or_else(|| unknown(key, given, choices.iter().map(name)))
}

/// An unknown value of a key.
fn unknown(
    key: &'static str,
    given: &str,
    names: impl IntoIterator<Item = impl Into<String>>,
) -> SavedFieldError {
    let names: Vec<String> = names.into_iter().map(Into::into).collect();
    SavedFieldError::of(
        key,
        format!("there is no {key} {given:?}"),
        format!("write one of {}", names.join(", ")),
    )
}

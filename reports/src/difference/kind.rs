use std::mem::discriminant;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantNames};

use super::breach::{Breach, Invariant};
use super::choice::{
    AnswerSubject, BodyChange, CacheRule, CertificateForm, CodingRule, GrantForm, MemberChange, ProcessEnd,
    Secrets, Subject, TimeRule, TokenPart, UserDatum,
};
use super::count::{Count, Counted};
use super::key::{KeyFault, KeyRule, KeySetValue, SignatureForm};
use super::page::{PageEffect, PageValue, SessionSubject, SessionValue};
use super::process::ProcessError;
use super::value::{
    AnswerValue, BodyRule, BodyValue, HeaderRule, LicenseValue, Lifetime, LogValue, SecretPlace, Silence,
    Statuses, Wire,
};

/// What was compared, and the values. A field is a value, never a sentence of ours. Symptoms,
/// which lead to causes, are classes of the values (`harness/conformance/src/causes/symptom.rs`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum DifferenceKind {
    /// No answer came.
    NoAnswer {
        /// Why.
        silence: Silence,
        /// The comparison that needs an answer.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        wanted: Option<Box<DifferenceKind>>,
    },
    /// Status of an answer.
    Status {
        /// Expected statuses.
        expected: Statuses,
        /// Actual status.
        actual: Option<u16>,
    },
    /// Body of an answer, member by member.
    Body {
        /// Expected body.
        expected: BodyRule,
        /// Actual body.
        actual: Option<BodyValue>,
    },
    /// A whole answer.
    Answer {
        /// What the answer is about.
        subject: AnswerSubject,
        /// Expected answers.
        expected: Vec<AnswerValue>,
        /// Actual answers.
        actual: Vec<AnswerValue>,
    },
    /// A header field of an answer.
    Header {
        /// Its name.
        name: String,
        /// Its rule.
        rule: HeaderRule,
        /// Its value.
        actual: Option<Wire>,
    },
    /// Grant of an answer to an origin (CORS).
    Grant {
        /// The origin.
        origin: Wire,
        /// A grant is expected; otherwise none is.
        expected: bool,
        /// Form of the grant.
        form: GrantForm,
        /// The grant.
        actual: Option<Wire>,
    },
    /// A member of a JSON body, or of a token in it.
    Member {
        /// Part of the token that has it. Absent: the body has it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        token: Option<TokenPart>,
        /// Its path.
        path: String,
        /// How it differs.
        change: MemberChange,
        /// Expected value.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        expected: Option<Wire>,
        /// Actual value.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        actual: Option<Wire>,
    },
    /// Number of requests at the service.
    Arrivals {
        /// Expected number.
        expected: u64,
        /// Complete requests.
        actual: u64,
        /// Requests that broke off.
        broken_off: u64,
        /// Method of the first one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        method: Option<Wire>,
        /// Length of the body of the first one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        body_bytes: Option<u64>,
    },
    /// A body on its way to the service.
    RelayedBody {
        /// Body as sent.
        sent: Wire,
        /// Body as it arrived.
        arrived: Wire,
        /// Form of the change.
        change: BodyChange,
    },
    /// License in a request to the service.
    License {
        /// The license that arrived.
        actual: LicenseValue,
    },
    /// Client certificate of a connection to the service.
    Certificate {
        /// Expected certificate.
        expected: CertificateForm,
        /// Actual certificate.
        actual: CertificateForm,
        /// Length of the configured chain.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        configured: Option<u64>,
        /// Length of the presented chain.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        presented: Option<u64>,
    },
    /// A secret in an answer or a log line.
    Secret {
        /// The secrets.
        secrets: Secrets,
        /// Place of the first one.
        place: Option<SecretPlace>,
    },
    /// Log lines about a refusal.
    LogLine {
        /// Status of the refusal.
        status: u16,
        /// Reason of the refusal.
        reason: Wire,
        /// The lines.
        actual: LogValue,
    },
    /// Data of the end user in the log.
    LogData {
        /// Data that the log must not contain.
        expected_absent: Vec<UserDatum>,
        /// The data that was found.
        found: Option<UserDatum>,
    },
    /// Time that a cache may keep an answer.
    Cache {
        /// The rule.
        rule: CacheRule,
        /// Longest time (s).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        longest_s: Option<u64>,
        /// Lifetimes in the answer.
        actual: Vec<Lifetime>,
    },
    /// Coding of an answer.
    Coding {
        /// The rule.
        rule: CodingRule,
        /// Expected value.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        expected: Option<Wire>,
        /// Actual value.
        actual: Option<Wire>,
        /// The coding.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        coding: Option<Wire>,
    },
    /// A key set.
    KeySet {
        /// The rule.
        rule: KeyRule,
        /// Expected keys.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        expected: Option<KeySetValue>,
        /// Actual keys.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        actual: Option<KeySetValue>,
        /// Faults of the keys.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        faults: Vec<KeyFault>,
    },
    /// Signatures of the tokens of a verdict.
    Token {
        /// Result of each.
        actual: Vec<SignatureForm>,
        /// Ids or algorithms in their headers, if the results are about them.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        named: Vec<Option<Wire>>,
    },
    /// A session in a page.
    Session {
        /// Which session.
        #[serde(skip_serializing_if = "SessionSubject::is_any", default)]
        subject: SessionSubject,
        /// Text or name of the expected error. Absent: the session returns.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error: Option<Wire>,
        /// The error is expected by its name.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        by_name: bool,
        /// Its last call.
        #[serde(flatten)]
        session: SessionValue,
    },
    /// Behaviour of a page or collector.
    Page {
        /// The effect.
        effect: PageEffect,
        /// Expected value.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        expected: Option<Wire>,
        /// Actual value. Absent: as expected.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        actual: Option<PageValue>,
    },
    /// A number.
    Count(Count),
    /// A duration.
    Time {
        /// The rule.
        rule: TimeRule,
        /// Actual time (µs).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        took_us: Option<u64>,
        /// The time must be shorter (µs).
        #[serde(skip_serializing_if = "Option::is_none", default)]
        limit_us: Option<u64>,
    },
    /// A process of the target.
    Process {
        /// Its end.
        end: ProcessEnd,
        /// The process.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        process: Option<Subject>,
        /// Why it does not run.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cause: Option<ProcessError>,
    },
    /// Breaches of an invariant of the whole run.
    Breaches {
        /// The invariant.
        invariant: Invariant,
        /// Number of all breaches.
        count: u64,
        /// The first breaches.
        breaches: Vec<Breach>,
    },
    /// An open point that is pinned, or that a rule of the interface decides.
    Pin {
        /// Id of the row with the rule. None: the point is pinned.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rule: Option<String>,
        /// Id of the point.
        point: String,
        /// Values that are pinned, as the record file has them, or that of the rule.
        expected: Vec<Wire>,
        /// Actual value, as a record file has it. Absent: nothing was observed.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        actual: Option<Wire>,
    },
}

impl DifferenceKind {
    /// A number.
    pub fn count(counted: Counted, expected: usize, actual: usize) -> Self {
        Count::new(counted, expected, actual).into()
    }

    /// A key set as a whole.
    pub fn key_set(rule: KeyRule, actual: Option<KeySetValue>) -> Self {
        Self::KeySet { rule, expected: None, actual, faults: Vec::new() }
    }

    /// Faults of a key set.
    pub fn key_faults(rule: KeyRule, faults: Vec<KeyFault>) -> Self {
        Self::KeySet { rule, expected: None, actual: None, faults }
    }

    /// An effect of a page or collector.
    pub fn page(effect: PageEffect, expected: Option<Wire>, actual: Option<PageValue>) -> Self {
        Self::Page { effect, expected, actual }
    }

    /// A duration. None: it exceeded the limit.
    pub fn time(rule: TimeRule, took: Option<Duration>, limit: Duration) -> Self {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Self::Time { rule, took_us: took.map(micros), limit_us: Some(micros(limit)) }
    }

    /// Names of all kinds.
    pub const NAMES: &'static [&'static str] = Self::VARIANTS;

    /// Name of the kind.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// Path of the compared field.
    pub fn field(&self) -> String {
        let fixed = match self {
            Self::NoAnswer { wanted, .. } => {
                return wanted.as_ref().map_or_else(|| "/".to_owned(), |wanted| wanted.field());
            }
            Self::Header { name, .. } | Self::Secret { place: Some(SecretPlace::Header(name)), .. } => {
                return format!("/headers/{name}");
            }
            Self::Member { token: Some(part), path, .. } => return format!("/token/{}{path}", part.name()),
            Self::Member { path, .. } => return format!("/body{path}"),
            Self::Body { actual: Some(BodyValue { members, .. }), .. } if members.len() == 1 => {
                return format!("/body{}", members[0].path);
            }
            Self::Page { effect, .. } => return format!("/page/{}", effect.class().name()),
            Self::Count(count) => return format!("/count/{}", count.counted.class().name()),
            Self::Breaches { invariant, .. } => return format!("/run/{}", invariant.name()),
            Self::Pin { point, .. } => return format!("/points/{point}"),
            Self::Status { .. } => "/status",
            Self::Answer { .. } => "/",
            Self::Grant { .. } => "/headers/access-control-allow-origin",
            Self::Arrivals { .. } => "/service/requests",
            Self::RelayedBody { .. } => "/service/body",
            Self::License { .. } => "/service/license",
            Self::Certificate { .. } => "/service/certificate",
            Self::Secret { secrets: Secrets::EdgeInLog, .. }
            | Self::LogLine { .. }
            | Self::LogData { .. } => "/log",
            Self::Body { .. } | Self::KeySet { .. } | Self::Token { .. } | Self::Secret { .. } => "/body",
            Self::Cache { .. } => "/headers/cache-control",
            Self::Coding { rule, .. } => match rule {
                CodingRule::Transfer => "/headers/transfer-encoding",
                CodingRule::HeadLength => "/headers/content-length",
                CodingRule::Vary => "/headers/vary",
                CodingRule::Intact | CodingRule::Accepted => "/headers/content-encoding",
            },
            Self::Session { .. } => "/page/session",
            Self::Time { .. } => "/time",
            Self::Process { .. } => "/process",
        };
        fixed.to_owned()
    }

    /// Whether both compare the same field by the same rule. Their values may differ.
    pub(crate) fn is_about_same(&self, other: &Self) -> bool {
        match (self, other) {
            // Their field depends on what was wanted, or on the member that differs.
            (Self::NoAnswer { .. }, Self::NoAnswer { .. }) | (Self::Body { .. }, Self::Body { .. }) => true,
            (Self::Answer { subject, .. }, Self::Answer { subject: other, .. }) => subject == other,
            (Self::Session { subject, .. }, Self::Session { subject: other, .. }) => subject == other,
            (Self::Grant { expected, .. }, Self::Grant { expected: other, .. }) => expected == other,
            (Self::Header { name, rule, .. }, Self::Header { name: other, rule: others, .. }) => {
                name == other && discriminant(rule) == discriminant(others)
            }
            (Self::Secret { secrets, .. }, Self::Secret { secrets: other, .. }) => secrets == other,
            (Self::Cache { rule, .. }, Self::Cache { rule: other, .. }) => rule == other,
            (Self::KeySet { rule, .. }, Self::KeySet { rule: other, .. }) => rule == other,
            (Self::Page { effect, .. }, Self::Page { effect: other, .. }) => effect == other,
            (Self::Count(count), Self::Count(other)) => count.counted == other.counted,
            (Self::Time { rule, .. }, Self::Time { rule: other, .. }) => rule == other,
            _ => self.name() == other.name() && self.field() == other.field(),
        }
    }

    /// Names of the settings of an edge that the compared field depends on.
    pub fn settings(&self) -> &'static [&'static str] {
        match self {
            Self::NoAnswer { wanted: Some(wanted), .. } => wanted.settings(),
            Self::Grant { .. }
            | Self::Breaches { invariant: Invariant::ReadableAnswers | Invariant::ForeignGrants, .. } => {
                &["ALLOWED_ORIGIN"]
            }
            Self::License { .. } | Self::Breaches { invariant: Invariant::License, .. } => &["LICENSE"],
            Self::Certificate { .. } | Self::Breaches { invariant: Invariant::Certificate, .. } => {
                &["EDGE_CLIENT_CERT_FILE", "EDGE_CLIENT_KEY_FILE"]
            }
            Self::Arrivals { .. } => &["SERVICE_URL"],
            _ => &[],
        }
    }

    /// Whether the actual value is no text: such values look the same in any form.
    pub fn is_binary(&self) -> bool {
        match self {
            Self::RelayedBody { arrived, .. } => arrived.is_binary(),
            Self::Body { actual: Some(body), .. } => body.value.is_binary(),
            _ => false,
        }
    }

    /// Ids of the cases whose requests broke an invariant.
    pub fn cases(&self) -> impl Iterator<Item = &str> {
        let breaches = match self {
            Self::Breaches { breaches, .. } => breaches.as_slice(),
            _ => &[],
        };
        breaches.iter().filter_map(|breach| breach.case.as_deref())
    }

    /// Whether the log was compared.
    pub fn is_about_log(&self) -> bool {
        match self {
            Self::LogLine { .. } | Self::LogData { .. } => true,
            Self::Secret { secrets, .. } => *secrets == Secrets::EdgeInLog,
            Self::Breaches { invariant, .. } => matches!(
                invariant,
                Invariant::SecretsInLog | Invariant::BodiesInLog | Invariant::UserDataInLog
            ),
            _ => false,
        }
    }
}

impl From<Count> for DifferenceKind {
    fn from(count: Count) -> Self {
        Self::Count(count)
    }
}

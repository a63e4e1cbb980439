use serde::{Deserialize, Serialize};

use super::choice::{UserDatum, values};
use super::key::KeySetValue;
use super::kind::DifferenceKind;
use super::message::MessageFault;
use super::page::{PageAct, PagePlace};
use super::value::Wire;

/// One breach of an invariant, with its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Breach {
    /// Id of the case whose request broke it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub case: Option<String>,
    /// Number of the request at the service or of the log line, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub number: Option<u64>,
    /// Status of the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// The value that broke it: a grant, a body, a line, a header name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub value: Option<Wire>,
    /// Method of the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub method: Option<Wire>,
    /// The request has a token.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub has_token: bool,
    /// Number of arrivals or log lines.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub times: Option<u64>,
    /// Number of requests or refusals that explain them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub of: Option<u64>,
    /// How the message is malformed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fault: Option<MessageFault>,
    /// The end user's datum in the line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user_datum: Option<UserDatum>,
    /// The page's datum in the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page_place: Option<PagePlace>,
    /// Path of the member in the body.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub member: Option<Wire>,
    /// Keys in the answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keys: Option<KeySetValue>,
    /// How the header field differs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub header: Option<HeaderChange>,
    /// What the page did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub act: Option<PageAct>,
    /// The difference of a single exchange.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub difference: Option<Box<DifferenceKind>>,
}

values! {
    /// Invariant of a whole run.
    Invariant {
        /// The service accepted what pages are told it accepted.
        Acceptances,
        /// No Host of a page at the service.
        PageHosts,
        /// A verdict names no other session than its own.
        OwnSessions,
        /// No secret in an answer.
        SecretsInAnswers,
        /// No stack trace, file or address of the machine in an answer.
        InternalsInAnswers,
        /// Answers to collections are JSON.
        JsonBodies,
        /// The allowed origin reads each answer.
        ReadableAnswers,
        /// Other origins read none.
        ForeignGrants,
        /// A page sent each request that arrives.
        UnexplainedArrivals,
        /// Answers keep to the grammar of HTTP.
        MalformedAnswers,
        /// Requests to the service keep to the grammar of HTTP.
        MalformedRequests,
        /// No copies of answered collections.
        Copies,
        /// No retries after a broken connection.
        Retries,
        /// The license is in each request.
        License,
        /// The client certificate is in each request.
        Certificate,
        /// No `Authorization` of the client.
        ClientAuthorization,
        /// No cookies of the client.
        ClientCookies,
        /// No cookies that the service set before.
        ServiceCookies,
        /// No secret in the log.
        SecretsInLog,
        /// No body in the log.
        BodiesInLog,
        /// No end-user data in lines about refusals.
        UserDataInRefusals,
        /// No end-user data in other lines.
        UserDataInLog,
        /// A line for each refusal.
        RefusalsWithoutLine,
        /// At most a line for each refusal.
        RefusalsWithMoreLines,
        /// Answers after all other cases.
        LastAnswers,
        /// No server errors.
        ServerErrors,
        /// Shared caches store no verdict.
        SharedCaches,
        /// No token in an answer.
        TokensInAnswers,
        /// Pending answers are exact.
        PendingAnswers,
        /// Refusals are JSON.
        RefusalBodies,
        /// Answers declare JSON.
        ContentTypes,
        /// Caches keep key sets for a short time.
        CacheTimes,
        /// The same keys in each answer.
        SameKeys,
        /// No private key.
        PrivateKeys,
        /// Header fields reveal no session.
        RevealingHeaders,
        /// No unexplained requests of a page.
        PageRequests,
        /// No data of the page in requests.
        PageData,
        /// No errors in a page.
        PageErrors,
        /// No dialogs, windows and navigations.
        PageActs,
    }

    /// How the header fields of two answers differ.
    HeaderChange {
        /// One has this field.
        Additional,
        /// One lacks this field.
        Missing,
        /// This field has another value.
        OtherValue,
    }
}

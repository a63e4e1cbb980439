//! Choices among values of differences.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)+ })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr)]
            #[cfg_attr(test, derive(schemars::JsonSchema))]
            #[serde(rename_all = "kebab-case")]
            #[strum(serialize_all = "kebab-case")]
            pub enum $name {
                $($(#[$variant_doc])* $variant,)+
            }

            impl $name {
                /// Name in reports and fingerprints.
                pub fn name(self) -> &'static str {
                    self.into()
                }
            }
        )+
    };
}

values! {
    /// Why there is no answer.
    SilenceReason {
        /// The connection failed.
        NotConnected,
        /// edgeproof has no more sockets.
        NoSocket,
        /// The TLS handshake failed.
        NoTls,
        /// The connection was closed.
        Closed,
        /// The connection was reset.
        Reset,
        /// No answer within the timeout.
        TimedOut,
        /// The bytes are no HTTP.
        NotHttp,
    }

    /// Form of a body.
    BodyForm {
        /// No bytes.
        Empty,
        /// An HTML page.
        Html,
        /// Text that begins like JSON.
        BrokenJson,
        /// Other text.
        Text,
        /// `{"ok":true}`.
        Accepted,
        /// Another JSON object.
        Object,
        /// Another JSON value.
        Json,
    }

    /// How a member of a JSON body differs.
    MemberChange {
        /// It is absent.
        Missing,
        /// It is not expected.
        Additional,
        /// It is not expected, and its name contains an expected one.
        Renamed,
        /// Its value is `unknown`.
        Unknown,
        /// Its value has other upper and lower case letters.
        OtherCase,
        /// Its value contains the expected one, or is a part of it.
        Respelled,
        /// Its value is another one of the same type.
        Other,
        /// Its value has another type.
        AnotherType,
    }

    /// How a relayed body was changed.
    BodyChange {
        /// The same bytes.
        None,
        /// It arrived empty.
        Empty,
        /// It arrived as `{}`.
        EmptyObject,
        /// Only white space changed.
        WhiteSpace,
        /// The same JSON in other bytes.
        WrittenAgain,
        /// It has more around it.
        Wrapped,
        /// A part is missing.
        Cut,
        /// Any other change.
        Changed,
    }

    /// Form of `Access-Control-Allow-Origin`.
    GrantForm {
        /// No header.
        Absent,
        /// `*`.
        Any,
        /// Exactly the origin.
        Origin,
        /// `null`.
        Null,
        /// Several values.
        List,
        /// Another value.
        Other,
    }

    /// A client certificate.
    CertificateForm {
        /// None.
        Absent,
        /// The configured one.
        Configured,
        /// Another one.
        Other,
        /// The configured one or none.
        ConfiguredOrAbsent,
    }

    /// Secrets that an answer must not have.
    Secrets {
        /// License and private key of the edge.
        Edge,
        /// The read token of the request.
        Token,
        /// License and private key of the edge, in the log.
        EdgeInLog,
    }

    /// Data of an end user that a log must not have.
    UserDatum {
        /// The body of the request.
        Body,
        /// `User-Agent`.
        UserAgent,
        /// `Cookie`.
        Cookie,
        /// `X-Forwarded-For`.
        ForwardedAddress,
        /// Address of the connection.
        ClientAddress,
    }

    /// Rule of a cache time.
    CacheRule {
        /// Lifetime.
        Lifetime,
        /// Lifetime and stale use.
        StaleIncluded,
        /// No storage in shared caches.
        NotShared,
    }

    /// Rule of a coding.
    CodingRule {
        /// No transfer coding in an answer to HTTP/1.0.
        Transfer,
        /// The body is complete in its content coding.
        Intact,
        /// The request accepts the content coding.
        Accepted,
        /// `Vary` names `Accept-Encoding`.
        Vary,
        /// `Content-Length` of `HEAD` is that of `GET`.
        HeadLength,
    }

    /// Rule of a key set.
    KeyRule {
        /// It is a key set.
        Readable,
        /// It has a key.
        NotEmpty,
        /// Different keys have different ids.
        DistinctIds,
        /// It has public members only.
        PublicOnly,
        /// Each key has a type.
        Typed,
        /// Each key has all members.
        Complete,
        /// JOSE libraries can use each key to verify.
        Verifying,
        /// Each of many answers has the same keys.
        Same,
        /// It has the same keys as an ordinary request before.
        SameAgain,
    }

    /// Result of verifying a token.
    SignatureForm {
        /// It verifies.
        Verified,
        /// It verifies with a key that has no id.
        VerifiedUnnamed,
        /// It does not verify.
        NotVerified,
        /// The set has no such key.
        UnknownKey,
        /// Its algorithm has no public key.
        Unsigned,
        /// edgeproof does not know its algorithm.
        Unsupported,
        /// It is no JWS.
        Malformed,
    }

    /// End of a session in a page.
    SessionEnd {
        /// All calls returned.
        Returned,
        /// A function does not exist.
        Missing,
        /// A call failed.
        Failed,
        /// A call did not end.
        Unsettled,
        /// The page ended.
        PageGone,
    }

    /// What a page or a collector does.
    PageEffect {
        /// The module loads.
        ModuleLoads,
        /// `abort()` returns.
        AbortReturns,
        /// A collection arrives.
        CollectionArrives,
        /// A collection arrives at an edge that holds it.
        CollectionHeld,
        /// So many collections arrive.
        CollectionsArrive,
        /// The verdict of a session.
        Verdict,
        /// No verdict of an aborted session.
        NoVerdict,
        /// Confidence of a verdict with blocked measurements.
        Confidence,
        /// A verdict has a confidence.
        HasConfidence,
        /// Mode of a collection.
        Mode,
        /// Requests of the page.
        Requests,
        /// URL of the POST.
        Url,
        /// Body of the POST.
        Body,
        /// Body of the collection at the service.
        RelayedBody,
        /// Collections differ in their bytes.
        DistinctCollections,
        /// Data of the page in clear.
        PageData,
        /// Reference or measurements in clear.
        Reference,
        /// Reference in clear outside of the body.
        ReferenceOutside,
        /// Reference in the opened collection.
        SameReference,
        /// The seal opens.
        SealOpens,
        /// Key of the seal.
        SealKey,
        /// Uncaught errors.
        UncaughtErrors,
    }

    /// What is counted.
    Counted {
        /// Collections at the edge.
        Collections,
        /// Collections at the edge, at least one of them.
        SomeCollections,
        /// Collections after an abort.
        LateCollections,
        /// POSTs of a page, at most so many.
        Posts,
        /// Accepted collections.
        AcceptedCollections,
        /// Copies of a collection.
        Copies,
        /// Requests at the service with the same body.
        SameBodies,
        /// Answers other than expected.
        WrongAnswers,
        /// Bodies that did not arrive once and unchanged.
        ChangedBodies,
        /// Generated bodies that did not arrive.
        LostBodies,
        /// Requests to the location of a redirect.
        FollowedRedirects,
        /// Entries of a request target that the setting does not explain.
        RequestTargets,
        /// Requests at the service that belong to no case.
        ForeignRequests,
        /// Waiting requests.
        WaitingRequests,
        /// Header fields that reveal a verdict.
        RevealingHeaders,
        /// Methods other than POST at the service.
        OtherMethods,
        /// Requests at the service that broke off.
        BrokenRequests,
        /// Sequences of steps.
        Sequences,
        /// Files with sequences.
        SavedSequences,
        /// Steps of a sequence.
        Steps,
        /// Steps of a shrunk sequence.
        ShrunkSteps,
        /// Exchanges of an exploration.
        Exchanges,
        /// Exchanges that fail for a reason that another case judges.
        JudgedExchanges,
    }

    /// Rule of a duration.
    TimeRule {
        /// The case ends within its timeout.
        CaseTimeout,
        /// An answer comes at once.
        AtOnce,
        /// An answer to a request without a wait comes at once.
        WithoutWait,
        /// An answer to a request without a token comes at once.
        WithoutToken,
        /// A waiting request is answered at once when its verdict is there.
        AfterVerdict,
        /// A request may wait.
        MayWait,
        /// A health check is answered before collections.
        #[serde(alias = "before-others")]
        BeforeCollections,
        /// A request is answered before others stop waiting.
        BeforeWaits,
    }

    /// End of a process.
    ProcessEnd {
        /// It died.
        Died,
        /// It did not start.
        NotStarted,
        /// It started or not, as it may.
        Open,
    }

    /// Invariant of a whole run.
    Invariant {
        /// No secret in an answer.
        SecretsInAnswers,
        /// Answers to collections are JSON.
        JsonBodies,
        /// The allowed origin reads each answer.
        ReadableAnswers,
        /// Other origins read none.
        ForeignGrants,
        /// A page sent each request that arrives.
        UnexplainedArrivals,
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

    /// What a page does to its user.
    PageAct {
        /// It opens a window.
        Window,
        /// It navigates.
        Navigation,
    }

    /// What an answer is about.
    AnswerSubject {
        /// The answer to one request.
        Answer,
        /// The answer after a retry of the edge.
        AfterRetry,
        /// One of the answers after an outage.
        AfterOutage,
        /// The answers to two equal requests.
        Pair,
        /// The answer after all other cases.
        AfterOtherCases,
        /// No acceptance.
        NoAcceptance,
        /// The same answer as the first time.
        AsTheFirstTime,
        /// The same answer for any reason.
        ForAnyReason,
        /// The same answer as the verdict before.
        AsTheVerdictBefore,
        /// The same answer as for a session that has a verdict.
        AsForAVerdict,
    }
}

impl KeyRule {
    /// The value with the same symptom.
    #[must_use]
    pub fn class(self) -> Self {
        match self {
            Self::Verifying | Self::SameAgain => Self::Same,
            other => other,
        }
    }
}

impl PageEffect {
    /// The value with the same symptom.
    #[must_use]
    pub fn class(self) -> Self {
        match self {
            Self::CollectionHeld | Self::CollectionsArrive => Self::CollectionArrives,
            Self::NoVerdict => Self::Verdict,
            Self::HasConfidence => Self::Confidence,
            Self::RelayedBody => Self::Body,
            Self::ReferenceOutside | Self::SameReference => Self::Reference,
            other => other,
        }
    }
}

impl TimeRule {
    /// The name in symptoms. Rules that differ only in their request have the same one.
    pub fn class(self) -> &'static str {
        match self {
            Self::CaseTimeout => self.name(),
            Self::BeforeCollections | Self::BeforeWaits => "before-others",
            _ => Self::AtOnce.name(),
        }
    }
}

impl Counted {
    /// The value with the same symptom.
    #[must_use]
    pub fn class(self) -> Self {
        match self {
            Self::SomeCollections | Self::LateCollections | Self::Posts => Self::Collections,
            Self::SameBodies => Self::Copies,
            Self::SavedSequences => Self::Sequences,
            Self::ShrunkSteps => Self::Steps,
            Self::JudgedExchanges => Self::Exchanges,
            other => other,
        }
    }
}

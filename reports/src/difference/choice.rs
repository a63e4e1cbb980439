//! Values of differences that are one of a few.

use serde::{Deserialize, Serialize};

macro_rules! values {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident,)+ })+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
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
pub(super) use values;

values! {
    /// What a run is about, as messages name it.
    Subject {
        /// An edge.
        #[serde(rename = "the edge")]
        #[strum(serialize = "the edge")]
        Edge,
        /// A service.
        #[serde(rename = "the service")]
        #[strum(serialize = "the service")]
        Service,
        /// A key set.
        #[serde(rename = "the key set")]
        #[strum(serialize = "the key set")]
        KeySet,
        /// A collector.
        #[serde(rename = "the collector")]
        #[strum(serialize = "the collector")]
        Collector,
        /// Whatever the run tests.
        #[serde(rename = "the target")]
        #[strum(serialize = "the target")]
        Target,
    }

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
        /// Its object has it more than once.
        Doubled,
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

    /// Part of a token.
    TokenPart {
        /// Its header.
        Header,
        /// Its claims.
        Claims,
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
        /// Stack traces, files and addresses of the machine.
        Internals,
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
        /// Address of the page.
        PageAddress,
        /// Query of the request.
        Query,
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
        /// A long poll for a session of another license takes as long as for none.
        AsForNone,
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

impl TimeRule {
    /// The value with the same symptom.
    #[must_use]
    pub fn class(self) -> Self {
        match self {
            Self::CaseTimeout => self,
            Self::BeforeCollections | Self::BeforeWaits => Self::BeforeCollections,
            _ => Self::AtOnce,
        }
    }
}

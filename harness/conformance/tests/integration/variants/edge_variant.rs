//! Conforming variants of the edge: one value for each choice that the interface leaves open.

/// Defines an enum for each choice, and [`EdgeVariant`] with a value for each of them. The first value is the behaviour
/// of the reference edge.
macro_rules! choices {
    ($( $(#[$doc:meta])* $field:ident: $name:ident {
        $(#[$default_doc:meta])* $default:ident, $( $(#[$other_doc:meta])* $other:ident, )+
    } )+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
            pub(crate) enum $name {
                $(#[$default_doc])* #[default] $default,
                $( $(#[$other_doc])* $other, )+
            }
        )+

        /// A value for each choice.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub(crate) struct EdgeVariant {
            $( $(#[$doc])* pub(crate) $field: $name, )+
        }

        impl EdgeVariant {
            /// Number of values of each choice, in the order of the fields.
            pub(crate) const CHOICES: &'static [usize] = &[$( [$name::$default, $($name::$other),+].len(), )+];

            /// Variant with the values at these positions, in the order of the fields.
            pub(crate) fn from_positions(positions: &[usize]) -> Self {
                let mut positions = positions.iter();
                Self { $(
                    $field: [$name::$default, $($name::$other),+][*positions.next().unwrap()],
                )+ }
            }

            /// Values that differ from the reference edge, such as `json: Pretty, allow: PostLast`.
            pub(crate) fn differences(&self) -> String {
                let mut differences: Vec<String> = Vec::new();
                $( if self.$field != $name::default() {
                    differences.push(format!("{}: {:?}", stringify!($field), self.$field));
                } )+
                differences.join(", ")
            }
        }
    };
}

choices! {
    /// HTTP version towards the service.
    upstream_version: UpstreamVersion {
        /// HTTP/2 if the service offers it.
        Negotiated,
        /// HTTP/1.1 only.
        Http1,
    }
    /// Further attempts after an answer.
    repeats: Repeats {
        /// None.
        Never,
        /// One after 408, 421, and 417 to `Expect: 100-continue`, which each request has.
        WherePermitted,
    }
    /// Idle connections that the service has closed.
    closed_connections: ClosedConnections {
        /// Replaced.
        Replaced,
        /// Used for the next request, which fails.
        Used,
    }
    /// Connections to the service.
    upstream_connections: UpstreamConnections {
        /// Keep-alive.
        KeepAlive,
        /// One connection per request.
        OnePerRequest,
    }
    /// Place of the license in the request to the service.
    license: LicensePlace {
        /// Header and scheme of the profile.
        Profile,
        /// `Authorization` without a scheme.
        NoScheme,
        /// A custom header.
        CustomHeader,
        /// A custom header with other parameters.
        Parameter,
        /// Password of Basic credentials.
        Basic,
        /// Query parameter.
        Query,
    }
    /// Path at the service.
    relay_path: RelayPath {
        /// Path of the profile.
        Profile,
        /// Another path, with a query.
        Other,
        /// `SERVICE_URL` itself.
        Root,
    }
    /// Framing of the body towards the service.
    upload: Upload {
        /// `Content-Length`.
        Length,
        /// Chunks.
        Chunked,
    }
    /// Start of the request to the service.
    upload_start: UploadStart {
        /// After the end of the page's body.
        AfterBody,
        /// Before it: a body that breaks off breaks the request off.
        Streaming,
    }
    /// Additional headers towards the service.
    request_headers: RequestHeaders {
        /// None.
        None,
        /// Headers that HTTP clients and tracing add.
        Many,
    }
    /// Member of the service's reply that contains the reason.
    reason: ReasonMember {
        /// `reason`, or `error` if `reason` is absent.
        Either,
        /// `reason` only.
        Reason,
        /// `error` only.
        Error,
    }
    /// Meaning of a redirect from the service.
    redirect: Redirect {
        /// A refusal without a reason.
        Refusal,
        /// No answer.
        NoAnswer,
    }
    /// Content coding of answers.
    coding: AnswerCoding {
        /// None.
        Plain,
        /// Brotli for clients that accept it.
        Brotli,
    }
    /// Framing of answers.
    framing: Framing {
        /// `Content-Length`.
        Length,
        /// Chunks.
        Chunked,
    }
    /// Format of JSON.
    json: Json {
        /// No white space.
        Compact,
        /// Indented, with a line break at the end.
        Pretty,
        /// Members in reverse order, with blanks.
        Reversed,
        /// Unnecessary escapes.
        Escaped,
    }
    /// Content type of answers.
    content_type: ContentType {
        /// `application/json`.
        Plain,
        /// With a charset.
        Charset,
        /// With capitals and a charset.
        Capitals,
    }
    /// Additional headers of answers.
    answer_headers: AnswerHeaders {
        /// None.
        None,
        /// Headers that frameworks and proxies add.
        Many,
    }
    /// Case of header names.
    header_case: HeaderCase {
        /// `content-type`.
        Lower,
        /// `Content-Type`.
        Title,
    }
    /// Connections of clients.
    client_connections: ClientConnections {
        /// Keep-alive.
        KeepAlive,
        /// Closed after each answer.
        Close,
    }
    /// Answer to a preflight.
    preflight: Preflight {
        /// Answer of the profile.
        Profile,
        /// 200 without a body.
        Ok,
        /// 200 with a body.
        OkWithBody,
    }
    /// Methods that a preflight grants.
    granted_methods: GrantedMethods {
        /// Methods of the profile.
        Profile,
        /// None: `POST` needs no grant.
        None,
        /// All.
        Star,
    }
    /// Request headers that a preflight grants.
    granted_headers: GrantedHeaders {
        /// Headers of the profile.
        Profile,
        /// All.
        Star,
        /// Several, with capitals.
        Several,
    }
    /// Answers that name the allowed origin.
    origin_grant: OriginGrant {
        /// Answers to the allowed origin.
        ToAllowedOrigin,
        /// All answers.
        Always,
    }
    /// Texts in `Origin` that no browser sends.
    odd_origins: OddOrigins {
        /// Not granted.
        Denied,
        /// Granted if they mean the allowed origin.
        Granted,
    }
    /// Answers without a usable `SERVICE_URL` or `ALLOWED_ORIGIN`.
    unconfigured: Unconfigured {
        /// Those of the reference edge.
        Usual,
        /// 500 in plain text.
        ServerError,
    }
    /// `Retry-After` of the service's 429 and 503.
    retry_after: RetryAfter {
        /// Not passed on.
        Dropped,
        /// Passed on.
        Passed,
    }
    /// Order of methods in `Allow`.
    allow: Allow {
        /// `POST` first.
        PostFirst,
        /// `POST` last, without blanks.
        PostLast,
    }
    /// Answer of the health check.
    health: Health {
        /// Answer of the profile.
        Profile,
        /// Plain text.
        Text,
        /// 204.
        NoContent,
    }
    /// Answer on paths that the interface does not define.
    unknown_path: UnknownPath {
        /// 404 with JSON.
        Json404,
        /// 404 with an HTML page.
        Page404,
        /// 200 with an HTML page.
        Page200,
    }
    /// Format of log lines.
    log: LogFormat {
        /// `refused status=… reason=…`.
        Text,
        /// JSON with a time.
        Json,
        /// Between lines of an access log.
        AmongOthers,
        /// With the code of the answer, which a service may also give as its reason.
        Coded,
    }
}

/// One list gives the behaviours, what each does, and the row that it breaks.
macro_rules! behaviours {
    (
        $(#[$about:meta])* pub enum $Behaviour:ident;
        $($(#[doc = $meaning:literal])+ $Variant:ident = $name:literal breaks $row:literal $(at $level:ident)?;)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $Behaviour {
            $($(#[doc = $meaning])+ $Variant,)*
        }

        impl $Behaviour {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),*];

            /// A slug.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)* }
            }

            /// What it does, in a sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$Variant => concat!($($meaning),+),)* }.trim()
            }

            /// Id of the row that it breaks.
            pub const fn row(self) -> &'static str {
                match self { $(Self::$Variant => $row,)* }
            }

            /// How much it weighs, where that is less than the row's level.
            pub fn level(self) -> Option<edgeproof_fixtures::spec::Level> {
                match self { $(Self::$Variant => behaviours!(@level $($level)?),)* }
            }
        }

        impl std::fmt::Display for $Behaviour {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
    (@level) => { None };
    (@level $level:ident) => { Some(edgeproof_fixtures::spec::Level::$level) };
}

pub(super) use behaviours;

behaviours! {
    /// What an edge may do otherwise that is not one row's answer: each is written once. Exhaustive.
    pub enum Behaviour;

    // -- the body on its way
    /// Reads the JSON and writes it anew.
    Reserialises = "reserialises" breaks "statement.body-unchanged";
    /// Takes white space off both ends.
    Trims = "trims" breaks "statement.body-unchanged";
    /// Decodes it as UTF-8 and replaces what is none.
    DecodesLossily = "decodes-lossily" breaks "statement.body-unchanged";
    /// Takes a byte order mark off.
    StripsBom = "strips-bom" breaks "statement.body-unchanged";
    /// Puts it into an object of its own.
    Wraps = "wraps" breaks "statement.body-unchanged";
    /// Puts text into composed form.
    Composes = "composes" breaks "statement.body-unchanged";
    /// Cuts it at a NUL byte.
    CutsAtNul = "cuts-at-nul" breaks "statement.body-unchanged";
    /// Writes line ends as a line feed alone.
    ChangesLineEnds = "changes-line-ends" breaks "statement.body-unchanged";
    /// Relays {} in place of an empty body.
    FillsEmpty = "fills-empty" breaks "statement.body-unchanged";
    /// Reads no body that comes in chunks.
    IgnoresChunks = "ignores-chunks" breaks "statement.body-unchanged";
    /// Refuses who expects 100-continue.
    RefusesExpect = "refuses-expect" breaks "statement.body-unchanged";
    /// Relays JSON by content type only, and an empty object in place of all else.
    ParsesByContentType = "parses-by-content-type" breaks "statement.body-unchanged";
    /// Answers a body that is not JSON itself.
    RefusesNotJson = "refuses-not-json" breaks "statement.body-not-judged";
    /// Answers a body that is not an object itself.
    RefusesNotObject = "refuses-not-object" breaks "statement.body-not-judged";
    /// Answers a body without members itself.
    RefusesEmptyObject = "refuses-empty-object" breaks "statement.body-not-judged";
    /// Answers another content type than JSON itself.
    RefusesOtherTypes = "refuses-other-types" breaks "statement.body-unchanged";
    /// Answers a body beyond 10 KiB itself.
    LimitsTo10k = "limits-to-10k" breaks "statement.body-unchanged";
    /// Answers a body beyond 100 KiB itself.
    LimitsTo100k = "limits-to-100k" breaks "statement.body-large";
    /// Answers a body beyond 512 KiB itself.
    LimitsTo512k = "limits-to-512k" breaks "statement.body-large";
    /// Sends every collection twice.
    SendsTwice = "sends-twice" breaks "statement.relayed-once";
    /// Sends it again when the connection broke.
    RetriesBroken = "retries-broken" breaks "statement.relayed-once";
    /// Sends it again after a 409.
    Retries409 = "retries-409" breaks "statement.relayed-once";
    /// Sends it again after a 401.
    Retries401 = "retries-401" breaks "statement.relayed-once";
    /// Sends it again after a 503.
    Retries503 = "retries-503" breaks "statement.relayed-once";
    /// Sends every collection once more when the next one comes.
    CopiesLate = "copies-late" breaks "statement.relayed-once";
    /// Accepts without relaying.
    RelaysNothing = "relays-nothing" breaks "statement.body-unchanged";
    /// Relays what came of a body that broke off.
    RelaysPartial = "relays-partial" breaks "statement.nothing-partial-relayed";
    /// Relays the first half of a body that comes in chunks.
    HalvesChunks = "halves-chunks" breaks "statement.nothing-partial-relayed";

    // -- license, certificates, trust
    /// Relays without the license.
    DropsLicense = "drops-license" breaks "statement.license-presented";
    /// Relays the license in lower case.
    LowersLicense = "lowers-license" breaks "statement.license-presented";
    /// Relays the license without its prefix.
    StripsLicense = "strips-license" breaks "setting.edge.license";
    /// Presents no license that does not look like one.
    JudgesLicense = "judges-license" breaks "statement.read-token-no-license";
    /// Answers itself where LICENSE is not set.
    NeedsLicense = "needs-license" breaks "statement.relays-without-license";
    /// Presents the same license whatever LICENSE says.
    KeepsLicense = "keeps-license" breaks "setting.edge.license";
    /// Presents no client certificate.
    PresentsNone = "presents-no-certificate" breaks "statement.certificate-presented";
    /// Presents another client certificate.
    PresentsOther = "presents-other-certificate" breaks "statement.certificate-presented";
    /// Ignores where the client certificate is.
    IgnoresCertFile = "ignores-cert-file" breaks "setting.edge.client-cert-file";
    /// Ignores where the key is.
    IgnoresKeyFile = "ignores-key-file" breaks "setting.edge.client-key-file";
    /// Answers itself where no client certificate is set.
    NeedsCertificate = "needs-certificate" breaks "statement.relays-without-certificate";
    /// Does not verify the service.
    TrustsAll = "trusts-all" breaks "edge.502.service-unreachable";
    /// Does not verify the service where no CA file is set.
    TrustsAllWithoutFile = "trusts-all-without-ca-file" breaks "setting.edge.service-ca-file";
    /// Does not look at the name in the service's certificate.
    TrustsAnyHost = "trusts-any-host" breaks "statement.server-identity";
    /// Does not look at the end of the service's certificate.
    TrustsAnyTime = "trusts-any-time" breaks "statement.server-identity";
    /// Calls the service at the address that it had at first.
    CachesAddress = "caches-address" breaks "setting.edge.service-url";
    /// Follows redirects.
    FollowsRedirects = "follows-redirects" breaks "statement.license-not-redirected";
    /// Shows the license in a header.
    LeaksInHeader = "leaks-in-header" breaks "statement.secrets-not-answered";
    /// Shows the license in errors.
    LeaksInError = "leaks-in-error" breaks "statement.secrets-not-answered";
    /// Shows the client key where the service cannot be reached.
    LeaksKey = "leaks-key" breaks "statement.secrets-not-answered";
    /// Shows the license in the health check.
    LeaksInHealth = "leaks-in-health" breaks "statement.secrets-not-answered";
    /// Shows the license in a preflight.
    LeaksInPreflight = "leaks-in-preflight" breaks "statement.secrets-not-answered";

    // -- the service's answer
    /// Gives one collection's answer to another that is under way.
    MixesUp = "mixes-up" breaks "statement.isolation";
    /// Gives the answer of the connection's first collection to all on it.
    AnswersAsBefore = "answers-as-before" breaks "statement.isolation";
    /// Answers refusals beyond 499 with 502.
    Hides5xx = "hides-5xx" breaks "edge.refused";
    /// Answers every refusal that the interface does not list with 500.
    HidesUnlisted = "hides-unlisted" breaks "edge.refused";
    /// Knows the listed reasons only.
    KnowsListed = "knows-listed" breaks "statement.status-and-reason-passed";
    /// Gives a reason that is listed with several statuses the first of them, whatever the service's is.
    FirstStatus = "first-status-of-a-reason" breaks "statement.401-or-400";
    /// Gives a reason that is listed with several statuses the last of them, whatever the service's is.
    LastStatus = "last-status-of-a-reason" breaks "statement.401-or-400";
    /// Passes the service's own body on.
    PassesBody = "passes-body" breaks "edge.refused";
    /// Passes what is no plain reason on as the reason.
    PassesText = "passes-text" breaks "edge.refused.unknown";
    /// Passes numbers, null and objects on as the reason.
    PassesValues = "passes-values" breaks "edge.refused.unknown";
    /// Calls the service unreachable where its refusal has no reason.
    CallsUnreachable = "calls-unreachable" breaks "edge.refused.unknown";
    /// Errors are web pages.
    ErrorPages = "error-pages" breaks "statement.error-bodies-json";
    /// Takes the suffix off a reason.
    StripsSuffix = "strips-suffix" breaks "statement.reason-in-between";
    /// Gives no answer of its own to a large collection that is refused early.
    LosesEarly = "loses-early-refusal" breaks "statement.early-refusal";
    /// Waits for the service for 300 ms.
    GivesUpSoon = "gives-up-soon" breaks "statement.slow-service";
    /// Once the service was unreachable, it stays so.
    RemembersFailure = "remembers-failure" breaks "statement.recovery";
    /// Opens one connection to the service in its life.
    NeverReconnects = "never-reconnects" breaks "statement.recovery";
    /// Passes the status of an acceptance on.
    PassesSuccess = "passes-success" breaks "statement.other-success";

    // -- CORS
    /// Grants whatever origin asks.
    ReflectsOrigin = "reflects-origin" breaks "statement.cors-other-origins";
    /// Grants every origin with a star.
    GrantsStar = "grants-star" breaks "statement.cors-other-origins";
    /// Grants the opaque origin.
    GrantsNull = "grants-null" breaks "statement.cors-other-origins";
    /// Compares the beginning of an origin.
    ByPrefix = "origin-by-prefix" breaks "statement.cors-other-origins";
    /// Compares the end of an origin.
    BySuffix = "origin-by-suffix" breaks "statement.cors-other-origins";
    /// Grants the hosts below the allowed one.
    BySubdomain = "origin-by-subdomain" breaks "statement.cors-other-origins";
    /// Compares the host, not the scheme.
    WithoutScheme = "origin-without-scheme" breaks "statement.cors-other-origins";
    /// Compares scheme and host, not the port.
    WithoutPort = "origin-without-port" breaks "statement.cors-other-origins";
    /// Takes the origin for a pattern.
    ByPattern = "origin-by-pattern" breaks "statement.cors-other-origins";
    /// Allows the same origin whatever its setting says.
    KeepsOrigin = "keeps-origin" breaks "setting.edge.allowed-origin";
    /// Grants a preflight without the content type.
    NoContentType = "preflight-without-content-type" breaks "edge.preflight";
    /// Answers a preflight with a redirect.
    RedirectsPreflight = "redirects-preflight" breaks "edge.preflight";
    /// Relays preflights.
    RelaysPreflight = "relays-preflight" breaks "edge.preflight";
    /// Lets pages read acceptances only.
    CorsOnSuccess = "cors-on-success" breaks "statement.cors-readable";
    /// Says nothing of Vary.
    NoVary = "no-vary" breaks "statement.vary";

    // -- methods and paths
    /// Takes PUT for POST.
    TakesPut = "takes-put" breaks "endpoint.edge.signals";
    /// Answers GET as the health check is answered.
    AnswersGet = "answers-get" breaks "edge.405.method-not-allowed";
    /// Answers OPTIONS of other origins, or without an origin, with 405.
    OptionsIsOther = "options-is-other" breaks "statement.options-not-405";
    /// Answers OPTIONS with a body with 405.
    OptionsWithoutBody = "options-without-body" breaks "statement.options-not-405" at Should;
    /// Says nothing of Allow.
    NoAllow = "no-allow" breaks "statement.allow-on-405";
    /// Has no health check.
    NoHealth = "no-health" breaks "endpoint.edge.health";
    /// Answers otherwise over HTTP/2.
    OtherOverHttp2 = "other-over-http2" breaks "statement.http2";
    /// Relays without the body over HTTP/2.
    EmptyOverHttp2 = "empty-over-http2" breaks "statement.http2";

    // -- a body that breaks off
    /// Never answers it.
    HangsOnShort = "hangs-on-short-body" breaks "edge.400.read-failed";
    /// Answers it with 500.
    FailsOnShort = "fails-on-short-body" breaks "edge.400.read-failed";
    /// Answers nothing any more, from then on.
    DiesOnShort = "dies-on-short-body" breaks "statement.edge-lives-on";
    /// Answers every later request with 500.
    SticksOnShort = "sticks-on-short-body" breaks "statement.edge-lives-on";
    /// Answers nothing any more once a connection brought no request that HTTP can read.
    DiesOnMalformed = "dies-on-malformed-request" breaks "statement.edge-lives-on";

    // -- the log
    /// Logs the body of what was refused.
    LogsBody = "logs-body" breaks "statement.log-without-end-user-data";
    /// Logs the address of the client.
    LogsAddress = "logs-address" breaks "statement.log-without-end-user-data";
    /// Logs the forwarded address.
    LogsForwarded = "logs-forwarded-address" breaks "statement.log-without-end-user-data";
    /// Logs the user agent.
    LogsAgent = "logs-agent" breaks "statement.log-without-end-user-data";
    /// Logs the cookie.
    LogsCookie = "logs-cookie" breaks "statement.log-without-end-user-data";
    /// Logs the license on a refusal.
    LogsLicense = "logs-license" breaks "statement.secrets-not-logged";
    /// Logs its settings at its start.
    LogsSettings = "logs-settings" breaks "statement.secrets-not-logged";
    /// Logs the client key at its start.
    LogsKey = "logs-key" breaks "statement.secrets-not-logged";
    /// Logs something on a refusal, neither status nor reason.
    LogsVaguely = "logs-vaguely" breaks "statement.refusal-logged";
    /// Logs nothing at all: where it goes cannot be known.
    LogsNothing = "logs-nothing" breaks "statement.refusal-logged" at Should;
    /// Logs every refusal twice.
    LogsTwice = "logs-twice" breaks "statement.refusal-logged";
    /// Logs the reason on a line of its own.
    LogsTwoLines = "logs-two-lines" breaks "statement.refusal-logged";
    /// Logs a refusal without its reason.
    LogsNoReason = "logs-no-reason" breaks "statement.refusal-logged";
    /// Logs a refusal without its status.
    LogsNoStatus = "logs-no-status" breaks "statement.refusal-logged";
    /// Logs another status than the service's.
    LogsOtherStatus = "logs-other-status" breaks "statement.refusal-logged";

    // -- everything
    /// Refuses everything itself.
    RefusesAll = "refuses-everything" breaks "edge.200.accepted";
    /// Accepts everything, whatever the service says.
    AcceptsAll = "accepts-everything" breaks "edge.refused";
}

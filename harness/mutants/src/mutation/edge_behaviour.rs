use super::behaviour_facts::{BehaviourFacts, behaviours};

behaviours! {
    /// Wrong behaviours of an edge that no answer of a single row shows.
    #[expect(clippy::doc_markdown, reason = "the doc comments are titles in plain text")]
    pub enum EdgeBehaviour;

    // -- relayed body
    /// Parses the JSON and serialises it again.
    Reserialises = "reserialises" breaks "statement.body-unchanged" also late;
    /// Trims white space from the body.
    Trims = "trims-white-space" breaks "statement.body-unchanged" also late;
    /// Decodes the body as UTF-8 and replaces invalid bytes.
    DecodesLossily = "decodes-lossily" breaks "statement.body-unchanged";
    /// Removes a byte order mark.
    StripsBom = "strips-bom" breaks "statement.body-unchanged";
    /// Wraps the body in an object.
    Wraps = "wraps-in-object" breaks "statement.body-unchanged" also late;
    /// Normalises text to composed Unicode.
    NormalisesUnicode = "normalises-unicode" breaks "statement.body-unchanged";
    /// Cuts the body at a NUL byte.
    CutsAtNul = "cuts-at-nul" breaks "statement.body-unchanged";
    /// Changes CRLF to LF.
    ChangesLineEnds = "changes-line-endings" breaks "statement.body-unchanged";
    /// Relays {} in place of an empty body.
    ReplacesEmpty = "replaces-empty-body" breaks "statement.body-unchanged";
    /// Relays an empty body in place of a chunked one.
    DropsChunks = "drops-chunked-body" breaks "statement.body-unchanged" also late;
    /// Answers 417 to Expect: 100-continue.
    RefusesExpect = "refuses-expect" breaks "statement.body-unchanged";
    /// Relays {} unless the content type is JSON.
    ParsesByContentType = "parses-by-content-type" breaks "statement.body-unchanged";
    /// Refuses a body that is not JSON.
    RefusesNotJson = "refuses-not-json" breaks "statement.body-not-judged";
    /// Refuses JSON that is not an object.
    RefusesNotObject = "refuses-not-object" breaks "statement.body-not-judged";
    /// Refuses an empty object.
    RefusesEmptyObject = "refuses-empty-object" breaks "statement.body-not-judged";
    /// Refuses content types other than JSON.
    RefusesOtherTypes = "refuses-other-content-types" breaks "statement.body-unchanged";
    /// Refuses bodies over 10 KiB.
    LimitsTo10k = "limits-to-10k" breaks "statement.body-unchanged";
    /// Refuses bodies over 100 KiB.
    LimitsTo100k = "limits-to-100k" breaks "statement.body-large";
    /// Refuses bodies over 512 KiB.
    LimitsTo512k = "limits-to-512k" breaks "statement.body-large";
    /// Relays each collection twice.
    SendsTwice = "sends-twice" breaks "statement.relayed-once" also late;
    /// Retries after a broken connection.
    RetriesBroken = "retries-after-broken-connection" breaks "statement.no-retry";
    /// Retries after a broken connection, and passes the refusal of the copy on.
    PassesCopyRefused = "passes-copy-refused" breaks "statement.retry-told-truth";
    /// Retries after a broken connection, and answers 502 although the retry was accepted.
    HidesRetry = "hides-retry" breaks "statement.retry-told-truth";
    /// Retries after a 409.
    Retries409 = "retries-409" breaks "statement.relayed-once";
    /// Retries after a 401.
    Retries401 = "retries-401" breaks "statement.relayed-once";
    /// Retries after a 503.
    Retries503 = "retries-503" breaks "statement.relayed-once";
    /// Relays each collection again before the next one.
    RelaysAgainLater = "relays-again-later" breaks "statement.relayed-once";
    /// Accepts without relaying.
    RelaysNothing = "relays-nothing" breaks "statement.body-unchanged" also late;
    /// Relays the received part of a broken body.
    RelaysPartial = "relays-partial-body" breaks "statement.nothing-partial-relayed";
    /// Relays the first half of a chunked body.
    HalvesChunks = "halves-chunked-body" breaks "statement.nothing-partial-relayed";

    // -- license, certificates, trust
    /// Relays without the license.
    DropsLicense = "drops-license" breaks "statement.license-presented";
    /// Relays the license in lower case.
    LowerCasesLicense = "lower-cases-license" breaks "statement.license-presented";
    /// Relays the license without its prefix.
    StripsLicensePrefix = "strips-license-prefix" breaks "setting.edge.license";
    /// Presents no license that lacks the license prefix.
    ChecksLicensePrefix = "checks-license-prefix" breaks "statement.read-token-no-license";
    /// Refuses collections while LICENSE is unset.
    RequiresLicense = "requires-license" breaks "statement.relays-without-license";
    /// Presents the license of the first edge and ignores LICENSE.
    KeepsFirstLicense = "keeps-first-license" breaks "setting.edge.license";
    /// Presents no client certificate.
    PresentsNone = "presents-no-certificate" breaks "statement.certificate-presented";
    /// Presents the client certificate of another license.
    PresentsOther = "presents-other-certificate" breaks "statement.certificate-presented";
    /// Ignores EDGE_CLIENT_CERT_FILE.
    IgnoresCertFile = "ignores-cert-file" breaks "setting.edge.client-cert-file";
    /// Ignores EDGE_CLIENT_KEY_FILE.
    IgnoresKeyFile = "ignores-key-file" breaks "setting.edge.client-key-file";
    /// Refuses collections while no client certificate is set.
    RequiresCertificate = "requires-certificate" breaks "statement.relays-without-certificate";
    /// Does not verify the service's certificate.
    SkipsCertificateCheck = "skips-certificate-check" breaks "edge.502.service-unreachable";
    /// Does not verify the service's certificate while SERVICE_CA_FILE is unset.
    SkipsCheckWithoutFile = "skips-certificate-check-without-ca-file" breaks "setting.edge.service-ca-file";
    /// Does not verify the host name in the service's certificate.
    AcceptsAnyHost = "accepts-certificate-of-any-host" breaks "statement.server-identity";
    /// Accepts an expired service certificate.
    AcceptsExpired = "accepts-expired-certificate" breaks "statement.server-identity";
    /// Calls the SERVICE_URL of the first edge and ignores its own.
    KeepsFirstServiceUrl = "keeps-first-service-url" breaks "setting.edge.service-url";
    /// Follows redirects of the service.
    FollowsRedirects = "follows-redirects" breaks "statement.license-not-redirected";
    /// Returns the license in a header.
    LeaksInHeader = "leaks-license-in-header" breaks "statement.secrets-not-answered";
    /// Returns the license in error bodies.
    LeaksInError = "leaks-license-in-errors" breaks "statement.secrets-not-answered";
    /// Returns the client key if the service is unreachable.
    LeaksKey = "leaks-client-key" breaks "statement.secrets-not-answered";
    /// Returns the license in the health check.
    LeaksInHealth = "leaks-license-in-health-check" breaks "statement.secrets-not-answered";
    /// Returns the license in preflight answers.
    LeaksInPreflight = "leaks-license-in-preflight" breaks "statement.secrets-not-answered";

    // -- answers after relaying
    /// Swaps the answers of concurrent collections.
    SwapsAnswers = "swaps-answers" breaks "statement.isolation";
    /// Repeats the first answer of a connection on all its requests.
    RepeatsFirstAnswer = "repeats-first-answer" breaks "statement.isolation";
    /// Answers 502 to refusals with a 5xx status.
    Hides5xx = "hides-5xx" breaks "edge.refused";
    /// Answers 500 to refusals with a status outside the tables.
    HidesUnlistedStatus = "hides-unlisted-status" breaks "edge.refused";
    /// Replaces reasons outside the tables by unknown.
    HidesUnlistedReason = "hides-unlisted-reason" breaks "statement.status-and-reason-passed";
    /// Answers the first status listed for the reason.
    FirstStatus = "first-status-of-a-reason" breaks "statement.401-or-400";
    /// Answers the last status listed for the reason.
    LastStatus = "last-status-of-a-reason" breaks "statement.401-or-400";
    /// Passes the service's body on.
    PassesBody = "passes-body" breaks "edge.refused";
    /// Passes other text than a plain reason on as the reason.
    PassesText = "passes-text-as-reason" breaks "edge.refused.unknown";
    /// Passes long and invalid text on with a line break.
    BreaksReason = "breaks-reason" breaks "statement.reason-one-line";
    /// Passes numbers, null and objects on as the reason.
    PassesValues = "passes-values-as-reason" breaks "edge.refused.unknown";
    /// Answers service_unreachable to refusals without a reason.
    ReportsUnreachable = "reports-unreachable-service" breaks "edge.refused.unknown";
    /// Answers errors with HTML pages.
    ErrorPages = "html-error-pages" breaks "statement.error-bodies-json" also late;
    /// Removes the suffix of a reason.
    StripsSuffix = "strips-reason-suffix" breaks "statement.reason-in-between";
    /// Answers 502 to an early refusal of a large collection.
    LosesEarly = "loses-early-refusal" breaks "statement.early-refusal";
    /// Times out after 300 ms.
    ShortTimeout = "short-timeout" breaks "statement.slow-service";
    /// Answers 502 to every collection after the first failure.
    FailsAfterFailure = "fails-after-first-failure" breaks "statement.recovery";
    /// Opens only one connection to the service.
    NeverReconnects = "never-reconnects" breaks "statement.recovery";
    /// Passes the service's 2xx status on.
    PassesSuccess = "passes-success-status" breaks "statement.other-success";

    // -- CORS
    /// Allows any origin.
    ReflectsOrigin = "reflects-origin" breaks "statement.cors-other-origins" also late;
    /// Allows every origin with the wildcard *.
    GrantsStar = "grants-wildcard-origin" breaks "statement.cors-other-origins" also late;
    /// Allows the opaque origin null.
    GrantsNull = "grants-null-origin" breaks "statement.cors-other-origins";
    /// Allows origins that start with the allowed one.
    ByPrefix = "origin-by-prefix" breaks "statement.cors-other-origins";
    /// Allows origins that end with the allowed host.
    BySuffix = "origin-by-suffix" breaks "statement.cors-other-origins";
    /// Allows subdomains of the allowed host.
    BySubdomain = "origin-by-subdomain" breaks "statement.cors-other-origins";
    /// Allows the allowed host with any scheme.
    WithoutScheme = "origin-without-scheme" breaks "statement.cors-other-origins";
    /// Allows the allowed origin with any port.
    WithoutPort = "origin-without-port" breaks "statement.cors-other-origins";
    /// Treats dots in the allowed origin as wildcards.
    ByPattern = "origin-by-pattern" breaks "statement.cors-other-origins";
    /// Allows a fixed origin and ignores ALLOWED_ORIGIN.
    IgnoresAllowedOrigin = "ignores-allowed-origin" breaks "setting.edge.allowed-origin";
    /// Does not allow the header Content-Type in preflight answers.
    NoContentType = "preflight-without-content-type" breaks "edge.preflight";
    /// Redirects preflights.
    RedirectsPreflight = "redirects-preflight" breaks "edge.preflight";
    /// Relays preflights.
    RelaysPreflight = "relays-preflight" breaks "edge.preflight";
    /// Sends CORS headers on success only.
    CorsOnSuccess = "cors-on-success" breaks "statement.cors-readable" also late;
    /// Omits the header Vary.
    NoVary = "no-vary-header" breaks "statement.vary";

    // -- methods and paths
    /// Handles PUT as POST.
    AcceptsPut = "accepts-put" breaks "endpoint.edge.signals";
    /// Answers GET with the health check's answer.
    AcceptsGet = "accepts-get" breaks "edge.405.method-not-allowed";
    /// Answers 405 to OPTIONS that is not a preflight of the allowed origin.
    RefusesOtherOptions = "refuses-options-of-other-origins" breaks "statement.options-not-405";
    /// Answers 405 to OPTIONS without preflight headers.
    RefusesPlainOptions = "refuses-options-without-preflight" breaks "statement.options-not-405" at Should;
    /// Answers 405 to OPTIONS with a body.
    RefusesOptionsWithBody = "refuses-options-with-body" breaks "statement.options-not-405" at Should;
    /// Closes the connection on TRACE.
    ClosesOnTrace = "closes-on-trace" breaks "statement.trace";
    /// Accepts TRACE.
    AcceptsTrace = "accepts-trace" breaks "edge.405.method-not-allowed";
    /// Omits the header Allow.
    NoAllow = "no-allow-header" breaks "statement.allow-on-405";
    /// Answers HEAD with Content-Length: 0.
    HeadWithoutLength = "head-with-length-zero" breaks "statement.head-length";
    /// Answers 404 to the health check.
    NoHealth = "no-health-check" breaks "endpoint.edge.health";
    /// Adds a member to answers over HTTP/2.
    ChangesOverHttp2 = "changes-answers-over-http2" breaks "statement.http2";
    /// Relays an empty body over HTTP/2.
    EmptiesOverHttp2 = "empties-bodies-over-http2" breaks "statement.http2";

    // -- broken request bodies
    /// Answers 400 in the framework's JSON to a broken body.
    StackAnswersShort = "stack-answers-short-body" breaks "statement.stack-answers";
    /// Never answers a request with a broken body.
    HangsOnShort = "hangs-on-short-body" breaks "edge.400.read-failed";
    /// Answers 500 to a broken body.
    FailsOnShort = "fails-on-short-body" breaks "edge.400.read-failed";
    /// Answers no request after a broken body.
    StopsOnShort = "stops-on-short-body" breaks "statement.edge-lives-on";
    /// Answers 500 to every request after a broken body.
    FailsAfterShort = "fails-after-short-body" breaks "statement.edge-lives-on";
    /// Answers no request after a connection with malformed HTTP.
    StopsOnMalformed = "stops-on-malformed-request" breaks "statement.edge-lives-on";

    // -- log
    /// Logs the body of a refused collection.
    LogsBody = "logs-body" breaks "statement.log-without-end-user-data" also late;
    /// Logs the client's address.
    LogsAddress = "logs-address" breaks "statement.log-without-end-user-data";
    /// Logs the header X-Forwarded-For.
    LogsForwarded = "logs-forwarded-address" breaks "statement.log-without-end-user-data" also late;
    /// Logs the header User-Agent.
    LogsUserAgent = "logs-user-agent" breaks "statement.log-without-end-user-data" also late;
    /// Logs the header Cookie.
    LogsCookie = "logs-cookie" breaks "statement.log-without-end-user-data" also late;
    /// Logs the license on refusals.
    LogsLicense = "logs-license" breaks "statement.secrets-not-logged" also late;
    /// Logs the license at start.
    LogsLicenseAtStart = "logs-license-at-start" breaks "statement.secrets-not-logged";
    /// Logs the client key at start.
    LogsKey = "logs-client-key" breaks "statement.secrets-not-logged";
    /// Logs refusals without status and reason.
    LogsWithoutDetails = "logs-without-status-and-reason" breaks "statement.refusal-logged" also late;
    /// Logs nothing.
    LogsNothing = "logs-nothing" breaks "statement.refusal-logged" at Should;
    /// Logs each refusal twice.
    LogsTwice = "logs-twice" breaks "statement.refusal-logged";
    /// Logs the reason on a separate line.
    LogsTwoLines = "logs-two-lines" breaks "statement.refusal-logged";
    /// Logs refusals without the reason.
    LogsNoReason = "logs-without-reason" breaks "statement.refusal-logged" also late;
    /// Logs refusals without the status.
    LogsNoStatus = "logs-without-status" breaks "statement.refusal-logged" also late;
    /// Logs another status than the service's.
    LogsOtherStatus = "logs-other-status" breaks "statement.refusal-logged" also late;

    // -- all requests
    /// Refuses all requests without relaying.
    RefusesAll = "refuses-all-requests" breaks "edge.200.accepted" also late "statement.edge-lives-on";
    /// Accepts all collections and ignores the answer of the service.
    AcceptsAll = "accepts-all-collections" breaks "edge.refused";
}

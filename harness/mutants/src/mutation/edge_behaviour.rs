use super::behaviour_facts::{BehaviourFacts, behaviours};

behaviours! {
    /// Wrong behaviours of an edge that no answer of a single row shows.
    #[expect(clippy::doc_markdown, reason = "the doc comments are titles in plain text")]
    pub enum EdgeBehaviour;

    // -- relayed body
    /// Parses the JSON and serialises it again.
    Reserialises = "reserialises" breaks "statement.body-unchanged" by "body-parsed" also late;
    /// Trims white space from the body.
    Trims = "trims-white-space" breaks "statement.body-unchanged" by "body-as-text" also late;
    /// Decodes the body as UTF-8 and replaces invalid bytes.
    DecodesLossily = "decodes-lossily" breaks "statement.body-unchanged" by "body-as-text";
    /// Removes a byte order mark.
    StripsBom = "strips-bom" breaks "statement.body-unchanged" by "body-as-text";
    /// Wraps the body in an object.
    Wraps = "wraps-in-object" breaks "statement.body-unchanged" by "body-parsed" also late;
    /// Normalises text to composed Unicode.
    NormalisesUnicode = "normalises-unicode" breaks "statement.body-unchanged" by "body-as-text";
    /// Cuts the body at a NUL byte.
    CutsAtNul = "cuts-at-nul" breaks "statement.body-unchanged" by "body-as-text";
    /// Changes CRLF to LF.
    ChangesLineEnds = "changes-line-endings" breaks "statement.body-unchanged" by "body-as-text";
    /// Relays {} in place of an empty body.
    ReplacesEmpty = "replaces-empty-body" breaks "statement.body-unchanged" by "body-parsed";
    /// Parses the body with express.json() of Express 5, with a raised limit and without strict.
    ParsesInExpress = "parses-in-express" breaks "statement.body-unchanged" by "body-parsed";
    /// Parses the body with express.json() of Express 5 and its defaults.
    ParsesInExpressByDefault = "parses-in-express-by-default" breaks "statement.body-unchanged" by "body-parsed";
    /// Parses the body with express.json() of Express 4, which leaves {} for other content types.
    ParsesInExpress4 = "parses-in-express-4" breaks "statement.body-unchanged" by "body-parsed";
    /// Parses the body with request.json(), as in Next.js.
    ParsesWithFetch = "parses-with-fetch" breaks "statement.body-unchanged" by "body-parsed";
    /// Parses the body with request.json() of aiohttp.
    ParsesInAiohttp = "parses-in-aiohttp" breaks "statement.body-unchanged" by "body-parsed";
    /// Takes the body as a dict parameter of FastAPI.
    ParsesInFastApi = "parses-in-fastapi" breaks "statement.body-unchanged" by "body-parsed";
    /// Takes the body as a Map of Spring.
    ParsesInSpring = "parses-in-spring" breaks "statement.body-unchanged" by "body-parsed";
    /// Decodes the body into a map of Go.
    ParsesInGo = "parses-in-go" breaks "statement.body-unchanged" by "body-parsed";
    /// Decodes and encodes the body with PHP.
    ParsesInPhp = "parses-in-php" breaks "statement.body-unchanged" by "body-parsed";
    /// Takes the body as Json of axum.
    ParsesInAxum = "parses-in-axum" breaks "statement.body-unchanged" by "body-parsed";
    /// Serialises the body again and keeps its Content-Length.
    KeepsContentLength = "keeps-content-length" breaks "statement.body-unchanged" by "body-parsed";
    /// Reads the body as text, without its byte order mark.
    ReadsText = "reads-text" breaks "statement.body-unchanged" by "body-as-text";
    /// Answers 500 to a body that is no UTF-8 text.
    ReadsTextStrictly = "reads-text-strictly" breaks "statement.body-unchanged" by "body-as-text";
    /// Reads the body as Latin-1 and relays UTF-8.
    ReadsLatin1 = "reads-latin-1" breaks "statement.body-unchanged" by "body-as-text";
    /// Sends the number of characters as Content-Length.
    CountsCharacters = "counts-characters" breaks "statement.body-unchanged" by "body-as-text";
    /// Relays an empty body in place of a chunked one.
    DropsChunks = "drops-chunked-body" breaks "statement.body-unchanged" by "request-framing" also late;
    /// Answers 417 to Expect: 100-continue.
    RefusesExpect = "refuses-expect" breaks "statement.body-unchanged" by "request-framing";
    /// Relays {} unless the content type is JSON.
    ParsesByContentType = "parses-by-content-type" breaks "statement.body-unchanged" by "content-type-judged";
    /// Refuses a body that is not JSON.
    RefusesNotJson = "refuses-not-json" breaks "statement.body-not-judged" by "body-validated";
    /// Refuses JSON that is not an object.
    RefusesNotObject = "refuses-not-object" breaks "statement.body-not-judged" by "body-validated";
    /// Refuses an empty object.
    RefusesEmptyObject = "refuses-empty-object" breaks "statement.body-not-judged" by "body-validated";
    /// Refuses content types other than JSON.
    RefusesOtherTypes = "refuses-other-content-types" breaks "statement.body-unchanged" by "content-type-judged";
    /// Refuses bodies over 10 KiB.
    LimitsTo10k = "limits-to-10k" breaks "statement.body-unchanged" by "body-limit";
    /// Refuses bodies over 100 KiB.
    LimitsTo100k = "limits-to-100k" breaks "statement.body-large" by "body-limit";
    /// Refuses bodies over 512 KiB.
    LimitsTo512k = "limits-to-512k" breaks "statement.body-large" by "body-limit";
    /// Refuses bodies over 100 KiB with the page of Express.
    LimitsInExpress = "limits-in-express" breaks "statement.body-large" by "body-limit";
    /// Refuses bodies over 512 KiB in text.
    LimitsInAiohttp = "limits-in-aiohttp" breaks "statement.body-large" by "body-limit";
    /// Refuses bodies over 512 KiB with the page of nginx.
    LimitsInProxy = "limits-in-proxy" breaks "statement.body-large" by "body-limit";
    /// Refuses bodies over 512 KiB with the JSON of Fastify.
    LimitsInFastify = "limits-in-fastify" breaks "statement.body-large" by "body-limit";
    /// Relays each collection twice.
    SendsTwice = "sends-twice" breaks "statement.relayed-once" by "relayed-twice" also late;
    /// Retries after a broken connection.
    RetriesBroken = "retries-after-broken-connection" breaks "statement.no-retry" by "retried";
    /// Retries after a broken connection, and passes the refusal of the copy on.
    PassesCopyRefused = "passes-copy-refused" breaks "statement.retry-told-truth" by "retried";
    /// Retries after a broken connection, and answers 502 although the retry was accepted.
    HidesRetry = "hides-retry" breaks "statement.retry-told-truth" by "retried";
    /// Retries after a 409.
    Retries409 = "retries-409" breaks "statement.relayed-once" by "retried";
    /// Retries after a 401.
    Retries401 = "retries-401" breaks "statement.relayed-once" by "retried";
    /// Retries after a 503.
    Retries503 = "retries-503" breaks "statement.relayed-once" by "retried";
    /// Relays each collection again before the next one.
    RelaysAgainLater = "relays-again-later" breaks "statement.relayed-once" by "relayed-twice";
    /// Accepts without relaying.
    RelaysNothing = "relays-nothing" breaks "statement.body-unchanged" by "accepted-without-service" also late;
    /// Relays the received part of a broken body.
    RelaysPartial = "relays-partial-body" breaks "statement.nothing-partial-relayed" by "partial-relayed";
    /// Relays an empty body in place of a broken one.
    EmptiesPartial = "empties-partial-body" breaks "statement.nothing-partial-relayed" by "partial-relayed";
    /// Relays the first half of a chunked body.
    HalvesChunks = "halves-chunked-body" breaks "statement.nothing-partial-relayed" by "request-framing";

    // -- license, certificates, trust
    /// Relays without the license.
    DropsLicense = "drops-license" breaks "statement.license-presented" by "license-wrong";
    /// Relays the license in lower case.
    LowerCasesLicense = "lower-cases-license" breaks "statement.license-presented" by "license-wrong";
    /// Relays the license without its prefix.
    StripsLicensePrefix = "strips-license-prefix" breaks "setting.edge.license" by "license-wrong";
    /// Drops a LICENSE that lacks the license prefix.
    ChecksLicensePrefix = "checks-license-prefix" breaks "statement.read-token-no-license" by "credentials-judged";
    /// Refuses collections while LICENSE is unset.
    RequiresLicense = "requires-license" breaks "statement.relays-without-license" by "credentials-judged";
    /// Presents the license of the first edge and ignores LICENSE.
    KeepsFirstLicense = "keeps-first-license" breaks "setting.edge.license" by "license-wrong";
    /// Sends Bearer undefined while LICENSE is unset.
    SendsUndefined = "sends-bearer-undefined" breaks "statement.relays-without-license" by "license-wrong";
    /// Sends Bearer null while LICENSE is unset.
    SendsNull = "sends-bearer-null" breaks "statement.relays-without-license" by "license-wrong";
    /// Sends Bearer None while LICENSE is unset.
    SendsNone = "sends-bearer-none" breaks "statement.relays-without-license" by "license-wrong";
    /// Presents no client certificate.
    PresentsNone = "presents-no-certificate" breaks "statement.certificate-presented" by "client-certificate-missing";
    /// Presents the client certificate of another license.
    PresentsOther = "presents-other-certificate" breaks "statement.certificate-presented" by "client-certificate-missing";
    /// Ignores EDGE_CLIENT_CERT_FILE.
    IgnoresCertFile = "ignores-cert-file" breaks "setting.edge.client-cert-file" by "client-certificate-missing";
    /// Ignores EDGE_CLIENT_KEY_FILE.
    IgnoresKeyFile = "ignores-key-file" breaks "setting.edge.client-key-file" by "client-certificate-missing";
    /// Refuses collections while no client certificate is set.
    RequiresCertificate = "requires-certificate" breaks "statement.relays-without-certificate" by "credentials-judged";
    /// Does not verify the service's certificate.
    SkipsCertificateCheck = "skips-certificate-check" breaks "edge.502.service-unreachable" by "service-certificate-unchecked";
    /// Does not verify the service's certificate while SERVICE_CA_FILE is unset.
    SkipsCheckWithoutFile = "skips-certificate-check-without-ca-file" breaks "setting.edge.service-ca-file" by "service-certificate-unchecked";
    /// Does not verify the host name in the service's certificate.
    AcceptsAnyHost = "accepts-certificate-of-any-host" breaks "statement.server-identity" by "service-certificate-unchecked";
    /// Accepts an expired service certificate.
    AcceptsExpired = "accepts-expired-certificate" breaks "statement.server-identity" by "service-certificate-unchecked";
    /// Calls the SERVICE_URL of the first edge and ignores its own.
    KeepsFirstServiceUrl = "keeps-first-service-url" breaks "setting.edge.service-url" by "service-url-misread";
    /// Follows redirects of the service.
    FollowsRedirects = "follows-redirects" breaks "statement.license-not-redirected" by "redirects-followed";
    /// Follows redirects of the service without the license.
    FollowsWithoutLicense = "follows-redirects-without-license" breaks "statement.license-not-redirected" by "redirects-followed";
    /// Returns the license in a header.
    LeaksInHeader = "leaks-license-in-header" breaks "statement.secrets-not-answered" by "secrets-answered";
    /// Returns the license in error bodies.
    LeaksInError = "leaks-license-in-errors" breaks "statement.secrets-not-answered" by "secrets-answered";
    /// Returns the client key if the service is unreachable.
    LeaksKey = "leaks-client-key" breaks "statement.secrets-not-answered" by "secrets-answered";
    /// Returns the license in the health check.
    LeaksInHealth = "leaks-license-in-health-check" breaks "statement.secrets-not-answered" by "secrets-answered";
    /// Returns the license in preflight answers.
    LeaksInPreflight = "leaks-license-in-preflight" breaks "statement.secrets-not-answered" by "secrets-answered";
    /// Returns a debug page with the settings if the service is unreachable.
    DebugPage = "returns-debug-page" breaks "statement.secrets-not-answered" by "secrets-answered";

    // -- answers after relaying
    /// Swaps the answers of concurrent collections.
    SwapsAnswers = "swaps-answers" breaks "statement.isolation" by "answers-mixed";
    /// Repeats the first answer of a connection on all its requests.
    RepeatsFirstAnswer = "repeats-first-answer" breaks "statement.isolation" by "state-kept";
    /// Answers 502 to refusals with a 5xx status.
    Hides5xx = "hides-5xx" breaks "edge.refused" by "status-replaced";
    /// Answers 500 to refusals with a status outside the tables.
    HidesUnlistedStatus = "hides-unlisted-status" breaks "edge.refused" by "status-replaced";
    /// Answers refusals with the page of Express, because its HTTP client throws.
    ThrowsExpressPage = "throws-express-page" breaks "edge.refused" by "status-replaced";
    /// Answers refusals with 500 in text, because its HTTP client raises an exception.
    ThrowsServerError = "throws-server-error" breaks "edge.refused" by "status-replaced";
    /// Answers refusals with the error of Spring, because its HTTP client throws.
    ThrowsSpringError = "throws-spring-error" breaks "edge.refused" by "status-replaced";
    /// Answers refusals with service_unreachable, because its HTTP client throws.
    ThrowsUnreachable = "throws-unreachable" breaks "edge.refused" by "status-replaced";
    /// Answers service_unreachable to refusals with a 5xx status, because its HTTP client throws.
    ThrowsOn5xx = "throws-on-5xx" breaks "edge.refused" by "status-replaced";
    /// Replaces reasons outside the tables with unknown.
    HidesUnlistedReason = "hides-unlisted-reason" breaks "statement.status-and-reason-passed" by "reason-lost";
    /// Answers with the first status listed for the reason.
    FirstStatus = "first-status-of-a-reason" breaks "statement.401-or-400" by "status-by-reason";
    /// Answers with the last status listed for the reason.
    LastStatus = "last-status-of-a-reason" breaks "statement.401-or-400" by "status-by-reason";
    /// Passes the service's body on.
    PassesBody = "passes-body" breaks "edge.refused" by "service-body-passed";
    /// Passes the service's body on as HTML.
    PassesBodyAsPage = "passes-body-as-page" breaks "edge.refused" by "service-body-passed";
    /// Passes text that is no plain reason on as the reason.
    PassesText = "passes-text-as-reason" breaks "edge.refused.unknown" by "reason-unchecked";
    /// Passes long and invalid text on with a line break.
    BreaksReason = "breaks-reason" breaks "statement.reason-one-line" by "reason-unchecked";
    /// Passes numbers, null and objects on as the reason.
    PassesValues = "passes-values-as-reason" breaks "edge.refused.unknown" by "reason-unchecked";
    /// Answers refusals without a reason with service_unreachable.
    ReportsUnreachable = "reports-unreachable-service" breaks "edge.refused.unknown" by "unreadable-refusal";
    /// Answers 502 in HTML without a page if the service is unreachable.
    UnreachableHtml = "unreachable-html" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers 502 in text if the service is unreachable.
    UnreachableText = "unreachable-text" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers with the 502 page of nginx if the service is unreachable.
    UnreachableProxyPage = "unreachable-proxy-page" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers with the 500 page of Express if the service is unreachable.
    UnreachableExpressPage = "unreachable-express-page" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers 500 in text if the service is unreachable.
    UnreachableServerError = "unreachable-server-error" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers with the 500 of Spring if the service is unreachable.
    UnreachableSpringError = "unreachable-spring-error" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers 503 if the service is unreachable.
    UnreachableIs503 = "unreachable-is-503" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers 504 if the service is unreachable.
    UnreachableIs504 = "unreachable-is-504" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers 502 with a message if the service is unreachable.
    UnreachableMessage = "unreachable-message" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers with the 502 of NestJS if the service is unreachable.
    UnreachableNest = "unreachable-nest" breaks "edge.502.service-unreachable" by "unreachable-answer";
    /// Answers errors with HTML pages.
    ErrorPages = "html-error-pages" breaks "statement.error-bodies-json" by "errors-not-json" also late;
    /// Answers errors with the reason phrase of their status.
    AnswersStatusText = "answers-status-text" breaks "statement.error-bodies-json" by "errors-not-json";
    /// Removes the suffix of a reason.
    StripsSuffix = "strips-reason-suffix" breaks "statement.reason-in-between" by "reason-changed";
    /// Answers 502 to an early refusal of a large collection.
    LosesEarly = "loses-early-refusal" breaks "statement.early-refusal" by "early-refusal-lost";
    /// Answers 500 to an early refusal of a large collection.
    FailsOnEarly = "fails-on-early-refusal" breaks "statement.early-refusal" by "early-refusal-lost";
    /// Times out after 300 ms.
    ShortTimeout = "short-timeout" breaks "statement.slow-service" by "timeout-short";
    /// Answers 502 to every collection after the first failure.
    FailsAfterFailure = "fails-after-first-failure" breaks "statement.recovery" by "no-recovery";
    /// Opens only one connection to the service.
    NeverReconnects = "never-reconnects" breaks "statement.recovery" by "no-recovery";
    /// Passes the service's 2xx status on.
    PassesSuccess = "passes-success-status" breaks "statement.other-success" by "accepted-answer-wrong";

    // -- CORS
    /// Allows any origin.
    ReflectsOrigin = "reflects-origin" breaks "statement.cors-other-origins" by "any-origin" also late;
    /// Allows every origin with the wildcard *.
    GrantsStar = "grants-wildcard-origin" breaks "statement.cors-other-origins" by "any-origin" also late;
    /// Allows the opaque origin null.
    GrantsNull = "grants-null-origin" breaks "statement.cors-other-origins" by "origin-loose";
    /// Allows origins that start with the allowed one.
    ByPrefix = "origin-by-prefix" breaks "statement.cors-other-origins" by "origin-loose";
    /// Allows origins that end with the allowed host.
    BySuffix = "origin-by-suffix" breaks "statement.cors-other-origins" by "origin-loose";
    /// Allows subdomains of the allowed host.
    BySubdomain = "origin-by-subdomain" breaks "statement.cors-other-origins" by "origin-loose";
    /// Allows the allowed host with any scheme.
    WithoutScheme = "origin-without-scheme" breaks "statement.cors-other-origins" by "origin-loose";
    /// Allows the allowed origin with any port.
    WithoutPort = "origin-without-port" breaks "statement.cors-other-origins" by "origin-loose";
    /// Treats dots in the allowed origin as wildcards.
    ByPattern = "origin-by-pattern" breaks "statement.cors-other-origins" by "origin-loose";
    /// Allows a fixed origin and ignores ALLOWED_ORIGIN.
    IgnoresAllowedOrigin = "ignores-allowed-origin" breaks "setting.edge.allowed-origin" by "allowed-origin-misread";
    /// Does not allow the header Content-Type in preflight answers.
    NoContentType = "preflight-without-content-type" breaks "edge.preflight" by "preflight-wrong";
    /// Redirects preflights.
    RedirectsPreflight = "redirects-preflight" breaks "edge.preflight" by "preflight-wrong";
    /// Relays preflights.
    RelaysPreflight = "relays-preflight" breaks "edge.preflight" by "preflight-wrong";
    /// Sends CORS headers on success only.
    CorsOnSuccess = "cors-on-success" breaks "statement.cors-readable" by "cors-on-success" also late;
    /// Sends CORS headers in preflight answers only.
    CorsOnPreflight = "cors-on-preflight" breaks "statement.cors-readable" by "cors-on-success";
    /// Sends no CORS headers with 5xx answers.
    CorsWithoutServerErrors = "cors-without-server-errors" breaks "statement.cors-readable" by "cors-on-success";
    /// Sends no CORS headers with 405, 404 and 400 of the framework.
    CorsOnOwnAnswers = "cors-on-own-answers" breaks "statement.cors-readable-405" by "cors-on-success";
    /// Sends CORS headers with add_header of nginx, without always.
    CorsByAddHeader = "cors-by-add-header" breaks "statement.cors-readable" by "cors-on-success";
    /// Sends no CORS headers.
    NoCors = "no-cors-headers" breaks "statement.cors-readable" by "cors-on-success";
    /// Sends the header Access-Control-Allow-Origin twice.
    GrantsTwice = "grants-twice" breaks "statement.cors-readable" by "cors-repeated";
    /// Sends the allowed origin twice in one header.
    GrantsListed = "grants-list" breaks "statement.cors-readable" by "cors-repeated";
    /// Sends the allowed origin and the wildcard *.
    GrantsWithStar = "grants-with-wildcard" breaks "statement.cors-readable" by "cors-repeated";
    /// Omits the header Vary.
    NoVary = "no-vary-header" breaks "statement.vary" by "vary-missing";
    /// Sends Vary: Accept-Encoding in place of Vary: Origin.
    OverwritesVary = "overwrites-vary" breaks "statement.vary" by "vary-missing";

    // -- methods and paths
    /// Handles PUT as POST.
    AcceptsPut = "accepts-put" breaks "endpoint.edge.signals" by "method-not-405";
    /// Answers GET with the health check's answer.
    AcceptsGet = "accepts-get" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with the 404 page of Express.
    NotFoundPageForMethods = "not-found-page-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with the 404 of Fastify.
    NotFoundJsonForMethods = "not-found-json-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with 405 in text, as Go does.
    TextForMethods = "text-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with 405 without a body, as Django does.
    EmptyForMethods = "empty-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with the 405 of FastAPI.
    DetailForMethods = "detail-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with the 405 page of Flask.
    PageForMethods = "page-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with the 405 of Spring.
    SpringErrorForMethods = "spring-error-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers other methods with 501.
    NotImplementedForMethods = "not-implemented-for-methods" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers GET with the start page of the site.
    PageForGet = "page-for-get" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Answers 405 to OPTIONS that is not a preflight of the allowed origin.
    RefusesOtherOptions = "refuses-options-of-other-origins" breaks "statement.options-not-405" by "options-405";
    /// Answers 405 to OPTIONS without preflight headers.
    RefusesPlainOptions = "refuses-options-without-preflight" breaks "statement.options-not-405" by "options-405" at Should;
    /// Answers 405 to OPTIONS with a body.
    RefusesOptionsWithBody = "refuses-options-with-body" breaks "statement.options-not-405" by "options-405" at Should;
    /// Closes the connection on TRACE.
    ClosesOnTrace = "closes-on-trace" breaks "statement.trace" by "method-not-405";
    /// Accepts TRACE.
    AcceptsTrace = "accepts-trace" breaks "edge.405.method-not-allowed" by "method-not-405";
    /// Omits the header Allow.
    NoAllow = "no-allow-header" breaks "statement.allow-on-405" by "allow-missing";
    /// Lists GET and HEAD in the header Allow.
    AllowsOthers = "allow-lists-other-methods" breaks "statement.allow-on-405" by "allow-missing";
    /// Answers HEAD with Content-Length: 0.
    HeadWithoutLength = "head-with-length-zero" breaks "statement.head-length" by "head-length";
    /// Answers HEAD with the length of indented JSON.
    HeadIndented = "head-with-length-of-indented-json" breaks "statement.head-length" by "head-length";
    /// Answers 404 to the health check.
    NoHealth = "no-health-check" breaks "endpoint.edge.health" by "health-check";
    /// Adds a member to answers over HTTP/2.
    ChangesOverHttp2 = "changes-answers-over-http2" breaks "statement.http2" by "http2-differs";
    /// Relays an empty body over HTTP/2.
    EmptiesOverHttp2 = "empties-bodies-over-http2" breaks "statement.http2" by "http2-differs";

    // -- broken request bodies
    /// Answers 400 in the framework's JSON to a broken body.
    StackAnswersShort = "stack-answers-short-body" breaks "statement.stack-answers" by "read-failed-wrong";
    /// Answers 400 without a body to a broken body, as the server of Node.js does.
    StackRefusesShort = "stack-refuses-short-body" breaks "statement.stack-answers" by "read-failed-wrong" at Should;
    /// Never answers a request with a broken body.
    HangsOnShort = "hangs-on-short-body" breaks "edge.400.read-failed" by "read-failed-wrong";
    /// Answers 500 to a broken body.
    FailsOnShort = "fails-on-short-body" breaks "edge.400.read-failed" by "read-failed-wrong";
    /// Answers no request after a broken body.
    StopsOnShort = "stops-on-short-body" breaks "statement.edge-lives-on" by "broken-request-harms";
    /// Answers 500 to every request after a broken body.
    FailsAfterShort = "fails-after-short-body" breaks "statement.edge-lives-on" by "broken-request-harms";
    /// Answers no request after a connection with malformed HTTP.
    StopsOnMalformed = "stops-on-malformed-request" breaks "statement.edge-lives-on" by "broken-request-harms";

    // -- log
    /// Logs the body of a refused collection.
    LogsBody = "logs-body" breaks "statement.log-without-end-user-data" by "end-user-data-logged" also late;
    /// Logs the client's address.
    LogsAddress = "logs-address" breaks "statement.log-without-end-user-data" by "end-user-data-logged";
    /// Logs the header X-Forwarded-For.
    LogsForwarded = "logs-forwarded-address" breaks "statement.log-without-end-user-data" by "end-user-data-logged" also late;
    /// Logs the header User-Agent.
    LogsUserAgent = "logs-user-agent" breaks "statement.log-without-end-user-data" by "end-user-data-logged" also late;
    /// Logs the header Cookie.
    LogsCookie = "logs-cookie" breaks "statement.log-without-end-user-data" by "end-user-data-logged" also late;
    /// Writes an access log with address and user agent.
    WritesAccessLog = "writes-access-log" breaks "statement.log-without-end-user-data" by "end-user-data-logged";
    /// Writes an access log with the client's address, as uvicorn does.
    WritesShortAccessLog = "writes-short-access-log" breaks "statement.log-without-end-user-data" by "end-user-data-logged";
    /// Logs the license on refusals.
    LogsLicense = "logs-license" breaks "statement.secrets-not-logged" by "secrets-logged" also late;
    /// Logs the license at start.
    LogsLicenseAtStart = "logs-license-at-start" breaks "statement.secrets-not-logged" by "secrets-logged";
    /// Logs the error of the HTTP client with the request.
    LogsClientError = "logs-client-error" breaks "statement.secrets-not-logged" by "secrets-logged";
    /// Logs the client key at start.
    LogsKey = "logs-client-key" breaks "statement.secrets-not-logged" by "secrets-logged";
    /// Logs refusals without status and reason.
    LogsWithoutDetails = "logs-without-status-and-reason" breaks "statement.refusal-logged" by "refusal-log-wrong" also late;
    /// Logs nothing.
    LogsNothing = "logs-nothing" breaks "statement.refusal-logged" by "refusal-log-wrong" at Should;
    /// Logs each refusal twice.
    LogsTwice = "logs-twice" breaks "statement.refusal-logged" by "refusal-log-wrong";
    /// Logs the reason on a separate line.
    LogsTwoLines = "logs-two-lines" breaks "statement.refusal-logged" by "refusal-log-wrong";
    /// Logs the service's reply as an object over several lines.
    LogsReply = "logs-reply-object" breaks "statement.refusal-logged" by "refusal-log-wrong";
    /// Logs refusals without the reason.
    LogsNoReason = "logs-without-reason" breaks "statement.refusal-logged" by "refusal-log-wrong" also late;
    /// Logs refusals without the status.
    LogsNoStatus = "logs-without-status" breaks "statement.refusal-logged" by "refusal-log-wrong" also late;
    /// Logs another status than the service's.
    LogsOtherStatus = "logs-other-status" breaks "statement.refusal-logged" by "refusal-log-wrong" also late;

    // -- all requests
    /// Refuses all requests without relaying.
    RefusesAll = "refuses-all-requests" breaks "edge.200.accepted" by "refuses-all" also late "statement.edge-lives-on";
    /// Accepts all collections and ignores the answer of the service.
    AcceptsAll = "accepts-all-collections" breaks "edge.refused" by "accepted-without-service";
}

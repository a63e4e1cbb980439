use super::behaviour_facts::{BehaviourFacts, behaviours};

behaviours! {
    /// Wrong behaviours of a service or its key set that no answer of a single row shows.
    #[expect(clippy::doc_markdown, reason = "the doc comments are titles in plain text")]
    pub enum ServiceBehaviour;

    // -- read token
    /// Answers 401 to all requests.
    RefusesAll = "refuses-all-requests" breaks "statement.read-token-prefix" by "valid-token-refused" also late "verdict.404.pending";
    /// Answers 401 to requests with waitMs before it reads the header.
    RefusesWaits = "refuses-requests-with-wait" breaks "statement.wait-optional" by "wait-refused";
    /// Accepts any scheme in place of Bearer.
    AnyScheme = "any-scheme" breaks "verdict.401.unauthorized" by "token-header-loose";
    /// Accepts a read token anywhere in the header.
    FindsToken = "finds-token-anywhere" breaks "verdict.401.unauthorized" by "token-header-loose";
    /// Accepts a license as a read token.
    AcceptsLicense = "accepts-license" breaks "verdict.401.unauthorized" by "token-header-loose";
    /// Accepts a read token without its prefix.
    AcceptsWithoutPrefix = "accepts-token-without-prefix" breaks "statement.read-token-prefix" by "token-header-loose";
    /// Accepts each read token once.
    AcceptsOnce = "accepts-token-once" breaks "statement.read-token-prefix" by "valid-token-refused";
    /// Compares the scheme case-sensitively.
    CaseSensitiveScheme = "case-sensitive-scheme" breaks "statement.scheme-case" by "valid-token-refused";
    /// Looks the session up before the token: without a valid token, a missing verdict gets a 404.
    LooksUpFirst = "looks-session-up-first" breaks "statement.no-oracle" by "session-revealed";
    /// Answers unauthorized requests from a cache.
    CachesForAll = "caches-for-all-clients" breaks "statement.no-oracle" by "access-without-token";
    /// Returns the token in refusals.
    EchoesRefused = "echoes-refused-token" breaks "statement.read-token-not-echoed" by "token-echoed" also late;
    /// Returns the token in a header of accepted requests.
    EchoesAccepted = "echoes-accepted-token" breaks "statement.read-token-not-echoed" by "token-echoed" also late;
    /// Returns the token in hexadecimal.
    EchoesEncoded = "echoes-encoded-token" breaks "statement.read-token-not-echoed" by "token-echoed" also late;
    /// Answers refusals in plain text.
    TextRefusals = "text-refusals" breaks "statement.error-bodies-json" by "verdict-errors-not-json" also late;
    /// Answers refusals with the detail of FastAPI.
    DetailRefusals = "detail-refusals" breaks "verdict.401.unauthorized" by "refusal-body-shape";
    /// Answers refusals with the error of Spring.
    SpringRefusals = "spring-refusals" breaks "verdict.401.unauthorized" by "refusal-body-shape";
    /// Answers 403 to all refused tokens.
    RefusesWith403 = "refuses-with-403" breaks "verdict.401.unauthorized" by "refusal-status-wrong";
    /// Answers 400 to tokens that it cannot parse.
    MalformedIs400 = "malformed-token-is-400" breaks "verdict.401.malformed-token" by "refusal-status-wrong";
    /// Answers tokens that it cannot parse with the 500 page of the framework.
    MalformedIs500 = "malformed-token-is-500" breaks "verdict.401.malformed-token" by "refusal-status-wrong";
    /// Accepts a read token after it was revoked.
    AcceptsRevokedToken = "accepts-revoked-token" breaks "verdict.401.revoked" by "token-revocation-unchecked";
    /// Accepts read tokens of a revoked license.
    AcceptsRevokedLicense = "accepts-token-of-revoked-license" breaks "verdict.401.revoked" by "token-revocation-unchecked";
    /// Omits the header WWW-Authenticate on 401.
    NoChallenge = "no-www-authenticate-header" breaks "statement.challenge-on-401" by "challenge-missing";
    /// Names the scheme Basic in WWW-Authenticate.
    BasicChallenge = "basic-challenge" breaks "statement.challenge-on-401" by "challenge-missing";
    /// Lets shared caches store answers.
    AllowsSharedCaching = "allows-shared-caching" breaks "statement.verdict-not-shared" by "verdict-cached" also late;

    /// Accepts a token in the query.
    TakesQueryToken = "accepts-token-in-query" breaks "verdict.401.unauthorized" by "token-header-loose";
    /// Accepts a token in another header.
    TakesOtherHeader = "accepts-token-in-other-header" breaks "verdict.401.unauthorized" by "token-header-loose";
    /// Accepts the prefix in capitals.
    TakesCapitalPrefix = "accepts-prefix-in-capitals" breaks "verdict.401.unauthorized" by "token-header-loose";
    /// Accepts a token with another part at its end.
    TakesExtendedToken = "accepts-extended-token" breaks "verdict.401.malformed-token" by "token-signature-unchecked";
    /// Accepts requests that were forwarded for localhost without a token.
    TrustsLocalhost = "trusts-localhost" breaks "verdict.401.unauthorized" by "access-without-token";
    /// Accepts requests without a token on a connection that sent one.
    RemembersToken = "remembers-token-of-connection" breaks "verdict.401.unauthorized" by "access-without-token";
    /// Answers HEAD without a token.
    HeadWithoutToken = "answers-head-without-token" breaks "statement.no-oracle" by "access-without-token";

    // -- headers of the request
    /// Answers 304 to conditional requests without a verdict.
    UnmodifiedPending = "not-modified-without-verdict" breaks "verdict.404.pending" by "verdict-conditional";
    /// Answers 416 to requests with a range.
    RefusesRange = "refuses-range" breaks "verdict.404.pending" by "verdict-conditional";
    /// Answers refusals in HTML to clients that accept it.
    HtmlRefusals = "html-refusals-for-browsers" breaks "statement.error-bodies-json" by "verdict-errors-not-json";

    // -- reference
    /// Decodes the reference twice.
    DecodesTwice = "decodes-reference-twice" breaks "verdict.404.pending" by "reference-changed";
    /// Returns the reference percent-encoded.
    ReturnsEncoded = "returns-encoded-reference" breaks "verdict.404.pending" by "reference-changed";
    /// Decodes a plus sign in the reference as a space.
    DecodesPlus = "decodes-plus-as-space" breaks "verdict.404.pending" by "reference-changed";
    /// Returns the reference in lower case.
    LowerCasesReference = "lower-cases-reference" breaks "verdict.404.pending" by "reference-changed";
    /// Returns the reference HTML-escaped.
    EscapesReference = "escapes-reference" breaks "verdict.404.pending" by "reference-changed";
    /// Cuts the reference at a slash.
    CutsReference = "cuts-reference-at-slash" breaks "verdict.404.pending" by "reference-changed" at Should;
    /// Returns the reference of the connection's first request.
    FirstReference = "first-reference-of-connection" breaks "verdict.404.pending" by "reference-mixed";
    /// Returns the reference of the previous request.
    PreviousReference = "previous-reference" breaks "verdict.404.pending" by "reference-mixed";

    /// Removes white space around the reference.
    TrimsReference = "trims-reference" breaks "verdict.404.pending" by "reference-changed";
    /// Composes the letters of the reference.
    ComposesReference = "composes-letters-of-reference" breaks "verdict.404.pending" by "reference-changed";
    /// Cuts the reference after 255 characters.
    CutsLongReference = "cuts-long-reference" breaks "verdict.404.pending" by "reference-changed";
    /// Removes a file extension from the reference.
    DropsExtension = "drops-extension-of-reference" breaks "verdict.404.pending" by "reference-changed";
    /// Answers health checks in place of references named health or constructor.
    ReservesNames = "reserves-names" breaks "verdict.404.pending" by "reference-changed";
    /// Returns the verdict of a reference in other letters.
    IgnoresCase = "ignores-case-of-reference" breaks "verdict.404.pending" by "reference-changed";

    // -- sessions
    /// Returns the cause of a pending verdict in a header.
    RevealsCause = "reveals-why-pending" breaks "statement.no-oracle" by "session-revealed";
    /// Answers 403 to a session of another license.
    ForbidsOtherLicense = "forbids-other-license" breaks "statement.no-oracle" by "session-revealed";
    /// Returns verdicts of other licenses.
    ReturnsOtherLicense = "returns-verdicts-of-other-licenses" breaks "verdict.404.pending" by "verdict-of-other-session";
    /// Answers 200 to a pending verdict.
    PendingIs200 = "pending-is-200" breaks "verdict.404.pending" by "pending-answer-wrong" also late;
    /// Omits the reference of a pending verdict.
    PendingUnnamed = "pending-without-reference" breaks "verdict.404.pending" by "pending-answer-wrong" also late;
    /// Answers a pending verdict with the 404 page of the framework.
    PendingPage = "pending-page" breaks "verdict.404.pending" by "pending-answer-wrong";
    /// Answers a pending verdict with the 404 of FastAPI.
    PendingDetail = "pending-detail" breaks "verdict.404.pending" by "pending-answer-wrong";
    /// Answers a pending verdict with 204.
    PendingIs204 = "pending-is-204" breaks "verdict.404.pending" by "pending-answer-wrong";
    /// Returns a verdict for every reference.
    KnowsAll = "verdict-for-every-reference" breaks "statement.verdict-after-acceptance" by "verdict-of-other-session";
    /// Returns no verdict.
    KnowsNone = "no-verdict-for-any-reference" breaks "statement.verdict-after-acceptance" by "verdict-lost";
    /// Returns the verdict of another session.
    OtherVerdict = "verdict-of-another-session" breaks "statement.verdict-after-acceptance" by "verdict-of-other-session";
    /// Returns verdicts of any age.
    KeepsOld = "keeps-old-verdicts" breaks "limit.verdict-age" by "verdict-kept";
    /// Returns verdicts for four minutes.
    KeepsTwice = "keeps-verdicts-for-four-minutes" breaks "limit.verdict-age" by "verdict-kept";
    /// Deletes a verdict after half of its lifetime.
    DeletesEarly = "deletes-verdicts-early" breaks "limit.verdict-age" by "verdict-lost";
    /// Returns each verdict once.
    ReturnsOnce = "returns-verdict-once" breaks "verdict.200.available" by "verdict-lost";
    /// Returns an empty verdict.
    ReturnsEmpty = "returns-empty-verdict" breaks "verdict.200.available" by "verdict-answer-wrong";
    /// Accepts replayed collections.
    AcceptsReplays = "accepts-replays" breaks "statement.replay-keeps-verdict" by "replay-accepted";
    /// Answers 202 to replayed collections.
    AcknowledgesReplays = "acknowledges-replays" breaks "statement.replay-keeps-verdict" by "replay-accepted";
    /// Deletes the verdict after a replayed collection.
    DeletesOnReplay = "deletes-verdict-on-replay" breaks "statement.replay-keeps-verdict" by "verdict-lost";

    /// Deletes a verdict on DELETE.
    DeletesOnDelete = "deletes-verdict-on-delete" breaks "verdict.200.available" by "verdict-lost";
    /// Names a session of another license in a header.
    RevealsOtherLicense = "reveals-other-license-in-header" breaks "statement.no-oracle" by "session-revealed" at Should;

    // -- waiting
    /// Returns the reference of the latest wait.
    MixesWaits = "mixes-waits" breaks "verdict.404.pending" by "reference-mixed";
    /// Answers 400 to requests with waitMs.
    RejectsWait = "refuses-wait-as-bad-request" breaks "statement.wait-optional" by "wait-refused";
    /// Answers 400 to requests without waitMs.
    RequiresWait = "requires-wait" breaks "statement.wait-optional" by "wait-refused";
    /// Answers requests with waitMs 3.2 s too late.
    AnswersLate = "answers-late" breaks "statement.wait-optional" by "wait-late";
    /// Delays 401 answers to requests with waitMs.
    DelaysRefusals = "delays-refusals" breaks "verdict.401.unauthorized" by "wait-late" at Should;
    /// Keeps waiting after the client disconnects.
    WaitsAfterDisconnect = "waits-after-disconnect" breaks "statement.wait-ends-with-client" by "wait-late";
    /// Answers 500 to a waitMs that is not a number.
    FailsOnText = "fails-on-text-wait" breaks "statement.wait-robust" by "wait-refused";
    /// Answers 500 to unknown or repeated parameters.
    FailsOnUnknown = "fails-on-other-parameters" breaks "statement.wait-robust" by "wait-refused";
    /// Answers 500 to a waitMs over one day.
    FailsOnLongWait = "fails-on-long-wait" breaks "statement.wait-robust" by "wait-refused";

    // -- key set
    /// Publishes private keys.
    PrivateKeys = "publishes-private-keys" breaks "keys.public-only" by "keys-private" also late;
    /// Publishes a symmetric key.
    SymmetricKey = "publishes-symmetric-key" breaks "keys.public-only" by "keys-private" also late;
    /// Publishes two keys with the same id.
    SameIds = "same-key-ids" breaks "keys.distinct-ids" by "keys-unusable";
    /// Publishes a key of an unknown type.
    UnknownType = "unknown-key-type" breaks "keys.types" by "keys-unusable";
    /// Publishes keys for encryption.
    EncryptionKeys = "publishes-encryption-keys" breaks "keys.types" by "keys-unusable";
    /// Lets a query change the key set.
    QueryKeys = "no-keys-for-a-query" breaks "keys.200.published" by "key-set-unavailable";
    /// Answers 304 to a part of the entity tag.
    Loose304 = "304-to-similar-entity-tag" breaks "keys.not-modified" by "key-set-revalidation";
    /// Omits the entity tag in answers to HEAD.
    HeadWithoutTag = "head-without-etag" breaks "keys.head" by "key-set-revalidation";
    /// Publishes keys without their public part.
    HollowKeys = "keys-without-public-part" breaks "keys.types" by "keys-unusable";
    /// Publishes no keys.
    NoKeys = "no-keys" breaks "keys.200.published" by "keys-unusable" at Should;
    /// Publishes the array of keys without the object around it.
    BareArray = "bare-array" breaks "keys.shape" by "key-set-shape";
    /// Publishes an HTML page in place of the key set.
    PageForKeys = "html-page-for-keys" breaks "keys.200.published" by "key-set-shape";
    /// Lets caches store the key set for a day.
    CachedForADay = "cached-for-a-day" breaks "limit.key-set-cache" by "key-set-cached-long" also late;
    /// Lets caches store the key set without a limit.
    NoCacheLimit = "cached-without-limit" breaks "limit.key-set-cache" by "key-set-cached-long" also late;
    /// Publishes other keys on every second request.
    AlternatingKeys = "alternating-keys" breaks "keys.stable" by "key-set-unstable";
    /// Publishes other keys on one of four servers.
    KeysOfOneServer = "other-keys-on-one-server" breaks "keys.stable" by "key-set-unstable";
    /// Omits the header ETag.
    NoTag = "no-etag" breaks "keys.etag" by "key-set-revalidation";
    /// Never answers 304.
    Never304 = "never-304" breaks "keys.not-modified" by "key-set-revalidation";
    /// Answers 304 to any If-None-Match.
    Always304 = "always-304" breaks "keys.not-modified" by "key-set-revalidation";
    /// Answers 405 to HEAD.
    NoHead = "no-head" breaks "keys.head" by "key-set-unavailable";
    /// Publishes other keys than those that sign verdicts.
    OtherKeys = "publishes-other-keys" breaks "keys.verifies-verdict" by "verdict-unverifiable";
    /// Corrupts the signature of verdicts.
    CorruptsSignature = "corrupts-signature" breaks "keys.verifies-verdict" by "verdict-unverifiable";
}

use crate::behaviour::behaviours;

behaviours! {
    /// What a service or its key set may do otherwise that is not one row's answer: each is written once. Exhaustive.
    pub enum ServiceBehaviour;

    // -- the read token
    /// Answers 401 to everybody, whatever stands in the header.
    RefusesAll = "refuses-everything" breaks "statement.read-token-prefix";
    /// Answers 401 to whoever asks to wait, before the header is read.
    RefusesWaits = "refuses-before-the-header" breaks "statement.wait-optional";
    /// Takes any scheme for a bearer.
    AnyScheme = "any-scheme" breaks "verdict.401.unauthorized";
    /// Takes what stands behind the beginning of a read token for one, wherever that is.
    FindsPrefix = "finds-prefix-within" breaks "verdict.401.unauthorized";
    /// Takes a license as well.
    TakesLicense = "takes-license" breaks "verdict.401.unauthorized";
    /// Takes a read token without its beginning as well.
    WithoutPrefix = "takes-token-without-prefix" breaks "statement.read-token-prefix";
    /// Takes each token once.
    TakesOnce = "takes-token-once" breaks "statement.read-token-prefix";
    /// Compares the scheme letter by letter.
    SchemeByLetter = "scheme-by-letter" breaks "statement.scheme-case";
    /// Looks the session up before the token, and tells everybody that there is none.
    LooksUpFirst = "looks-up-first" breaks "statement.no-oracle";
    /// Gives the last answer for a session to everybody who asks for it.
    Caches = "caches-for-everybody" breaks "statement.no-oracle";
    /// Shows the token in refusals.
    EchoesRefused = "echoes-refused-token" breaks "statement.read-token-not-echoed";
    /// Shows the token in a header.
    EchoesAccepted = "echoes-accepted-token" breaks "statement.read-token-not-echoed";
    /// Does not say which scheme a 401 asks for.
    NoChallenge = "no-challenge" breaks "statement.challenge-on-401";
    /// Lets shared caches keep its answers.
    OffersToCaches = "offers-to-caches" breaks "statement.verdict-not-shared";

    // -- the reference
    /// Decodes the reference twice.
    DecodesTwice = "decodes-reference-twice" breaks "verdict.404.pending";
    /// Tells the reference back as the path has it.
    TellsEncoded = "tells-encoded-reference" breaks "verdict.404.pending";
    /// Takes a plus sign for a space.
    PlusIsSpace = "plus-is-space" breaks "verdict.404.pending";
    /// Tells the reference back in small letters.
    LowersReference = "lowers-reference" breaks "verdict.404.pending";
    /// Escapes the reference as HTML.
    EscapesReference = "escapes-reference" breaks "verdict.404.pending";
    /// Cuts the reference at a slash.
    CutsReference = "cuts-reference-at-slash" breaks "verdict.404.pending" at Should;
    /// Tells the reference of the connection's first request back to all on it.
    FirstReference = "first-reference-of-connection" breaks "verdict.404.pending";
    /// Tells the reference of the request before back.
    MixesUp = "mixes-up-references" breaks "verdict.404.pending";

    // -- sessions
    /// Says in a header why there is no verdict.
    TellsWhy = "tells-why-pending" breaks "statement.no-oracle";
    /// Answers 403 for a session under another license.
    ForbidsOtherLicense = "forbids-other-license" breaks "statement.no-oracle";
    /// Gives the verdicts of other licenses.
    GivesOtherLicense = "gives-other-license" breaks "verdict.404.pending";
    /// Answers 200 with the pending marker.
    PendingIs200 = "pending-is-200" breaks "verdict.404.pending";
    /// Answers 404 without the reference.
    PendingUnnamed = "pending-without-reference" breaks "verdict.404.pending";
    /// Has a verdict for every reference.
    KnowsAll = "knows-all-references" breaks "statement.verdict-after-acceptance";
    /// Never has a verdict.
    KnowsNone = "knows-no-references" breaks "statement.verdict-after-acceptance";
    /// Gives the verdict of another session.
    OtherVerdict = "other-verdict" breaks "statement.verdict-after-acceptance";
    /// Gives a verdict without an end of its age.
    KeepsOld = "keeps-old-verdicts" breaks "limit.verdict-age";
    /// Forgets a verdict after half of its time.
    ForgetsSoon = "forgets-verdicts-soon" breaks "limit.verdict-age";
    /// Gives a verdict once.
    GivesOnce = "gives-verdict-once" breaks "verdict.200.available";
    /// Gives a verdict that is empty.
    GivesEmpty = "gives-empty-verdict" breaks "verdict.200.available";
    /// Accepts a copy.
    AcceptsCopies = "accepts-copies" breaks "statement.replay-keeps-verdict";
    /// Refuses a copy, and takes the verdict back.
    RevokesCopied = "takes-verdict-back-on-copy" breaks "statement.replay-keeps-verdict";

    // -- waiting
    /// Answers 400 where a request asks to wait.
    RejectsWait = "rejects-wait" breaks "statement.wait-optional";
    /// Answers 400 where a request does not ask to wait.
    NeedsWait = "needs-wait" breaks "statement.wait-optional";
    /// Answers who asks to wait three seconds late.
    AnswersLate = "answers-waits-late" breaks "statement.wait-optional";
    /// Lets who has no token wait as well.
    LetsAllWait = "lets-everybody-wait" breaks "verdict.401.unauthorized" at Should;
    /// Holds a request whose client has left.
    HoldsGone = "holds-who-left" breaks "statement.wait-ends-with-client";
    /// Answers 500 to a wait that is no number.
    FailsOnWords = "fails-on-wait-in-words" breaks "statement.wait-robust";
    /// Answers 500 to parameters that it does not know, or that come twice.
    FailsOnUnknown = "fails-on-other-parameters" breaks "statement.wait-robust";
    /// Answers 500 to a wait that is longer than a day.
    FailsOnAges = "fails-on-long-wait" breaks "statement.wait-robust";

    // -- the key set
    /// Publishes the private half of each key.
    PrivateKeys = "publishes-private-keys" breaks "keys.public-only";
    /// Publishes a symmetric key.
    SymmetricKey = "publishes-symmetric-key" breaks "keys.public-only";
    /// Gives two keys one id.
    SameIds = "same-key-ids" breaks "keys.distinct-ids";
    /// Publishes a key of a type that nobody knows.
    UnknownType = "unknown-key-type" breaks "keys.types";
    /// Publishes keys without their public part.
    HollowKeys = "hollow-keys" breaks "keys.types";
    /// Publishes no key.
    NoKeys = "no-keys" breaks "keys.200.published" at Should;
    /// Publishes the array of keys without the object around it.
    BareArray = "bare-array" breaks "keys.shape";
    /// Publishes a page in place of the key set.
    PageForKeys = "page-for-keys" breaks "keys.200.published";
    /// Lets the key set be kept for a day.
    LongLife = "kept-for-a-day" breaks "limit.key-set-cache";
    /// Lets the key set be kept until the end of time.
    NoCacheLimit = "kept-without-limit" breaks "limit.key-set-cache";
    /// Publishes other keys at every second request.
    Unstable = "changing-keys" breaks "keys.stable";
    /// Gives the key set no tag.
    NoTag = "no-entity-tag" breaks "keys.etag";
    /// Gives the whole key set to who has it.
    NeverUnchanged = "never-unchanged" breaks "keys.not-modified";
    /// Says that the key set is unchanged, whatever tag is asked with.
    AlwaysUnchanged = "always-unchanged" breaks "keys.not-modified";
    /// Does not answer HEAD.
    NoHead = "no-head" breaks "keys.head";
    /// Publishes other keys than verdicts are signed with.
    OtherKeys = "publishes-other-keys" breaks "keys.verifies-verdict";
    /// Gives verdicts whose signature does not verify.
    BadSignature = "alters-signature" breaks "keys.verifies-verdict";
}

//! A service of another implementation: other tokens, other members, other headers. It can have one fault.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::percent_decode_str;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate, matchers};

/// A valid read token in a format that edgeproof does not know.
pub(crate) const TOKEN: &str = "service_read_S1.q8Zr2LkfT0aXwVn3.Yb6UeHc5JdKpMs7R9tGxAo1iFzWvNl4QhEuCjOyDm";
pub(crate) const EXPIRED: &str =
    "service_read_S1.pPqQ9sTfexpired00.Zb6UeHc5JdKpMs7R9tGxAo1iFzWvNl4QhEuCjOyDx";
pub(crate) const LICENSE: &str = "service_license_L9.cXw4Vn3q8Zr2LkfT0a.GxAo1iFzWvNl4QhEuCjOyDmYb6UeHc";
/// A session that has a verdict.
pub(crate) const SESSION: &str = "cart 4711/ü";
/// A private member of a key, published by mistake.
pub(crate) const SECRET: &str = "c2VjcmV0LXNlY3JldC1zZWNyZXQ";
const VERDICT: &str = "/v1/verdict/";

/// A fault of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FakeServiceFault {
    None,
    EchoesEncoded,
    DecodesTwice,
    PlusIsSpace,
    BarePlusIsSpace,
    LowersReference,
    LosesReference,
    AddsMember,
    MixesReferences,
    UnauthorizedAs403,
    UnauthorizedInText,
    LicenseIsDamaged,
    TakesOtherSchemes,
    TakesAlteredEnd,
    TakesTruncated,
    TakesExpired,
    ExpiredByAnotherName,
    DamagedByAnotherName,
    EchoesToken,
    EchoesInVerdict,
    LooksUpFirst,
    KeepsAnswers,
    FailsOnNegativeWait,
    EmptyVerdict,
    OfferedToCaches,
    WithoutContentType,
    SchemeInCapitalsOnly,
    KeysForAnHour,
    KeysWithPrivatePart,
    KeysWithPrivateDepth,
    KeysWithPrivatePem,
    KeysInPrivateArray,
    KeysInPrivateScript,
    KeysWithoutLifetime,
    KeysWithOneId,
    KeysThatDiffer,
    KeysOfNoType,
    KeysInHtml,
    KeysWithoutTag,
    KeysNeverUnmodified,
    KeysWithoutHead,
    KeysOfAnother,
}

/// What a correct service does that others do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FakeServiceChoice {
    /// Nothing.
    Usual,
    /// No cache may store its key set, which has no entity tag.
    KeysNotStored,
    /// No cache may store its key set, which has an entity tag.
    KeysNotStoredTagged,
}

/// Arguments that test the service at `url` with every input.
pub(crate) fn with_all_inputs(url: &str) -> Vec<&str> {
    let inputs = ["--expired-token", EXPIRED, "--license", LICENSE, "--session-ref", SESSION];
    [&["service", "--base-url", url], &inputs[..]].concat()
}

pub(crate) struct FakeService {
    server: MockServer,
}

impl FakeService {
    pub(crate) async fn start(fault: FakeServiceFault) -> Self {
        Self::start_as(Service::new(fault)).await
    }

    pub(crate) async fn with(choice: FakeServiceChoice) -> Self {
        Self::start_as(Service { choice, ..Service::new(FakeServiceFault::None) }).await
    }

    async fn start_as(service: Service) -> Self {
        let server = MockServer::start().await;
        Mock::given(matchers::any()).respond_with(service).mount(&server).await;
        Self { server }
    }

    pub(crate) fn url(&self) -> String {
        self.server.uri()
    }
}

struct Service {
    fault: FakeServiceFault,
    choice: FakeServiceChoice,
    key: Ed25519KeyPair,
    other: Ed25519KeyPair,
    requests: AtomicUsize,
    last: Mutex<String>,
    kept: Mutex<Vec<(String, String)>>,
}

impl Service {
    fn new(fault: FakeServiceFault) -> Self {
        Self {
            fault,
            choice: FakeServiceChoice::Usual,
            key: key(1),
            other: key(2),
            requests: AtomicUsize::new(0),
            last: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    fn is(&self, fault: FakeServiceFault) -> bool {
        self.fault == fault
    }

    fn verdict(&self, request: &Request, encoded: &str) -> ResponseTemplate {
        let reference = self.reference(encoded);
        let address = request.url.to_string();
        if self.is(FakeServiceFault::KeepsAnswers)
            && let Some((_, body)) = self.kept.lock().unwrap().iter().find(|(kept, _)| *kept == address)
        {
            return self.json(404, body);
        }
        let known = decode(encoded) == SESSION;
        if self.is(FakeServiceFault::LooksUpFirst) && !known {
            return self.pending(&reference);
        }
        if let Err((status, body)) = self.check(request) {
            return self.json(status, &body);
        }
        let wait = request.url.query_pairs().find(|(name, _)| name == "waitMs");
        if self.is(FakeServiceFault::FailsOnNegativeWait)
            && wait.is_some_and(|(_, value)| value.starts_with('-'))
        {
            return self.json(500, &json!({"error": "internal"}).to_string());
        }
        if known {
            let token = request.headers.get("authorization").and_then(|value| value.to_str().ok());
            return self.json(200, &self.verdict_body(&reference, token));
        }
        let answer = self.pending(&reference);
        self.kept.lock().unwrap().push((address, json!({"status": "pending", "ref": reference}).to_string()));
        answer
    }

    fn reference(&self, encoded: &str) -> String {
        let decoded = decode(encoded);
        match self.fault {
            FakeServiceFault::EchoesEncoded => encoded.to_owned(),
            FakeServiceFault::DecodesTwice => decode(&decoded),
            FakeServiceFault::PlusIsSpace => decode(&encoded.replace("%2B", "+").replace('+', " ")),
            FakeServiceFault::BarePlusIsSpace => decode(&encoded.replace('+', " ")),
            FakeServiceFault::LowersReference => decoded.to_lowercase(),
            _ => decoded,
        }
    }

    fn pending(&self, reference: &str) -> ResponseTemplate {
        let body = match self.fault {
            FakeServiceFault::LosesReference => json!({"status": "pending"}),
            FakeServiceFault::AddsMember => json!({"status": "pending", "ref": reference, "retryAfter": 1}),
            FakeServiceFault::MixesReferences => {
                let last = std::mem::replace(&mut *self.last.lock().unwrap(), reference.to_owned());
                json!({"status": "pending", "ref": if last.is_empty() { reference.to_owned() } else { last }})
            }
            // Another member order than in the interface.
            _ => json!({"ref": reference, "status": "pending"}),
        };
        self.json(404, &body.to_string())
    }

    /// The status and body of a refusal.
    fn check(&self, request: &Request) -> Result<(), (u16, String)> {
        let unauthorized = || {
            let status = if self.is(FakeServiceFault::UnauthorizedAs403) { 403 } else { 401 };
            let text = self.is(FakeServiceFault::UnauthorizedInText);
            let body =
                if text { "unauthorized".to_owned() } else { json!({"error": "unauthorized"}).to_string() };
            (status, body)
        };
        let value = request.headers.get("authorization").map(|value| value.to_str().unwrap_or_default());
        let (scheme, token) = value.and_then(|value| value.split_once(' ')).ok_or_else(unauthorized)?;
        let bearer = if self.is(FakeServiceFault::SchemeInCapitalsOnly) {
            scheme == "Bearer"
        } else {
            scheme.eq_ignore_ascii_case("bearer")
        };
        if !bearer && !self.is(FakeServiceFault::TakesOtherSchemes) {
            return Err(unauthorized());
        }
        // The code is in a nested member.
        let damaged = |code: &str| {
            let echo = if self.is(FakeServiceFault::EchoesToken) {
                format!("refused {token}")
            } else {
                "refused".into()
            };
            (401, json!({"message": echo, "details": {"code": code}}).to_string())
        };
        if self.is(FakeServiceFault::LicenseIsDamaged) && token.starts_with("service_license_") {
            return Err(damaged("malformed_token"));
        }
        if !token.starts_with("service_read_") {
            return Err(unauthorized());
        }
        let code =
            if self.is(FakeServiceFault::DamagedByAnotherName) { "invalid_token" } else { "malformed_token" };
        match token {
            TOKEN => Ok(()),
            _ if [jws_read_token(), paseto_read_token(), claims_read_token()].contains(&token.to_owned()) => {
                Ok(())
            }
            EXPIRED if self.is(FakeServiceFault::TakesExpired) => Ok(()),
            EXPIRED if self.is(FakeServiceFault::ExpiredByAnotherName) => {
                Err((401, json!({"error": "token_expired"}).to_string()))
            }
            EXPIRED => Err((401, json!({"error": "expired"}).to_string())),
            _ if self.is(FakeServiceFault::TakesAlteredEnd)
                && token.len() == TOKEN.len()
                && token[..40] == TOKEN[..40] =>
            {
                Ok(())
            }
            _ if self.is(FakeServiceFault::TakesTruncated)
                && TOKEN.starts_with(token)
                && token.len() > 20 =>
            {
                Ok(())
            }
            _ if token.starts_with("service_read_S1.") => Err(damaged("bad_signature")),
            _ => Err(damaged(code)),
        }
    }

    fn verdict_body(&self, reference: &str, authorization: Option<&str>) -> String {
        if self.is(FakeServiceFault::EmptyVerdict) {
            return String::new();
        }
        let signer = if self.is(FakeServiceFault::KeysOfAnother) { &self.other } else { &self.key };
        let token = authorization.filter(|_| self.is(FakeServiceFault::EchoesInVerdict));
        let proof = json!({
            "jwt": sign(signer, "human", &json!(true)),
            "paseto": paseto(signer, "human", &json!(true)),
            "claims": signed_claims(signer, "human", &json!(true)),
        });
        json!({"session": reference, "human": true, "proof": proof, "for": token}).to_string()
    }

    fn keys(&self, request: &Request) -> ResponseTemplate {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let jwk = |kid: &str, key: &Ed25519KeyPair| {
            let x = URL_SAFE_NO_PAD.encode(key.public_key());
            json!({"x": x, "crv": "Ed25519", "kid": kid, "kty": "OKP"})
        };
        let mut keys = vec![jwk("2026-a", &self.key)];
        match self.fault {
            FakeServiceFault::KeysWithPrivatePart => keys[0]["d"] = json!(SECRET),
            FakeServiceFault::KeysWithPrivateDepth => keys[0]["old"] = json!({"kty": "OKP", "d": SECRET}),
            FakeServiceFault::KeysWithPrivatePem => {
                keys[0]["pem"] =
                    json!(format!("-----BEGIN PRIVATE KEY-----\n{SECRET}\n-----END PRIVATE KEY-----"));
            }
            FakeServiceFault::KeysWithOneId => keys.push(jwk("2026-a", &self.other)),
            FakeServiceFault::KeysThatDiffer if number % 7 == 6 => keys.push(jwk("2026-b", &self.other)),
            FakeServiceFault::KeysOfNoType => keys[0]["kty"] = json!("Ed25519"),
            _ => {}
        }
        if self.is(FakeServiceFault::KeysInHtml) {
            return ResponseTemplate::new(200).set_body_raw("<html>keys</html>", "text/html");
        }
        if self.is(FakeServiceFault::KeysWithoutHead) && request.method.as_str() == "HEAD" {
            return ResponseTemplate::new(405);
        }
        let mut body = json!({"note": "rotated weekly", "keys": keys}).to_string();
        if self.is(FakeServiceFault::KeysInPrivateArray) {
            body = json!([{"kty": "OKP", "d": SECRET}]).to_string();
        }
        if self.is(FakeServiceFault::KeysInPrivateScript) {
            body = format!("keys({{\"keys\":[{{\"kty\":\"OKP\",\"d\":\"{SECRET}\"}}]}})");
        }
        let tag = "W/\"2026-a\"";
        let tag_sent = request.headers.get("if-none-match").and_then(|tag| tag.to_str().ok());
        if tag_sent == Some(tag) && !self.is(FakeServiceFault::KeysNeverUnmodified) {
            return ResponseTemplate::new(304).insert_header("etag", tag);
        }
        let seconds = if self.is(FakeServiceFault::KeysForAnHour) { 3600 } else { 60 };
        let control = match self.fault {
            FakeServiceFault::KeysWithoutLifetime => "public".to_owned(),
            _ if self.choice != FakeServiceChoice::Usual => "no-store".to_owned(),
            _ => format!("max-age={seconds}, stale-while-revalidate=10"),
        };
        let answer = ResponseTemplate::new(200)
            .set_body_raw(body, "application/json;charset=utf-8")
            .insert_header("cache-control", control.as_str());
        let is_untagged = self.choice == FakeServiceChoice::KeysNotStored;
        if self.is(FakeServiceFault::KeysWithoutTag) || is_untagged {
            answer
        } else {
            answer.insert_header("etag", tag)
        }
    }

    fn json(&self, status: u16, body: &str) -> ResponseTemplate {
        let kind = if self.is(FakeServiceFault::WithoutContentType) {
            "text/plain"
        } else {
            "Application/JSON; charset=UTF-8"
        };
        let cache = if self.is(FakeServiceFault::OfferedToCaches) { "public, max-age=30" } else { "private" };
        let answer = ResponseTemplate::new(status)
            .set_body_raw(body.to_owned(), kind)
            .insert_header("cache-control", cache)
            .insert_header("x-request-id", "0f3a")
            .insert_header("server", "strangers/2");
        if status == 401 {
            answer.insert_header("www-authenticate", "Bearer realm=\"verdicts\"")
        } else {
            answer
        }
    }
}

impl Respond for Service {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let path = request.url.path().to_owned();
        match path.strip_prefix(VERDICT) {
            Some(_) if request.method.as_str() != "GET" => ResponseTemplate::new(405),
            Some(encoded) => self.verdict(request, encoded),
            None if path == "/.well-known/browser-verdict-jwks.json" => self.keys(request),
            None => ResponseTemplate::new(404),
        }
    }
}

/// A valid read token that is a JWS, with the header and the issuer of the verdict tokens.
pub(crate) fn jws_read_token() -> String {
    format!("service_read_{}", sign(&key(1), "scope", &json!("read")))
}

/// A valid read token that is a PASETO, with the issuer of the verdict tokens.
pub(crate) fn paseto_read_token() -> String {
    format!("service_read_{}", paseto(&key(1), "scope", &json!("read")))
}

/// A valid read token that is its claims with a signature.
pub(crate) fn claims_read_token() -> String {
    format!("service_read_{}", signed_claims(&key(1), "scope", &json!("read")))
}

fn key(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

/// The header of all tokens.
pub(crate) fn jws_header() -> String {
    URL_SAFE_NO_PAD.encode(json!({"alg": "EdDSA", "kid": "2026-a", "typ": "JWT"}).to_string())
}

/// All tokens begin with the same claim.
fn claims(claim: &str, value: &Value) -> String {
    json!({"aud": "https://verdicts.example/strangers", claim: value}).to_string()
}

fn paseto(key: &Ed25519KeyPair, claim: &str, value: &Value) -> String {
    let claims = claims(claim, value);
    let signature = key.sign(claims.as_bytes());
    format!("v4.public.{}", URL_SAFE_NO_PAD.encode([claims.as_bytes(), signature.as_ref()].concat()))
}

fn signed_claims(key: &Ed25519KeyPair, claim: &str, value: &Value) -> String {
    let claims = URL_SAFE_NO_PAD.encode(claims(claim, value));
    format!("{claims}.{}", URL_SAFE_NO_PAD.encode(key.sign(claims.as_bytes())))
}

fn sign(key: &Ed25519KeyPair, claim: &str, value: &Value) -> String {
    let signed = format!("{}.{}", jws_header(), URL_SAFE_NO_PAD.encode(claims(claim, value)));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes())))
}

fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

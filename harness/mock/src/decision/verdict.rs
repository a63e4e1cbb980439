use edgeproof_fixtures::spec::{Fact, Profile, Row, Spec, Stimulus, Table, fill};
use http::StatusCode;
use serde_json::Value;

use super::{ReadOutage, ServiceDecision, SessionFact, VerdictFacts};

/// Decides on a request for a verdict (7.4). A refused token reveals nothing about sessions. Of several stimuli the first
/// one in the profile's order gives the refusal.
pub fn decide_verdict(spec: &Spec, profile: &Profile, facts: &VerdictFacts<'_>) -> ServiceDecision {
    let place = |stimulus| {
        let order = &profile.read_token_order;
        order.iter().position(|other| *other == stimulus).unwrap_or(usize::MAX)
    };
    let fault = facts.token.as_ref().err().map(|fault| (fault.stimulus, fault.suffix.as_deref()));
    let outage = facts.outage.map(|outage| (ReadOutage::stimulus(outage), None));
    let refusal = [fault, outage].into_iter().flatten().min_by_key(|(stimulus, _)| place(*stimulus));
    let (stimulus, suffix) = refusal.unwrap_or_else(|| (facts.session.stimulus(), None));

    let row = spec.by_stimulus(Table::Verdict, stimulus).or_else(|| as_damaged(spec, stimulus));
    let answer = row.and_then(|row| Some((row.status()?, row)));
    let decision = match (answer, &facts.session) {
        (Some((status, _)), SessionFact::Ready(verdict)) if refusal.is_none() => {
            ServiceDecision::json(status, verdict.clone(), Some(stimulus))
        }
        (Some((status, row)), _) => {
            return refuse(row, status, profile, facts.reference, suffix, stimulus);
        }
        // These tables have no row for this stimulus.
        (None, _) if refusal.is_some() => ServiceDecision::of_http(StatusCode::UNAUTHORIZED),
        (None, SessionFact::Ready(verdict)) => ServiceDecision::json(200, verdict.clone(), None),
        (None, _) => ServiceDecision::of_http(StatusCode::NOT_FOUND),
    };
    decision.about_verdict()
}

/// The row of a damaged token, for a token that these tables do not tell from one.
fn as_damaged(spec: &Spec, stimulus: Stimulus) -> Option<&Row> {
    if !Stimulus::DAMAGED_READ_TOKENS.contains(&stimulus) {
        return None;
    }
    Stimulus::DAMAGED_READ_TOKENS.iter().find_map(|damaged| spec.by_stimulus(Table::Verdict, *damaged))
}

/// Characters of a suffix in an answer (maximum).
const MAX_SUFFIX: usize = 64;

/// Answer of a row without a verdict.
pub(crate) fn refuse(
    row: &Row,
    status: u16,
    profile: &Profile,
    reference: &str,
    suffix: Option<&str>,
    stimulus: Stimulus,
) -> ServiceDecision {
    let body = body(row, profile, reference, suffix);
    ServiceDecision::json(status, body.to_string(), Some(stimulus)).about_verdict()
}

/// Body of the row, or the profile's body with the row's code.
fn body(row: &Row, profile: &Profile, reference: &str, suffix: Option<&str>) -> Value {
    if let Some(body) = row.body_with(&[("<session_ref>", reference.into())]) {
        return body;
    }
    let code = row.code().unwrap_or_default();
    let suffixed = matches!(row.fact, Fact::Verdict { suffixed: true, .. });
    let reason = match suffix.filter(|_| suffixed) {
        // The suffix may come from the token, so its sender chose the length.
        Some(suffix) => format!("{code}:{}", suffix.chars().take(MAX_SUFFIX).collect::<String>()),
        None => code.to_owned(),
    };
    fill(&profile.verdict_refused, &[("<reason>", reason.into())])
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use bytes::Bytes;
    use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
    use edgeproof_fixtures::spec::{Stimulus, Version};
    use rstest::rstest;

    use super::*;

    fn good() -> ReadClaims {
        ReadClaims { license_id: "lic-1".to_owned(), expires: SystemTime::UNIX_EPOCH }
    }

    fn check(
        token: &Result<ReadClaims, ReadTokenFault>,
        outage: Option<ReadOutage>,
        session: SessionFact,
        status: u16,
        body: &str,
    ) {
        let spec = Spec::builtin(Version::Current);
        let facts = VerdictFacts { token, outage, reference: "a/\"ß", session };
        let decision = decide_verdict(&spec, spec.profile(), &facts);
        assert_eq!((decision.status, &decision.body[..]), (status, body.as_bytes()));
        assert_eq!(decision.headers["cache-control"], "no-store");
        assert_eq!(decision.headers.contains_key("www-authenticate"), status == 401);
    }

    #[rstest]
    #[case(SessionFact::Pending)]
    #[case(SessionFact::TooOld)]
    #[case(SessionFact::Unknown)]
    #[case(SessionFact::OtherLicense)]
    fn session_states_without_verdict_are_indistinguishable(#[case] session: SessionFact) {
        check(&Ok(good()), None, session, 404, r#"{"status":"pending","ref":"a/\"ß"}"#);
    }

    #[test]
    fn ready_verdict_is_the_body() {
        check(&Ok(good()), None, SessionFact::Ready(Bytes::from_static(b"{}")), 200, "{}");
    }

    #[rstest]
    #[case::own_body(Stimulus::ReadTokenMissing, None, None, "unauthorized")]
    #[case::code(Stimulus::ReadTokenWrongType, None, None, "wrong_typ")]
    #[case::suffixed(Stimulus::ReadTokenKeyUnknown, Some("key-1"), None, "unknown_kid:key-1")]
    #[case::not_suffixed(Stimulus::ReadTokenWrongType, Some("x"), None, "wrong_typ")]
    #[case::missing_token_precedes_outages(
        Stimulus::ReadTokenMissing,
        None,
        Some(ReadOutage::KeysMissing),
        "unauthorized"
    )]
    #[case::insecure_keys_precede_wrong_format(
        Stimulus::ReadTokenMalformed,
        None,
        Some(ReadOutage::KeysInsecure),
        "license_keys_url_insecure"
    )]
    #[case::wrong_format_precedes_failing_check(
        Stimulus::ReadTokenMalformed,
        None,
        Some(ReadOutage::CheckFails),
        "malformed_token"
    )]
    #[case::failing_check_precedes_wrong_claims(
        Stimulus::ReadTokenExpired,
        None,
        Some(ReadOutage::CheckFails),
        "verify_error"
    )]
    fn refused_token_reveals_nothing_about_sessions(
        #[case] stimulus: Stimulus,
        #[case] suffix: Option<&str>,
        #[case] outage: Option<ReadOutage>,
        #[case] reason: &str,
        #[values(SessionFact::Unknown, SessionFact::Ready(Bytes::from_static(b"{}")))] session: SessionFact,
    ) {
        let token = Err(ReadTokenFault { stimulus, suffix: suffix.map(str::to_owned) });
        check(&token, outage, session, 401, &format!(r#"{{"error":"{reason}"}}"#));
    }

    #[test]
    fn outage_refuses_a_valid_token() {
        let outage = Some(ReadOutage::KeysMissing);
        check(&Ok(good()), outage, SessionFact::Pending, 401, r#"{"error":"read_tokens_not_configured"}"#);
    }
}

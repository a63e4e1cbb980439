use edgeproof_fixtures::credentials::ClientCertificateFault;
use edgeproof_fixtures::seal::CollectionFault;
use edgeproof_fixtures::spec::{Check, Profile, Spec, Stimulus, Table};

use super::{CollectionFacts, ReplyShape, ServiceDecision};

/// The mock service's decision on a relayed collection (7.3): the first check of the profile's order that finds a
/// cause which has a row in this version of the interface decides; otherwise the collection is accepted.
pub fn decide(
    spec: &Spec,
    profile: &Profile,
    shape: &ReplyShape,
    facts: &CollectionFacts,
) -> ServiceDecision {
    let refusal = profile.check_order.iter().find_map(|check| {
        let stimulus = stimulus(*check, profile, facts)?;
        let row = spec.by_stimulus(Table::Relay, answered_as(stimulus, profile))?;
        Some((stimulus, row.status()?, row.code()?))
    });
    match refusal {
        Some((stimulus, status, code)) => {
            ServiceDecision::json(status, shape.render(status, code).to_string(), Some(stimulus))
        }
        None => ServiceDecision::json(200, profile.relay_accepted.to_string(), None),
    }
}

/// What one check finds.
fn stimulus(check: Check, profile: &Profile, facts: &CollectionFacts) -> Option<Stimulus> {
    match check {
        Check::License => {
            let causes = [facts.license.as_ref().err().copied(), facts.outage.map(super::Outage::stimulus)];
            let place =
                |stimulus: &Stimulus| profile.license_order.iter().position(|other| other == stimulus);
            causes.into_iter().flatten().min_by_key(|stimulus| place(stimulus).unwrap_or(usize::MAX))
        }
        Check::Certificate => facts.certificate.err().map(certificate_cause),
        Check::Size => (facts.body_length > profile.max_body as u64).then_some(Stimulus::BodyTooLarge),
        Check::Json | Check::Seal | Check::Contents => {
            facts.collection.err().filter(|fault| fault.check() == check).map(CollectionFault::stimulus)
        }
        Check::Replay => facts.replay.stimulus(),
    }
}

fn certificate_cause(fault: ClientCertificateFault) -> Stimulus {
    fault.stimulus().unwrap_or(Stimulus::CertificateExpired)
}

/// The cause whose row answers: the interface has none for an expired certificate.
fn answered_as(stimulus: Stimulus, profile: &Profile) -> Stimulus {
    if stimulus == Stimulus::CertificateExpired { profile.certificate_expired } else { stimulus }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use edgeproof_fixtures::credentials::LicenseClaims;
    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;

    use super::super::Outage;
    use super::super::Replay;
    use super::*;

    fn good() -> CollectionFacts {
        let license = LicenseClaims { license_id: "lic-1".to_owned(), expires: SystemTime::UNIX_EPOCH };
        CollectionFacts {
            license: Ok(license),
            outage: None,
            certificate: Ok(()),
            body_length: 2,
            collection: Ok(()),
            replay: Replay::Fresh,
        }
    }

    fn check(version: Version, facts: &CollectionFacts, status: u16, body: &str, stimulus: Option<Stimulus>) {
        let spec = Spec::builtin(version);
        let shape = ReplyShape::from_profile(spec.profile());
        let decision = decide(&spec, spec.profile(), &shape, facts);
        let expected = ServiceDecision::json(status, body.to_owned(), stimulus);
        assert_eq!(decision, expected);
    }

    fn refused(reason: &str) -> String {
        format!(r#"{{"error":"{reason}","reason":"{reason}"}}"#)
    }

    #[test]
    fn what_has_no_fault_is_accepted() {
        check(Version::Current, &good(), 200, r#"{"ok":true}"#, None);
    }

    #[test]
    fn the_first_check_that_finds_a_fault_decides() {
        let mut facts = CollectionFacts {
            license: Err(Stimulus::LicenseExpired),
            outage: None,
            certificate: Err(ClientCertificateFault::Revoked),
            body_length: u64::MAX,
            collection: Err(CollectionFault::NotJson),
            replay: Replay::Copy,
        };
        check(Version::Current, &facts, 401, &refused("expired"), Some(Stimulus::LicenseExpired));
        facts.license = good().license;
        check(
            Version::Current,
            &facts,
            403,
            &refused("client_cert_revoked"),
            Some(Stimulus::CertificateRevoked),
        );
        facts.certificate = Ok(());
        check(Version::Current, &facts, 413, &refused("payload_too_large"), Some(Stimulus::BodyTooLarge));
        facts.body_length = 1;
        check(Version::Current, &facts, 400, &refused("invalid_json"), Some(Stimulus::BodyNotJson));
    }

    #[rstest]
    #[case::no_license_comes_before_no_keys(
        Err(Stimulus::LicenseMissing),
        Outage::KeysMissing,
        "missing_license"
    )]
    #[case::no_keys_come_before_the_prefix(
        Err(Stimulus::LicenseReadToken),
        Outage::KeysMissing,
        "license_not_configured"
    )]
    #[case::insecure_keys(Ok(()), Outage::KeysInsecure, "license_keys_url_insecure")]
    #[case::format_comes_before_a_failing_check(
        Err(Stimulus::LicenseMalformed),
        Outage::CheckFails,
        "malformed_token"
    )]
    #[case::a_failing_check_comes_before_claims(
        Err(Stimulus::LicenseExpired),
        Outage::CheckFails,
        "verify_error"
    )]
    #[case::unknown_comes_last(Err(Stimulus::LicenseRevoked), Outage::CheckUnknown, "revoked")]
    #[case::unknown(Ok(()), Outage::CheckUnknown, "unknown")]
    fn an_outage_has_its_place_among_the_causes(
        #[case] license: Result<(), Stimulus>,
        #[case] outage: Outage,
        #[case] reason: &str,
    ) {
        let good = good();
        let license = license.and(good.license.clone());
        let stimulus = match license {
            Err(stimulus)
                if Spec::builtin(Version::Current).by_stimulus(Table::Relay, stimulus).unwrap().code()
                    == Some(reason) =>
            {
                stimulus
            }
            _ => outage.stimulus(),
        };
        check(
            Version::Current,
            &CollectionFacts { license, outage: Some(outage), ..good },
            401,
            &refused(reason),
            Some(stimulus),
        );
    }

    #[test]
    fn an_expired_certificate_is_refused_as_the_profile_says() {
        let facts = CollectionFacts { certificate: Err(ClientCertificateFault::OutsideValidity), ..good() };
        check(
            Version::Current,
            &facts,
            401,
            &refused("client_cert_required"),
            Some(Stimulus::CertificateExpired),
        );
    }

    #[rstest]
    fn before_seals_a_certificate_has_no_reason_of_its_own(
        #[values(
            ClientCertificateFault::Missing,
            ClientCertificateFault::Foreign,
            ClientCertificateFault::OutsideValidity,
            ClientCertificateFault::OtherLicense,
            ClientCertificateFault::Revoked
        )]
        fault: ClientCertificateFault,
    ) {
        let facts = CollectionFacts { certificate: Err(fault), ..good() };
        check(Version::PreSeal, &facts, 200, r#"{"ok":true}"#, None);
        let facts = CollectionFacts { collection: Err(CollectionFault::NotJson), ..facts };
        check(Version::PreSeal, &facts, 400, &refused("invalid_json"), Some(Stimulus::BodyNotJson));
    }
}

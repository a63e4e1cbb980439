use edgeproof_fixtures::credentials::ClientCertificateFault;
use edgeproof_fixtures::seal::CollectionFault;
use edgeproof_fixtures::spec::{Profile, ServiceCheck, Spec, Stimulus, Table};

use super::{CollectionFacts, ReplyShape, ServiceDecision};

/// Decides on a relayed collection (7.3). The first failed check that has a row in this version of the interface gives
/// the refusal; the profile orders the checks. Without a failed check the collection is accepted.
pub fn decide(
    spec: &Spec,
    profile: &Profile,
    shape: &ReplyShape,
    facts: &CollectionFacts,
) -> ServiceDecision {
    let refusal = profile.check_order.iter().find_map(|check| {
        let stimulus = failed_check(*check, profile, facts)?;
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

/// Result of one check: the stimulus of a refusal, if it fails.
fn failed_check(check: ServiceCheck, profile: &Profile, facts: &CollectionFacts) -> Option<Stimulus> {
    match check {
        ServiceCheck::License => {
            let stimuli = [facts.license.as_ref().err().copied(), facts.outage.map(super::Outage::stimulus)];
            let place =
                |stimulus: &Stimulus| profile.license_order.iter().position(|other| other == stimulus);
            stimuli.into_iter().flatten().min_by_key(|stimulus| place(stimulus).unwrap_or(usize::MAX))
        }
        ServiceCheck::Certificate => facts.certificate.err().map(certificate_stimulus),
        ServiceCheck::Size => (facts.body_length > profile.max_body as u64).then_some(Stimulus::BodyTooLarge),
        ServiceCheck::Json | ServiceCheck::Seal | ServiceCheck::Contents => {
            facts.collection.err().filter(|fault| fault.check() == check).map(CollectionFault::stimulus)
        }
        ServiceCheck::Replay => facts.replay.stimulus(),
    }
}

fn certificate_stimulus(fault: ClientCertificateFault) -> Stimulus {
    fault.stimulus().unwrap_or(Stimulus::CertificateExpired)
}

/// Stimulus whose row gives the answer. The interface has no row for an expired certificate, so the profile names one.
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
    fn valid_collection_is_accepted() {
        check(Version::Current, &good(), 200, r#"{"ok":true}"#, None);
    }

    #[test]
    fn first_failed_check_gives_the_refusal() {
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
    #[case::missing_license_precedes_missing_keys(
        Err(Stimulus::LicenseMissing),
        Outage::KeysMissing,
        "missing_license"
    )]
    #[case::missing_keys_precede_wrong_prefix(
        Err(Stimulus::LicenseReadToken),
        Outage::KeysMissing,
        "license_not_configured"
    )]
    #[case::insecure_keys(Ok(()), Outage::KeysInsecure, "license_keys_url_insecure")]
    #[case::wrong_format_precedes_failing_check(
        Err(Stimulus::LicenseMalformed),
        Outage::CheckFails,
        "malformed_token"
    )]
    #[case::failing_check_precedes_wrong_claims(
        Err(Stimulus::LicenseExpired),
        Outage::CheckFails,
        "verify_error"
    )]
    #[case::unknown_result_is_last(Err(Stimulus::LicenseRevoked), Outage::CheckUnknown, "revoked")]
    #[case::unknown(Ok(()), Outage::CheckUnknown, "unknown")]
    fn license_order_ranks_outages_and_stimuli(
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
    fn expired_certificate_is_refused_as_in_the_profile() {
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
    fn pre_seal_certificate_fault_gives_no_refusal(
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

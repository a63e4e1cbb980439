use bytes::Bytes;
use fixtures::credentials::ClientCertificateFault;
use fixtures::spec::{Check, Profile, Spec, Stimulus, Table};

use super::facts::Facts;
use super::reply_shape::ReplyShape;

/// What the mock service answers. The answer is JSON, always.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Status code.
    pub status: u16,
    /// Body, compact JSON.
    pub body: Bytes,
    /// The cause of a refusal; none on acceptance.
    pub cause: Option<Stimulus>,
}

/// The mock service's decision on a relayed collection (7.3): the first check of the profile's order that finds a
/// cause which has a row in this version of the interface decides; otherwise the collection is accepted.
pub fn decide(spec: &Spec, profile: &Profile, shape: &ReplyShape, facts: &Facts) -> Decision {
    let refusal = profile.check_order.iter().find_map(|check| {
        let cause = cause(*check, profile, facts)?;
        let row = spec.by_stimulus(Table::Relay, answered_as(cause, profile))?;
        Some((cause, row.status()?, row.code()?))
    });
    match refusal {
        Some((cause, status, code)) => {
            let body = shape.render(status, code).to_string().into();
            Decision { status, body, cause: Some(cause) }
        }
        None => Decision { status: 200, body: profile.relay_accepted.to_string().into(), cause: None },
    }
}

/// What one check finds.
fn cause(check: Check, profile: &Profile, facts: &Facts) -> Option<Stimulus> {
    match check {
        Check::License => {
            let causes = [facts.license.as_ref().err().copied(), facts.outage.map(super::Outage::stimulus)];
            let place = |cause: &Stimulus| profile.license_order.iter().position(|other| other == cause);
            causes.into_iter().flatten().min_by_key(|cause| place(cause).unwrap_or(usize::MAX))
        }
        Check::Certificate => facts.certificate.err().map(certificate_cause),
        Check::Size => (facts.body_length > profile.max_body as u64).then_some(Stimulus::BodyTooLarge),
        Check::Json => (!facts.json).then_some(Stimulus::BodyNotJson),
        // Nothing is known of sealed collections yet, so each is taken for a good one.
        Check::Seal | Check::Contents | Check::Replay => None,
    }
}

fn certificate_cause(fault: ClientCertificateFault) -> Stimulus {
    fault.stimulus().unwrap_or(Stimulus::CertificateExpired)
}

/// The cause whose row answers: the interface has none for an expired certificate.
fn answered_as(cause: Stimulus, profile: &Profile) -> Stimulus {
    if cause == Stimulus::CertificateExpired { profile.certificate_expired } else { cause }
}

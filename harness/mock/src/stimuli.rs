use std::time::{Duration, SystemTime};

use edgeproof_fixtures::credentials::{LicenseForm, ReadTokenForm, Role};
use edgeproof_fixtures::seal::{Collection, CollectionForm, Member};
use edgeproof_fixtures::spec::Stimulus;
use serde_json::json;

use crate::decision::{Outage, ReadOutage};
use crate::service::MockService;
use crate::state::{NewSession, Ready};

/// A relayed collection that causes a stimulus, and what the service needs for it.
#[derive(Debug, Clone)]
pub struct RelayStimulus {
    /// The license. None: no license.
    pub license: Option<LicenseForm>,
    /// The client certificate. None: no certificate.
    pub client: Option<Role>,
    /// The posted collection.
    pub body: Vec<u8>,
    /// Form of the collection. None: a text that is larger than the service accepts.
    pub form: Option<CollectionForm>,
    /// Fault of the service.
    pub outage: Option<Outage>,
    /// Credentials of an accepted request with the same body, sent before.
    pub before: Option<(LicenseForm, Role)>,
}

impl RelayStimulus {
    /// The request that causes a stimulus at this service. For [`Stimulus::Scripted`], a valid request. None: no relayed
    /// collection causes it.
    pub fn at(service: &MockService, stimulus: Stimulus) -> Option<Self> {
        let collection = Collection::generated("session 1", 7, SystemTime::now());
        let good = || Self {
            license: Some(LicenseForm::Valid),
            client: Some(Role::ClientForLicense),
            body: service.posted_form(&collection),
            form: Some(CollectionForm::Valid),
            outage: None,
            before: None,
        };
        if let Some(form) = LicenseForm::for_stimulus(stimulus) {
            return Some(Self { license: Some(form), ..good() });
        }
        if let Some(outage) = Outage::for_stimulus(stimulus) {
            return Some(Self { outage: Some(outage), ..good() });
        }
        if let Some(form) = CollectionForm::for_stimulus(stimulus) {
            let body = posted_body(service, form, &collection)?;
            return Some(Self { body, form: Some(form), ..good() });
        }
        Some(match stimulus {
            Stimulus::LicenseMissing => Self { license: None, ..good() },
            Stimulus::CertificateMissing => Self { client: None, ..good() },
            Stimulus::CertificateForeign => Self { client: Some(Role::ClientForeign), ..good() },
            Stimulus::CertificateOtherLicense => Self { client: Some(Role::ClientForOtherLicense), ..good() },
            Stimulus::CertificateRevoked => Self { client: Some(Role::ClientRevoked), ..good() },
            Stimulus::CertificateExpired => Self { client: Some(Role::ClientExpired), ..good() },
            Stimulus::BodyTooLarge => {
                let body = format!("\"{}\"", "x".repeat(service.profile().max_body - 1)).into_bytes();
                Self { body, form: None, ..good() }
            }
            Stimulus::Replayed => {
                Self { before: Some((LicenseForm::Valid, Role::ClientForLicense)), ..good() }
            }
            Stimulus::ReplayedElsewhere => {
                Self { before: Some((LicenseForm::OtherLicense, Role::ClientForOtherLicense)), ..good() }
            }
            Stimulus::Scripted => good(),
            _ => return None,
        })
    }
}

/// A collection in this form, as a page posts it. None: this version of the interface has no such form.
pub(crate) fn posted_body(
    service: &MockService,
    form: CollectionForm,
    collection: &Collection,
) -> Option<Vec<u8>> {
    if service.spec().seals_collections() {
        Some(form.body(collection, service.credentials().seal_keys()))
    } else {
        plain_body(form, collection)
    }
}

/// A body of this form before there were seals (9.3). None: there was no such form.
fn plain_body(form: CollectionForm, collection: &Collection) -> Option<Vec<u8>> {
    let text = collection.to_json();
    let body = match form {
        CollectionForm::Valid => text,
        CollectionForm::NotJson => text[..text.len() / 2].to_owned(),
        CollectionForm::EmptyObject => "{}".to_owned(),
        CollectionForm::Unsealed => "[1]".to_owned(),
        CollectionForm::SignatureAltered => {
            json!({"contents": text, "publicKey": "none", "signature": "none"}).to_string()
        }
        CollectionForm::Damaged => json!({Member::SessionRef.name(): 7}).to_string(),
        CollectionForm::Incomplete => collection.clone().without(Member::SessionRef).to_json(),
        CollectionForm::KeyRetired | CollectionForm::SealBroken => return None,
    };
    Some(body.into_bytes())
}

/// Resets the service and prepares it for a request for the verdict of this reference, so that the request causes the
/// stimulus. Returns the form of the read token. None: no request for a verdict causes it.
pub fn prepare_verdict(service: &MockService, stimulus: Stimulus, reference: &str) -> Option<ReadTokenForm> {
    let ready = NewSession::new(reference);
    service.reset();
    if let Some(form) = ReadTokenForm::for_stimulus(stimulus) {
        // A refused token never sees the session.
        service.add_session(ready);
        return Some(form);
    }
    if let Some(outage) = ReadOutage::for_stimulus(stimulus) {
        service.add_session(ready);
        service.set_read_outage(Some(outage));
        return Some(ReadTokenForm::Valid);
    }
    match stimulus {
        Stimulus::VerdictReady | Stimulus::Scripted => service.add_session(ready),
        Stimulus::VerdictPending => service.add_session(ready.ready(Ready::Never)),
        Stimulus::VerdictTooOld => {
            let limit = service.spec().limit("limit.verdict-age")?;
            service.add_session(ready);
            service.clock().advance(limit.saturating_add(Duration::from_secs(1)));
        }
        Stimulus::ReferenceUnknown => service.add_session(NewSession::new("another")),
        Stimulus::ReferenceOtherLicense => {
            service.add_session(ready.license_id(service.credentials().other_license_id()));
        }
        _ => return None,
    }
    Some(ReadTokenForm::Valid)
}

use std::time::Duration;

use edgeproof_fixtures::spec::Stimulus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::AdminError;
use super::error::{parse, span};
use crate::decision::{Outage, ReadOutage};
use crate::service::MockService;

/// What is wrong with the mock service, or slow, as the admin port set it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Faults {
    license_check: Option<Outage>,
    read_token_check: Option<ReadOutage>,
    verdict_delay: Duration,
}

/// What is not said is right.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultsRequest {
    #[serde(default)]
    license_check: Option<String>,
    #[serde(default)]
    read_token_check: Option<String>,
    #[serde(default)]
    verdict_delay: Option<String>,
}

impl Faults {
    pub(super) fn parse(body: &[u8]) -> Result<Self, AdminError> {
        let FaultsRequest { license_check, read_token_check, verdict_delay } = parse(body)?;
        Ok(Self {
            license_check: license_check
                .map(|name| outage(&name, &Outage::ALL.map(|one| (one, one.stimulus()))))
                .transpose()?,
            read_token_check: read_token_check
                .map(|name| outage(&name, &ReadOutage::ALL.map(|one| (one, one.stimulus()))))
                .transpose()?,
            verdict_delay: verdict_delay.map(|text| span(&text)).transpose()?.unwrap_or_default(),
        })
    }

    pub(super) fn set(self, service: &MockService) {
        service.set_outage(self.license_check);
        service.set_read_outage(self.read_token_check);
        service.set_verdict_delay(self.verdict_delay);
    }

    pub(super) fn view(self) -> Value {
        json!({
            "license_check": self.license_check.map(|outage| outage.stimulus().name()),
            "read_token_check": self.read_token_check.map(|outage| outage.stimulus().name()),
            "verdict_delay": humantime::format_duration(self.verdict_delay).to_string(),
        })
    }
}

fn outage<T: Copy>(name: &str, known: &[(T, Stimulus)]) -> Result<T, AdminError> {
    let found = known.iter().find(|(_, stimulus)| stimulus.name() == name);
    found.map(|(one, _)| *one).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(_, stimulus)| stimulus.name()).collect();
        AdminError::bad(format!("{name:?} is no fault of this check; there is {}, or null", names.join(", ")))
    })
}

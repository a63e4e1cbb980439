use edgeproof_fixtures::spec::Stimulus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::AdminError;
use super::error::{parse, span};
use crate::decision::{Outage, ReadOutage};
use crate::state::ServiceFaults;

/// Body of `PUT /faults`. An omitted member ends its fault.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultsRequest {
    license_check: Option<String>,
    read_token_check: Option<String>,
    verdict_delay: Option<String>,
}

/// Reads the faults from a body.
pub(super) fn read(body: &[u8]) -> Result<ServiceFaults, AdminError> {
    let FaultsRequest { license_check, read_token_check, verdict_delay } = parse(body)?;
    Ok(ServiceFaults {
        outage: license_check
            .map(|name| by_name(&name, &Outage::ALL.map(|outage| (outage, outage.stimulus()))))
            .transpose()?,
        read_outage: read_token_check
            .map(|name| by_name(&name, &ReadOutage::ALL.map(|outage| (outage, outage.stimulus()))))
            .transpose()?,
        verdict_delay: verdict_delay.map(|text| span(&text)).transpose()?.unwrap_or_default(),
    })
}

/// The faults in JSON.
pub(super) fn view(faults: ServiceFaults) -> Value {
    json!({
        "license_check": faults.outage.map(|outage| outage.stimulus().name()),
        "read_token_check": faults.read_outage.map(|outage| outage.stimulus().name()),
        "verdict_delay": humantime::format_duration(faults.verdict_delay).to_string(),
    })
}

fn by_name<T: Copy>(name: &str, known: &[(T, Stimulus)]) -> Result<T, AdminError> {
    let found = known.iter().find(|(_, stimulus)| stimulus.name() == name);
    found.map(|(outage, _)| *outage).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(_, stimulus)| stimulus.name()).collect();
        AdminError::bad(format!("unknown fault {name:?}; this check has {}, or null", names.join(", ")))
    })
}

use std::time::{Duration, SystemTime};

use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeRequest, RelayResult};
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_mock::{ReadOutage, ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceRequest};

use crate::mutation::{RowMutation, is_edge_answer, is_service_answer};

impl EdgeFaultHooks for RowMutation {
    fn conclude(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        right: EdgeAnswer,
    ) -> EdgeAction {
        if !is_edge_answer(&self.row, request, relayed, &right) {
            return EdgeAction::Answer(right);
        }
        match self.answer.apply(right.into()) {
            Some(answer) => EdgeAction::Answer(answer.into()),
            None => EdgeAction::Nothing,
        }
    }
}

impl ServiceFaultHooks for RowMutation {
    fn token(
        &self,
        _request: &ServiceRequest<'_>,
        license_id: &str,
        right: Result<ReadClaims, ReadTokenFault>,
    ) -> Result<ReadClaims, ReadTokenFault> {
        match right {
            Err(fault) if self.skips_check(fault.stimulus) => {
                Ok(ReadClaims { license_id: license_id.to_owned(), expires: SystemTime::now() })
            }
            right => right,
        }
    }

    fn outage(&self, right: Option<ReadOutage>) -> Option<ReadOutage> {
        right.filter(|outage| !self.skips_check(outage.stimulus()))
    }

    fn conclude(&self, request: &ServiceRequest<'_>, right: ServiceDecision) -> ServiceAction {
        if !is_service_answer(&self.row, request.endpoint, &right) {
            return ServiceAction::At(Duration::ZERO, right);
        }
        let stimulus = right.stimulus;
        match self.answer.apply(right.into()) {
            Some(answer) => ServiceAction::At(Duration::ZERO, answer.into_decision(stimulus)),
            None => ServiceAction::Nothing,
        }
    }
}

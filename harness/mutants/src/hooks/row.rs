use std::time::{Duration, SystemTime};

use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeRequest, RelayResult};
use edgeproof_fixtures::credentials::{ReadClaims, ReadTokenFault};
use edgeproof_mock::{ReadOutage, ServiceAction, ServiceDecision, ServiceFaultHooks, ServiceRequest};
use http::StatusCode;

use crate::mutation::{AnswerParts, RowMutation, is_edge_answer, is_service_answer};

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
        let (right_status, log) = (right.status, right.log.clone());
        match self.answer.apply(right.into()) {
            Some(AnswerParts { status, headers, body }) => EdgeAction::Answer(EdgeAnswer {
                status: StatusCode::from_u16(status).unwrap_or(right_status),
                headers,
                body,
                log,
            }),
            None => EdgeAction::Nothing,
        }
    }
}

impl ServiceFaultHooks for RowMutation {
    fn token(
        &self,
        _authorization: Option<&str>,
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
            Some(AnswerParts { status, headers, body }) => {
                ServiceAction::At(Duration::ZERO, ServiceDecision { status, headers, body, stimulus })
            }
            None => ServiceAction::Nothing,
        }
    }
}

//! An edge of another style: correct, and different in everything that the interface leaves free.

use std::sync::Arc;

use bytes::Bytes;
use edgeproof_edge::{EdgeAction, EdgeAnswer, EdgeFaultHooks, EdgeOptions, EdgeRequest, RelayResult};
use edgeproof_targets::FaultInjection;
use http::HeaderValue;
use http::header::{CONTENT_TYPE, SERVER};
use serde_json::{Map, Value};

/// Changes the style of all edges of a run.
#[derive(Debug)]
pub(crate) struct OtherStyle;

impl FaultInjection for OtherStyle {
    fn edge(&self, options: &mut EdgeOptions) {
        options.profile.relay_path = "/api/collect".into();
        options.hooks = Arc::new(Self);
    }
}

impl EdgeFaultHooks for OtherStyle {
    fn title_case_headers(&self) -> bool {
        true
    }

    fn conclude(
        &self,
        _request: &EdgeRequest<'_>,
        _relayed: Option<&RelayResult>,
        mut right: EdgeAnswer,
    ) -> EdgeAction {
        right.headers.insert(SERVER, HeaderValue::from_static("other-style"));
        if let Ok(Value::Object(members)) = serde_json::from_slice(&right.body) {
            let reversed: Map<String, Value> = members.into_iter().rev().collect();
            right.body = Bytes::from(format!("{:#}\n", Value::Object(reversed)));
            right.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
        }
        EdgeAction::Answer(right)
    }
}

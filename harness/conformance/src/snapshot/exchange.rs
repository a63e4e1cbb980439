use bytes::Bytes;
use edgeproof_fixtures::credentials::Redactor;
use edgeproof_http::{Request, Sent};
use edgeproof_mock::Arrival;
use edgeproof_reports::{Exchange, Hop};
use http::HeaderValue;
use http::header::AUTHORIZATION;

use crate::cases::CaseExchange;
use crate::run::exchanges;

/// What a request holds that differs between runs, and its placeholders.
#[derive(Debug, Default)]
pub(super) struct Concealed {
    /// A body.
    pub(super) body: Option<(Bytes, String)>,
    /// A value of `Authorization` without its scheme.
    pub(super) token: Option<(String, String)>,
}

impl Concealed {
    /// The exchanges on both hops as text.
    pub(super) fn exchanges(
        &self,
        hop: Hop,
        mut sent: Sent,
        mut arrivals: Vec<Arrival>,
        redactor: &Redactor,
    ) -> Vec<Exchange> {
        self.conceal(&mut sent.request);
        for arrival in &mut arrivals {
            self.conceal(&mut arrival.request);
        }
        exchanges(&[CaseExchange { hop, sent, curl: None }], &arrivals, redactor)
    }

    fn conceal(&self, request: &mut Request) {
        if let Some((body, placeholder)) = &self.body
            && request.body == *body
        {
            request.body = placeholder.clone().into();
        }
        let Some((token, placeholder)) = &self.token else { return };
        let Some(value) = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()) else {
            return;
        };
        if let Ok(value) = HeaderValue::from_str(&value.replace(token, placeholder)) {
            request.headers.insert(AUTHORIZATION, value);
        }
    }
}

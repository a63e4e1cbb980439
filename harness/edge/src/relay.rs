use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use super::decide::Relayed;
use super::inbound::Inbound;
use super::outgoing::Outgoing;
use super::pool::{Pool, PooledConnection, Upkeep};

/// Bytes of a refusal that are looked at for a reason.
const LONGEST_REPLY: usize = 64 * 1024;

/// What describes the body goes with the body. Nothing else of the page's request goes to the service.
const DESCRIBES_BODY: [HeaderName; 2] = [CONTENT_TYPE, CONTENT_ENCODING];

/// The way to the service.
pub(super) struct Relay {
    pub(super) pool: Arc<Pool>,
    /// Absolute, as HTTP/2 has it.
    pub(super) uri: Uri,
    /// Name of the license's header and its value.
    pub(super) license: Option<(HeaderName, HeaderValue)>,
    /// Further header fields.
    pub(super) more: HeaderMap,
    /// The body goes with its length, where that is known.
    pub(super) sized: bool,
    /// For the whole exchange. While a body that is not kept in memory moves on, the time does not count.
    pub(super) timeout: Duration,
    /// It goes where a redirect points to: never right, and for deviations only.
    pub(super) follows_redirects: bool,
}

impl Relay {
    /// Relays one body, once. `idle` is the longest time without a byte from the page.
    pub(super) async fn relay(&self, body: Inbound, page: &HeaderMap, idle: Duration) -> Relayed {
        let copy = match &body {
            Inbound::Whole(bytes) if self.follows_redirects => Some(bytes.clone()),
            _ => None,
        };
        let (body, upload) = Outgoing::new(body, idle, self.sized);
        let sent = tokio::select! {
            sent = self.send(body, page) => sent,
            () = upload.stalled(self.timeout) => None,
        };
        let Some((lease, response)) = sent else {
            return if upload.broke() { Relayed::BodyBroken } else { Relayed::NoAnswer };
        };
        let status = response.status();
        if let Some((copy, elsewhere)) = copy.zip(self.redirected(&response)) {
            return Box::pin(elsewhere.relay(Inbound::Whole(copy), page, idle)).await;
        }
        let reply = Reply { body: response.into_body(), lease, pool: Arc::clone(&self.pool) };
        if status.is_success() {
            // The status says it all: nobody waits for the rest.
            let mut rest = Box::pin(timeout(self.timeout, reply.read()));
            if rest.as_mut().now_or_never().is_none() {
                tokio::spawn(rest);
            }
            return Relayed::Answered { status, body: None };
        }
        let body = tokio::select! {
            body = reply.read() => body,
            () = upload.stalled(self.timeout) => None,
        };
        Relayed::Answered { status, body }
    }

    /// Sends the request. It goes to another connection only while nothing of it was written: what may have arrived is
    /// never sent again (RFC 9110 §9.2.2), and the service would refuse the copy.
    async fn send(&self, body: Outgoing, page: &HeaderMap) -> Option<(PooledConnection, Response<Incoming>)> {
        let mut body = body;
        loop {
            let mut lease = self.pool.lease().await.ok()?;
            let request = self.request(body, page, lease.is_http2());
            match lease.send(request).await {
                Ok(response) => return Some((lease, response)),
                // On a connection that is new, the next attempt would fare no better.
                Err(_) if !lease.reused => return None,
                Err(mut error) => body = error.take_message()?.into_body(),
            }
        }
    }

    /// The way to where a redirect points.
    fn redirected(&self, response: &Response<Incoming>) -> Option<Self> {
        let uri: Uri = response.headers().get(LOCATION)?.to_str().ok()?.parse().ok()?;
        let connector = self.pool.connector.elsewhere(&uri)?;
        let pool = Arc::new(Pool::new(connector, Upkeep::default()));
        Some(Self {
            pool,
            uri,
            license: self.license.clone(),
            more: self.more.clone(),
            sized: self.sized,
            timeout: self.timeout,
            follows_redirects: false,
        })
    }

    fn request(&self, body: Outgoing, page: &HeaderMap, http2: bool) -> Request<Outgoing> {
        let length = body.size_hint().exact();
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        let headers = request.headers_mut();
        headers.extend(self.more.clone());
        // Also for none: without it, hyper leaves open whether a POST has a body.
        if let Some(length) = length {
            headers.insert(CONTENT_LENGTH, length.into());
        }
        for name in DESCRIBES_BODY {
            for value in page.get_all(&name) {
                headers.append(name.clone(), value.clone());
            }
        }
        if let Some((name, value)) = &self.license {
            headers.insert(name.clone(), value.clone());
        }
        if http2 {
            *request.uri_mut() = self.uri.clone();
            return request;
        }
        let host = self.uri.authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
        if let Some(host) = host {
            headers.insert(HOST, host);
        }
        *request.uri_mut() = self.uri.path_and_query().map(|path| path.clone().into()).unwrap_or_default();
        request
    }
}

/// Name and value of the header that carries a license.
pub(super) fn license_header(name: &str, scheme: &str, license: &str) -> Option<(HeaderName, HeaderValue)> {
    let name = HeaderName::try_from(name).unwrap_or(AUTHORIZATION);
    let value = if scheme.is_empty() { license.to_owned() } else { format!("{scheme} {license}") };
    let mut value = HeaderValue::try_from(value).ok()?;
    // Keeps it out of Debug output and out of HPACK's table.
    value.set_sensitive(true);
    Some((name, value))
}

/// The rest of an answer.
struct Reply {
    body: Incoming,
    lease: PooledConnection,
    pool: Arc<Pool>,
}

impl Reply {
    /// Reads it to its end and gives the connection back. None if it breaks off or is too long; then the connection
    /// is closed.
    async fn read(mut self) -> Option<Bytes> {
        let mut whole = BytesMut::new();
        while let Some(frame) = self.body.frame().await {
            if let Ok(chunk) = frame.ok()?.into_data() {
                whole.extend_from_slice(&chunk);
            }
            if whole.len() > LONGEST_REPLY {
                return None;
            }
        }
        self.pool.give_back(self.lease);
        Some(whole.freeze())
    }
}

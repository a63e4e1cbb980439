use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use edgeproof_fixtures::credentials::EdgeSettings;
use futures_util::FutureExt;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use parking_lot::Mutex;
use tokio::time::timeout;

use super::connection::Connector;
use super::inbound_body::InboundBody;
use super::outbound_body::OutboundBody;
use super::pool::{ConnectionPool, PooledConnection};
use super::service_url::ServiceUrl;
use super::tls::client_config;
use super::upstream::UpstreamOptions;
use crate::decision::RelayResult;
use crate::error::EdgeError;

/// Maximum size of a refusal's body (bytes). A longer refusal has no reason.
const MAX_REPLY: usize = 64 * 1024;

/// Headers of the page's request that describe the body. The edge relays no other header of the page.
const BODY_HEADERS: [HeaderName; 2] = [CONTENT_TYPE, CONTENT_ENCODING];

/// Client that posts collections to the service.
pub(crate) struct RelayClient {
    pool: Arc<ConnectionPool>,
    /// Absolute, as HTTP/2 requires.
    uri: Uri,
    options: UpstreamOptions,
    /// Cookies that the service set, if it keeps them.
    cookies: Mutex<Vec<HeaderValue>>,
    /// Timeout of one exchange. Does not run while a streamed body makes progress.
    timeout: Duration,
}

impl RelayClient {
    /// Reads the files of the settings once; later changes of the files have no effect.
    pub(crate) fn new(
        settings: &EdgeSettings,
        options: UpstreamOptions,
        timeout: Duration,
    ) -> Result<Self, EdgeError> {
        let service = ServiceUrl::parse(settings.service_url.as_deref(), &options.path)?;
        let ServiceUrl { uri, host, port, https, server_name } = service;
        let tls = if https {
            let config = client_config(settings, options.certificate_check, options.http2)?;
            Some((Arc::new(config), server_name))
        } else {
            None
        };
        let connector = Connector { host, port, tls, raw_head: options.raw_head };
        let pool = Arc::new(ConnectionPool::new(connector, &options));
        Ok(Self { pool, uri, options, cookies: Mutex::default(), timeout })
    }

    /// Relays one body, once. `idle`: timeout for the next byte from the page.
    pub(crate) async fn relay(&self, body: InboundBody, page: &HeaderMap, idle: Duration) -> RelayResult {
        if let Some(named) = self.named(page) {
            return Box::pin(named.relay(body, page, idle)).await;
        }
        let copy = match &body {
            InboundBody::Complete(bytes) if self.options.follows_redirects => Some(bytes.clone()),
            _ => None,
        };
        let (body, upload) = OutboundBody::new(body, idle, self.options.chunked);
        let sent = tokio::select! {
            sent = self.send(body, page) => sent,
            () = upload.stalled(self.timeout) => None,
        };
        let Some((connection, response)) = sent else {
            return if upload.broke() { RelayResult::BodyBroken } else { RelayResult::NoAnswer };
        };
        let status = response.status();
        if self.options.keeps_cookies {
            self.keep_cookies(response.headers());
        }
        if let Some((copy, redirected)) = copy.zip(self.redirected(&response)) {
            return Box::pin(redirected.relay(InboundBody::Complete(copy), page, idle)).await;
        }
        let (head, body) = response.into_parts();
        let headers = head.headers;
        let reply = ReplyReader { body, connection, pool: Arc::clone(&self.pool) };
        if status.is_success() {
            // The status decides: the page need not wait for the rest.
            let mut rest = Box::pin(timeout(self.timeout, reply.read()));
            if rest.as_mut().now_or_never().is_none() {
                tokio::spawn(rest);
            }
            return RelayResult::Answered { status, headers, body: None };
        }
        let body = tokio::select! {
            body = reply.read() => body,
            () = upload.stalled(self.timeout) => None,
        };
        RelayResult::Answered { status, headers, body }
    }

    /// Sends the request. Retries on another connection only while no byte of it was written: a request that may have
    /// arrived is never sent again (RFC 9110 §9.2.2), because the service refuses replays.
    async fn send(
        &self,
        mut body: OutboundBody,
        page: &HeaderMap,
    ) -> Option<(PooledConnection, Response<Incoming>)> {
        loop {
            let mut connection = self.pool.acquire().await.ok()?;
            let request = self.request(body, page, connection.is_http2());
            match connection.send(request).await {
                Ok(response) => return Some((connection, response)),
                // After a failure on a new connection, a retry would fail too.
                Err(_) if !connection.reused => return None,
                Err(mut error) => body = error.take_message()?.into_body(),
            }
        }
    }

    /// Client for the target of a redirect.
    fn redirected(&self, response: &Response<Incoming>) -> Option<Self> {
        let uri: Uri = response.headers().get(LOCATION)?.to_str().ok()?.parse().ok()?;
        self.at(uri, !self.options.drops_license_on_redirect)
    }

    /// Client for the host that the page's request names.
    fn named(&self, page: &HeaderMap) -> Option<Self> {
        let host = page.get("x-forwarded-host").filter(|_| self.options.trusts_named_host)?;
        let path = self.uri.path_and_query()?;
        self.at(format!("https://{}{path}", host.to_str().ok()?).parse().ok()?, true)
    }

    /// The same client for another address.
    fn at(&self, uri: Uri, with_license: bool) -> Option<Self> {
        let connector = self.pool.connector().redirected(&uri)?;
        let license = self.options.license.clone().filter(|_| with_license);
        let options = UpstreamOptions {
            trusts_named_host: false,
            follows_redirects: false,
            license,
            keep_alive: true,
            reconnects: true,
            ..self.options.clone()
        };
        let pool = Arc::new(ConnectionPool::new(connector, &options));
        Some(Self { pool, uri, options, cookies: Mutex::default(), timeout: self.timeout })
    }

    /// Keeps the name and the value of each cookie.
    fn keep_cookies(&self, headers: &HeaderMap) {
        let set =
            headers.get_all(SET_COOKIE).iter().filter_map(|field| field.to_str().ok()?.split(';').next());
        let mut cookies = self.cookies.lock();
        for cookie in set.filter_map(|cookie| HeaderValue::from_str(cookie).ok()) {
            if !cookies.contains(&cookie) {
                cookies.push(cookie);
            }
        }
    }

    fn request(&self, body: OutboundBody, page: &HeaderMap, http2: bool) -> Request<OutboundBody> {
        let length = body.size_hint().exact();
        let mut request = Request::new(body);
        *request.method_mut() = Method::POST;
        let headers = request.headers_mut();
        headers.extend(self.options.headers.clone());
        // Also for an empty body: hyper omits the length there, which leaves open whether the POST has a body.
        if let Some(length) = length {
            headers.insert(CONTENT_LENGTH, length.into());
        }
        for name in BODY_HEADERS {
            for value in page.get_all(&name) {
                headers.append(name.clone(), value.clone());
            }
        }
        if let Some((name, value)) = &self.options.license {
            headers.insert(name.clone(), value.clone());
        }
        for cookie in self.cookies.lock().iter() {
            headers.append(COOKIE, cookie.clone());
        }
        if let Some(change) = self.options.page_fields {
            change(page, headers);
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

/// Reader of an answer's body.
struct ReplyReader {
    body: Incoming,
    connection: PooledConnection,
    pool: Arc<ConnectionPool>,
}

impl ReplyReader {
    /// Reads the body to its end and returns the connection to the pool. `None` if the body breaks off or is too long;
    /// the connection is then closed.
    async fn read(mut self) -> Option<Bytes> {
        let mut body = BytesMut::new();
        while let Some(frame) = self.body.frame().await {
            if let Ok(chunk) = frame.ok()?.into_data() {
                body.extend_from_slice(&chunk);
            }
            if body.len() > MAX_REPLY {
                return None;
            }
        }
        self.pool.release(self.connection);
        Some(body.freeze())
    }
}

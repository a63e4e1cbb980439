use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Version};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::{TokioExecutor, TokioIo};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::answer_reader::{AnswerReader, ReadProgress};
use super::draft::{WriteStep, encode};
use super::grammar::{MessageRule, Violation};
use super::server_address::{protocol, transport};
use super::{
    Answer, Body, ClientStream, ConnectionUse, Draft, NoAnswer, Request, Sent, ServerAddress, TlsFailure,
};

/// Timeout for the interim `100` after `Expect: 100-continue`; curl uses the same.
const CONTINUE_LIMIT: Duration = Duration::from_secs(1);
/// Maximum body size over HTTP/2 (bytes).
const MAX_BODY: usize = 4 * 1024 * 1024;

/// Sends one HTTP/1.1 request over a new connection and waits up to `limit` for the answer.
pub async fn send(endpoint: &ServerAddress, draft: &Draft, limit: Duration) -> Sent {
    let at = Instant::now();
    let (reply, violations) = match KeptConnection::open(endpoint, draft).await {
        Ok(mut connection) => connection.exchange(endpoint, draft, limit).await,
        Err(why) => (Err(why), Vec::new()),
    };
    let (place, request) = (ConnectionUse::first(), as_request(endpoint, draft, Version::HTTP_11));
    Sent { place, request, reply, violations, at, took: at.elapsed() }
}

/// Sends HTTP/1.1 requests in turn over one connection. Opens a new one after an answer with `Connection: close`
/// (RFC 9112 §9.6). Those after the first request without a complete answer share its reason.
pub async fn send_in_turn(endpoint: &ServerAddress, drafts: &[Draft], limit: Duration) -> Vec<Sent> {
    send_with_pause(endpoint, drafts, Duration::ZERO, limit).await
}

/// As [`send_in_turn`], with a pause between an answer and the next request.
pub async fn send_with_pause(
    endpoint: &ServerAddress,
    drafts: &[Draft],
    pause: Duration,
    limit: Duration,
) -> Vec<Sent> {
    let mut sent = Vec::with_capacity(drafts.len());
    let mut kept: Option<KeptConnection> = None;
    let mut lost: Option<NoAnswer> = None;
    let mut next = ConnectionUse::first();
    for draft in drafts {
        if !sent.is_empty() && !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        let at = Instant::now();
        let connection = match (&lost, kept.take()) {
            (Some(why), _) => Err(why.clone()),
            (None, Some(connection)) => Ok(connection),
            (None, None) => KeptConnection::open(endpoint, draft).await,
        };
        let (reply, violations) = match connection {
            Ok(mut connection) => {
                let exchanged = connection.exchange(endpoint, draft, limit).await;
                kept = Some(connection);
                exchanged
            }
            Err(why) => (Err(why), Vec::new()),
        };
        let place = next;
        next = place.next();
        match &reply {
            Err(why) => lost = Some(why.clone()),
            Ok(answer) if answer.ends_connection(&draft.method) => {
                kept = None;
                next = ConnectionUse::first();
            }
            Ok(_) => {}
        }
        let request = as_request(endpoint, draft, Version::HTTP_11);
        sent.push(Sent { place, request, reply, violations, at, took: at.elapsed() });
    }
    sent
}

/// Sends HTTP/1.1 requests over one connection without waiting for the answers between them (RFC 9112 §9.3.2). Stops
/// reading after the first missing answer; the requests after it share its reason.
pub async fn send_pipelined(endpoint: &ServerAddress, drafts: &[Draft], limit: Duration) -> Vec<Sent> {
    let at = Instant::now();
    let Some(first) = drafts.first() else { return Vec::new() };
    let mut replies = Vec::with_capacity(drafts.len());
    match KeptConnection::open(endpoint, first).await {
        Ok(mut connection) => {
            let exchanged = timeout(limit, connection.pipeline(endpoint, drafts, &mut replies)).await;
            let why = exchanged.unwrap_or(Err(NoAnswer::TimedOut(limit))).err().unwrap_or(NoAnswer::Closed);
            replies.resize(drafts.len(), (Err(why), Vec::new()));
        }
        Err(why) => replies.resize(drafts.len(), (Err(why), Vec::new())),
    }
    let first = ConnectionUse::first();
    let sent = |(earlier, (draft, (reply, violations)))| Sent {
        place: ConnectionUse { earlier, ..first },
        request: as_request(endpoint, draft, Version::HTTP_11),
        reply,
        violations,
        at,
        took: at.elapsed(),
    };
    drafts.iter().zip(replies).enumerate().map(sent).collect()
}

/// Sends one request over HTTP/2. Yields `None` when the server does not offer HTTP/2.
pub async fn send_http2(endpoint: &ServerAddress, draft: &Draft, limit: Duration) -> Option<Sent> {
    let at = Instant::now();
    let reply = match endpoint.connect(draft.from, &[b"h2", b"http/1.1"]).await {
        Ok(connection) if protocol(&connection) != Some(b"h2") => return None,
        Ok(connection) => timeout(limit, exchange_http2(connection, endpoint, draft))
            .await
            .unwrap_or(Err(NoAnswer::TimedOut(limit))),
        Err(why) => Err(why),
    };
    let (place, request) = (ConnectionUse::first(), as_request(endpoint, draft, Version::HTTP_2));
    // hyper reads HTTP/2 strictly: what it does not accept is no answer.
    Some(Sent { place, request, reply, violations: Vec::new(), at, took: at.elapsed() })
}

/// HTTP/1.1 connection that requests use in turn. The first request opens it.
#[derive(Default)]
pub struct ReusedConnection {
    open: Option<(KeptConnection, ConnectionUse, Instant)>,
}

/// Idle time after which a client opens another connection: servers close idle ones after two seconds or more.
const IDLE_LIMIT: Duration = Duration::from_secs(1);

impl ReusedConnection {
    /// Sends a request and waits up to `limit` for the answer. Opens another connection after an answer that ends the
    /// connection (RFC 9112 §9.6), a missing answer or a long idle time.
    pub async fn send(&mut self, endpoint: &ServerAddress, draft: &Draft, limit: Duration) -> Sent {
        let at = Instant::now();
        let kept = self.open.take().filter(|(.., used)| used.elapsed() < IDLE_LIMIT);
        let (place, opened) = match kept {
            Some((connection, place, _)) => (place.next(), Ok(connection)),
            None => (ConnectionUse::first(), KeptConnection::open(endpoint, draft).await),
        };
        let (reply, violations) = match opened {
            Ok(mut connection) => {
                let (reply, violations) = connection.exchange(endpoint, draft, limit).await;
                let asks_close = draft.header_value("connection").is_some_and(|value| value != "keep-alive");
                let stays = |answer: &Answer| answer.complete && !answer.ends_connection(&draft.method);
                if reply.as_ref().is_ok_and(stays) && !draft.form.http10 && !asks_close {
                    self.open = Some((connection, place, Instant::now()));
                }
                (reply, violations)
            }
            Err(why) => (Err(why), Vec::new()),
        };
        let request = as_request(endpoint, draft, Version::HTTP_11);
        Sent { place, request, reply, violations, at, took: at.elapsed() }
    }

    /// Closes the connection. The next request opens another one.
    pub fn close(&mut self) {
        self.open = None;
    }
}

/// An answer, or the reason for its absence, with the rules that it broke.
type Reply = (Result<Answer, NoAnswer>, Vec<Violation>);

/// HTTP/1.1 connection for several requests.
struct KeptConnection {
    read: ReadHalf<ClientStream>,
    write: WriteHalf<ClientStream>,
}

impl KeptConnection {
    async fn open(endpoint: &ServerAddress, draft: &Draft) -> Result<Self, NoAnswer> {
        let stream = endpoint.connect(draft.from, &[b"http/1.1"]).await?;
        if matches!(draft.body, Body::Aborted(_)) {
            // If the system refuses the option, the connection closes instead.
            let _ = transport(&stream).tcp().set_zero_linger();
        }
        let (read, write) = tokio::io::split(stream);
        Ok(Self { read, write })
    }

    /// Writes all requests and reads the answers into `replies`, until one is missing.
    async fn pipeline(
        &mut self,
        endpoint: &ServerAddress,
        drafts: &[Draft],
        replies: &mut Vec<Reply>,
    ) -> Result<(), NoAnswer> {
        let continued = Notify::new();
        let parts = drafts.iter().flat_map(|draft| encode(draft, endpoint.authority(), endpoint.base()));
        let parts = parts.collect();
        // No pipelined request waits for an interim `100`.
        let unused = Mutex::new(AnswerReader::new(""));
        let writing = async {
            let _ = write(&mut self.write, parts, &unused, &continued).await;
            std::future::pending::<Infallible>().await
        };
        let reading = async {
            let mut buffered = AnswerReader::new("");
            for (number, draft) in drafts.iter().enumerate() {
                let reader = Mutex::new(buffered.next(draft));
                let already = reader.lock().push(&[]);
                let answer = match already {
                    ReadProgress::More => read(&mut self.read, &reader, &continued).await,
                    ReadProgress::Done(answer) => Ok(answer),
                    ReadProgress::Broken(why) => Err(NoAnswer::NotHttp(why)),
                };
                buffered = reader.into_inner();
                let answer = answer?;
                if number + 1 == drafts.len() {
                    buffered.end_answers(answer.ends_connection(&draft.method), &[]);
                }
                replies.push((Ok(answer), buffered.take_violations()));
            }
            Ok(())
        };
        tokio::select! { end = reading => end, _ = writing => unreachable!("writing never ends") }
    }

    /// Writes and reads at the same time: an answer can arrive before the request is written.
    async fn exchange(&mut self, endpoint: &ServerAddress, draft: &Draft, limit: Duration) -> Reply {
        let reader = Arc::new(Mutex::new(AnswerReader::checking(draft)));
        let continued = Notify::new();
        let parts = encode(draft, endpoint.authority(), endpoint.base());
        let writing = async {
            // A peer may answer early and close its half: its answer counts, not the write error.
            let _ = write(&mut self.write, parts, &reader, &continued).await;
            if !matches!(draft.body, Body::Aborted(_)) {
                std::future::pending::<Infallible>().await;
            }
            Err(NoAnswer::Reset)
        };
        let reading = read(&mut self.read, &reader, &continued);
        let ended = timeout(limit, async {
            tokio::select! { end = reading => end, end = writing => end }
        })
        .await;
        let mut reader = reader.lock();
        let mut reader = std::mem::replace(&mut *reader, AnswerReader::new(""));
        // After a switch, the bytes are of another protocol.
        if let Ok(Ok(answer)) = &ended
            && answer.status != 101
        {
            // Only what is here already: a later byte shows in the next exchange.
            let mut more = [0; 64];
            let count = self.read.read(&mut more).now_or_never().and_then(Result::ok).unwrap_or_default();
            reader.end_answers(answer.ends_connection(&draft.method), &more[..count]);
        }
        let mut violations = reader.take_violations();
        let reply = match ended {
            Ok(Err(NoAnswer::Closed | NoAnswer::Reset)) if reader.began() => {
                reader.end().ok_or_else(|| NoAnswer::NotHttp("the head of the answer is incomplete".into()))
            }
            Ok(end) => end,
            Err(_) => reader.end().filter(|answer| !answer.complete).ok_or(NoAnswer::TimedOut(limit)),
        };
        // HTTP/1.0 has no interim answers.
        if reply.as_ref().is_ok_and(|answer| answer.version == Version::HTTP_10) {
            violations.retain(|violation| violation.rule != MessageRule::NoContinue);
        }
        (reply, violations)
    }
}

async fn write(
    stream: &mut WriteHalf<ClientStream>,
    parts: Vec<WriteStep>,
    reader: &Mutex<AnswerReader>,
    continued: &Notify,
) -> io::Result<()> {
    for part in parts {
        match part {
            WriteStep::Bytes(bytes) => {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
            }
            WriteStep::Pause(time) => tokio::time::sleep(time).await,
            WriteStep::AwaitContinue => {
                // After the timeout the client sends the body anyway (RFC 9110 §10.1.1).
                let waited = timeout(CONTINUE_LIMIT, continued.notified()).await;
                let mut reader = reader.lock();
                if waited.is_err() && !reader.began() {
                    reader.lacks_continue();
                }
            }
            WriteStep::EndOfStream => stream.shutdown().await?,
            // The end of the connection resets it: see `KeptConnection::open`.
            WriteStep::Reset => return Ok(()),
        }
    }
    Ok(())
}

async fn read(
    stream: &mut ReadHalf<ClientStream>,
    reader: &Mutex<AnswerReader>,
    continued: &Notify,
) -> Result<Answer, NoAnswer> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let count = match stream.read(&mut buffer).await {
            Ok(0) => return Err(NoAnswer::Closed),
            Ok(count) => count,
            // A missing TLS close_notify ends the stream as well.
            Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => return Err(NoAnswer::Closed),
            // With TLS 1.3, the server refuses a missing client certificate only after the handshake.
            Err(why) if TlsFailure::of(&why, "", None) == TlsFailure::ClientCertificateRequired => {
                return Err(NoAnswer::NoTls(TlsFailure::ClientCertificateRequired));
            }
            Err(_) => return Err(NoAnswer::Reset),
        };
        let mut reader = reader.lock();
        match reader.push(&buffer[..count]) {
            ReadProgress::More => {}
            ReadProgress::Done(answer) => return Ok(answer),
            ReadProgress::Broken(why) => return Err(NoAnswer::NotHttp(why)),
        }
        if reader.continued() {
            continued.notify_one();
        }
    }
}

async fn exchange_http2(
    connection: ClientStream,
    endpoint: &ServerAddress,
    draft: &Draft,
) -> Result<Answer, NoAnswer> {
    let not_http = |why: String| NoAnswer::NotHttp(why);
    let (mut sender, driver) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(connection))
            .await
            .map_err(|why| not_http(why.to_string()))?;
    let driver = tokio::spawn(driver);
    let uri = endpoint.address(&draft.path);
    let mut request = http::Request::builder().method(draft.method.as_str()).uri(uri);
    for (name, value) in &draft.headers {
        request = request.header(name, value);
    }
    let body = Full::new(Bytes::copy_from_slice(draft.body.bytes()));
    let request = request.body(body).map_err(|why| not_http(why.to_string()))?;
    let answer = async {
        let (head, body) =
            sender.send_request(request).await.map_err(|why| not_http(why.to_string()))?.into_parts();
        let body = Limited::new(body, MAX_BODY).collect().await;
        Ok(Answer {
            status: head.status.as_u16(),
            version: head.version,
            headers: head.headers,
            complete: body.is_ok(),
            body: body.map(http_body_util::Collected::to_bytes).unwrap_or_default(),
        })
    }
    .await;
    driver.abort();
    answer
}

/// The request as a transcript shows it, without header fields that are no valid names or values.
fn as_request(endpoint: &ServerAddress, draft: &Draft, version: Version) -> Request {
    let mut headers = HeaderMap::new();
    let host = draft.form.host.value(endpoint.authority());
    let host = ("Host", host.as_str());
    let framing = if version == Version::HTTP_11 { draft.body.framing() } else { Vec::new() };
    let given = draft.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let framing = framing.iter().map(|(name, value)| (*name, value.as_str()));
    for (name, value) in std::iter::once(host).chain(given).chain(framing) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            headers.append(name, value);
        }
    }
    Request {
        method: draft.method.clone(),
        target: format!("{}{}", endpoint.base(), draft.path),
        version,
        headers,
        body: Bytes::copy_from_slice(draft.body.bytes()),
        complete: true,
    }
}

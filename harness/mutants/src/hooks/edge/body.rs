use bytes::Bytes;
use edgeproof_edge::{EdgeAnswer, EdgeRequest};
use http::Version;
use http::header::{CONTENT_TYPE, TRANSFER_ENCODING};
use serde_json::Value;

use super::state::json_answer;
use crate::mutation::EdgeBehaviour;

/// Changes the relayed body, or returns an answer instead of relaying.
pub(super) fn change(
    behaviour: EdgeBehaviour,
    request: &EdgeRequest<'_>,
    body: Bytes,
) -> Result<Bytes, Box<EdgeAnswer>> {
    use EdgeBehaviour as B;
    let limit = |bytes: usize| {
        if body.len() > bytes { refuse(413, r#"{"error":"payload_too_large"}"#) } else { Ok(body.clone()) }
    };
    let judge = |good: bool| if good { Ok(body.clone()) } else { refuse(400, r#"{"error":"invalid_json"}"#) };
    let value = || serde_json::from_slice::<Value>(&body).ok();
    let is_json = request.headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    match behaviour {
        B::Reserialises => Ok(value().map_or_else(|| body.clone(), |value| Bytes::from(value.to_string()))),
        B::Trims => Ok(body.trim_ascii().to_vec().into()),
        B::DecodesLossily => Ok(String::from_utf8_lossy(&body).into_owned().into()),
        B::StripsBom => Ok(body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&body).to_vec().into()),
        B::Wraps => Ok([b"{\"collection\":", body.as_ref(), b"}"].concat().into()),
        B::NormalisesUnicode => Ok(replace(&body, "e\u{301}", "\u{e9}")),
        B::CutsAtNul => Ok(body.split(|byte| *byte == 0).next().unwrap_or_default().to_vec().into()),
        B::ChangesLineEnds => Ok(replace(&body, "\r\n", "\n")),
        B::ReplacesEmpty if body.is_empty() => Ok(Bytes::from_static(b"{}")),
        B::DropsChunks if request.headers.contains_key(TRANSFER_ENCODING) => Ok(Bytes::new()),
        B::HalvesChunks if request.headers.contains_key(TRANSFER_ENCODING) => {
            Ok(body.slice(..body.len() / 2))
        }
        B::EmptiesOverHttp2 if request.version == Version::HTTP_2 => Ok(Bytes::new()),
        B::ParsesByContentType if !is_json => Ok(Bytes::from_static(b"{}")),
        B::RefusesNotJson => judge(value().is_some()),
        B::RefusesNotObject => judge(value().is_none_or(|value| value.is_object())),
        B::RefusesEmptyObject => judge(value().is_none_or(|value| value != serde_json::json!({}))),
        B::RefusesOtherTypes if !is_json => refuse(415, r#"{"error":"unsupported_media_type"}"#),
        B::LimitsTo10k => limit(10 * 1024),
        B::LimitsTo100k => limit(100 * 1024),
        B::LimitsTo512k => limit(512 * 1024),
        _ => Ok(body),
    }
}

fn refuse(status: u16, body: &'static str) -> Result<Bytes, Box<EdgeAnswer>> {
    Err(Box::new(json_answer(status, body)))
}

fn replace(body: &Bytes, from: &str, to: &str) -> Bytes {
    std::str::from_utf8(body).map_or_else(|_| body.clone(), |text| text.replace(from, to).into())
}

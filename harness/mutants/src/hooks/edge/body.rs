use bytes::Bytes;
use edgeproof_edge::{EdgeAnswer, EdgeRequest};
use http::Version;
use http::header::{CONTENT_TYPE, TRANSFER_ENCODING};
use serde_json::Value;

use super::body_parser;
use super::pages::{express_page, nginx_page, text};
use super::state::json_answer;
use crate::mutation::EdgeBehaviour;

/// Changes the relayed body, or returns an answer instead of relaying.
pub(super) fn change(
    behaviour: EdgeBehaviour,
    request: &EdgeRequest<'_>,
    body: Bytes,
) -> Result<Bytes, Box<EdgeAnswer>> {
    use EdgeBehaviour as B;
    if let Some(parsed) = body_parser::parse(behaviour, request, &body) {
        return parsed;
    }
    let too_large = |bytes: usize, answer: EdgeAnswer| {
        if body.len() > bytes { Err(Box::new(answer)) } else { Ok(body.clone()) }
    };
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
        B::ReadsText => {
            let text = String::from_utf8_lossy(&body);
            Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned().into())
        }
        B::ReadsTextStrictly if std::str::from_utf8(&body).is_err() => {
            Err(Box::new(text(500, "Internal Server Error")))
        }
        B::ReadsLatin1 => Ok(body.iter().map(|byte| char::from(*byte)).collect::<String>().into()),
        B::CountsCharacters => {
            let text = String::from_utf8_lossy(&body).into_owned();
            let characters = text.encode_utf16().count();
            Ok(Bytes::from(text).slice(..characters))
        }
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
        B::LimitsInExpress => {
            too_large(100 * 1024, express_page(413, "PayloadTooLargeError: request entity too large"))
        }
        B::LimitsInAiohttp => too_large(512 * 1024, text(413, "Maximum request body size 524288 exceeded")),
        B::LimitsInProxy => too_large(512 * 1024, nginx_page(413)),
        B::LimitsInFastify => too_large(
            512 * 1024,
            json_answer(
                413,
                r#"{"statusCode":413,"code":"FST_ERR_CTP_BODY_TOO_LARGE","error":"Payload Too Large","message":"Request body is too large"}"#,
            ),
        ),
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

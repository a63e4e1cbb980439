use edgeproof_http::Answer;
use http::header::SERVER;
use serde_json::Value;

use super::values::values;

/// Bytes of a body that are searched.
const SEARCHED: usize = 4096;

/// The beginning of texts that servers and frameworks write by themselves.
const TEXTS: [(&str, &str); 23] = [
    ("<pre>Cannot ", "Express"),
    ("CSRF verification failed", "Django"),
    ("<title>Page not found at", "Django"),
    ("<title>DisallowedHost", "Django"),
    ("<!doctype html>\n<html lang=en>\n<title>", "Flask"),
    ("Whitelabel Error Page", "Spring"),
    ("<title>HTTP Status ", "Tomcat"),
    ("Apache Tomcat", "Tomcat"),
    ("<title>Error 4", "Jetty"),
    ("<title>Error 5", "Jetty"),
    ("404 page not found\n", "Go's net/http"),
    ("<center>nginx", "nginx"),
    ("<center>openresty", "OpenResty"),
    ("<address>Apache", "Apache"),
    ("<title>Action Controller", "Rails"),
    ("something went wrong (500)", "Rails"),
    ("<title>Laravel", "Laravel"),
    ("__NEXT_DATA__", "Next.js"),
    ("/_next/static/", "Next.js"),
    ("An error occurred during a connection to", "IIS"),
    ("<h2>Our services aren't available right now", "Azure Front Door"),
    ("cloudflare", "Cloudflare"),
    ("A server error occurred.  Please contact the administrator.", "Python's wsgiref"),
];

/// Names of values of `X-Powered-By` and `Server`, as they begin.
const PRODUCTS: [(&str, &str); 24] = [
    ("express", "Express"),
    ("next.js", "Next.js"),
    ("nuxt", "Nuxt"),
    ("php", "PHP"),
    ("asp.net", "ASP.NET"),
    ("phusion", "Passenger"),
    ("servlet", "a servlet container"),
    ("werkzeug", "Flask"),
    ("gunicorn", "gunicorn"),
    ("uvicorn", "uvicorn"),
    ("hypercorn", "hypercorn"),
    ("daphne", "daphne"),
    ("waitress", "waitress"),
    ("python/", "aiohttp"),
    ("wsgiserver", "Python's wsgiref"),
    ("kestrel", "Kestrel"),
    ("microsoft-iis", "IIS"),
    ("jetty", "Jetty"),
    ("apache", "Apache"),
    ("nginx", "nginx"),
    ("openresty", "OpenResty"),
    ("caddy", "Caddy"),
    ("cloudflare", "Cloudflare"),
    ("awselb", "an AWS load balancer"),
];

/// The server or framework that wrote an error by itself, in place of the edge's handler. None: unknown, or JSON that a
/// handler can have written.
pub(super) fn author(answer: &Answer) -> Option<&'static str> {
    if answer.status < 400 {
        return None;
    }
    let searched = &answer.body[..answer.body.len().min(SEARCHED)];
    if let Ok(body) = serde_json::from_slice::<Value>(&answer.body) {
        return of_json(&body);
    }
    let text = String::from_utf8_lossy(searched);
    let by_text = TEXTS.iter().find(|(part, _)| text.contains(part)).map(|(_, name)| *name);
    by_text.or_else(|| product(answer, "x-powered-by")).or_else(|| product(answer, SERVER.as_str()))
}

/// The framework whose errors have these members.
fn of_json(body: &Value) -> Option<&'static str> {
    let body = body.as_object()?;
    let mut names: Vec<&str> = body.keys().map(String::as_str).collect();
    names.sort_unstable();
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    match &names[..] {
        ["detail"] if body["detail"].is_array() => Some("FastAPI"),
        ["detail"]
            if ["Not Found", "Method Not Allowed", "Internal Server Error"].contains(&text("detail")) =>
        {
            Some("FastAPI")
        }
        ["detail"] => Some("Django REST framework"),
        ["error", "message", "statusCode"] if text("message").starts_with("Route ") => Some("Fastify"),
        ["code", "error", "message", "statusCode"] => Some("Fastify"),
        ["error", "message", "statusCode"] | ["message", "statusCode"] => Some("NestJS or Fastify"),
        ["error", "path", "status", "timestamp", ..] => Some("Spring"),
        ["status", "title", "traceId", "type"] | ["errors", "status", "title", "traceId", "type"] => {
            Some("ASP.NET Core")
        }
        ["error", "status"] if text("error") == "Not Found" => Some("Rails"),
        _ => None,
    }
}

fn product(answer: &Answer, header: &str) -> Option<&'static str> {
    let value = values(answer, header)?.to_ascii_lowercase();
    PRODUCTS.iter().find(|(start, _)| value.starts_with(start)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use edgeproof_fixtures::spec::{self, Spec};
    use http::{HeaderMap, HeaderName, HeaderValue, Version};
    use rstest::rstest;

    use super::*;

    /// An advice with a text for another framework would never show it.
    #[test]
    fn frameworks_of_the_table_of_advice_are_known() {
        let tables = Spec::builtin(spec::Version::Current);
        let known: Vec<&str> = TEXTS.iter().chain(&PRODUCTS).map(|(_, name)| *name).collect();
        let named: Vec<&String> =
            tables.advice().iter().flat_map(|advice| &advice.frameworks).flat_map(|one| &one.names).collect();
        assert!(!named.is_empty());
        assert_eq!(named.iter().find(|name| !known.contains(&name.as_str())), None);
    }

    #[rstest]
    #[case::express(
        404,
        "",
        "",
        "<!DOCTYPE html>\n<html lang=\"en\"><pre>Cannot PUT /v1/signals</pre>",
        Some("Express")
    )]
    #[case::express_header(500, "x-powered-by", "Express", "Internal Server Error", Some("Express"))]
    #[case::php(500, "x-powered-by", "PHP/8.3.1", "", Some("PHP"))]
    #[case::flask(405, "server", "Werkzeug/3.0.1 Python/3.12", "", Some("Flask"))]
    #[case::flask_page(
        405,
        "server",
        "gunicorn",
        "<!doctype html>\n<html lang=en>\n<title>405 Method",
        Some("Flask")
    )]
    #[case::aiohttp(404, "server", "Python/3.12 aiohttp/3.9", "404: Not Found", Some("aiohttp"))]
    #[case::fastapi(404, "server", "uvicorn", r#"{"detail":"Not Found"}"#, Some("FastAPI"))]
    #[case::fastapi_model(422, "", "", r#"{"detail":[{"loc":["body"]}]}"#, Some("FastAPI"))]
    #[case::fastify(
        404,
        "",
        "",
        r#"{"message":"Route PUT:/ not found","error":"Not Found","statusCode":404}"#,
        Some("Fastify")
    )]
    #[case::spring(
        404,
        "",
        "",
        r#"{"timestamp":"x","status":404,"error":"Not Found","path":"/"}"#,
        Some("Spring")
    )]
    #[case::nginx(502, "server", "nginx/1.24", "<html><center>nginx/1.24.0</center>", Some("nginx"))]
    #[case::go(404, "", "", "404 page not found\n", Some("Go's net/http"))]
    #[case::own_json(404, "x-powered-by", "Express", r#"{"error":"not_found"}"#, None)]
    #[case::success(200, "x-powered-by", "Express", "ok", None)]
    #[case::unknown(500, "server", "mine", "oops", None)]
    fn author_is_known_by_its_answer(
        #[case] status: u16,
        #[case] name: &'static str,
        #[case] value: &'static str,
        #[case] body: &str,
        #[case] expected: Option<&str>,
    ) {
        let mut headers = HeaderMap::new();
        if !name.is_empty() {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let body = Bytes::copy_from_slice(body.as_bytes());
        let answer = Answer { status, version: Version::HTTP_11, headers, body, complete: true };
        assert_eq!(author(&answer), expected);
    }
}

use url::Url;

/// Parses an origin as browsers send it: scheme, host, and the port unless it is the default.
pub fn parse_origin(text: &str) -> Result<String, String> {
    let example =
        "write a scheme, a host and perhaps a port, such as https://shop.example or http://localhost:3000";
    let is_origin = |url: &Url| matches!(url.scheme(), "http" | "https") && !text.contains([',', '*']);
    let url = Url::parse(text).ok().filter(is_origin);
    let Some(url) = url else { return Err(format!("it is not an http or https origin; {example}")) };
    let origin = url.origin().ascii_serialization();
    if text == origin {
        return Ok(origin);
    }
    Err(format!("it is not an origin as browsers send it; write {origin}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::https("https://shop.example", Ok("https://shop.example"))]
    #[case::port("http://localhost:3000", Ok("http://localhost:3000"))]
    #[case::ipv6("https://[::1]:8443", Ok("https://[::1]:8443"))]
    #[case::no_scheme("shop.example", Err("not an http or https origin"))]
    #[case::host_and_port("localhost:3000", Err("not an http or https origin"))]
    #[case::other_scheme("ftp://shop.example", Err("not an http or https origin"))]
    #[case::any("*", Err("not an http or https origin"))]
    #[case::null("null", Err("not an http or https origin"))]
    #[case::empty("", Err("not an http or https origin"))]
    #[case::slash("https://shop.example/", Err("write https://shop.example"))]
    #[case::path("https://shop.example/cart", Err("write https://shop.example"))]
    #[case::query("https://shop.example?a=b", Err("write https://shop.example"))]
    #[case::fragment("https://shop.example#a", Err("write https://shop.example"))]
    #[case::user("https://me:secret@shop.example", Err("write https://shop.example"))]
    #[case::case("https://Shop.Example", Err("write https://shop.example"))]
    #[case::default_port("https://shop.example:443", Err("write https://shop.example"))]
    #[case::unicode("https://bücher.example", Err("write https://xn--bcher-kva.example"))]
    #[case::space(" https://shop.example", Err("write https://shop.example"))]
    #[case::wildcard("https://*.example", Err("not an http or https origin"))]
    #[case::two("https://a.example,https://b.example", Err("not an http or https origin"))]
    fn origin_is_as_browsers_send_it(#[case] text: &str, #[case] expected: Result<&str, &str>) {
        match (parse_origin(text), expected) {
            (Ok(origin), Ok(expected)) => assert_eq!(origin, expected),
            (Err(why), Err(expected)) => assert!(why.contains(expected), "{why}"),
            (parsed, _) => panic!("{parsed:?}"),
        }
    }
}

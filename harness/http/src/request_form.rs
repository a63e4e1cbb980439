use bytes::Bytes;

/// How the head of a request is written, where HTTP/1.1 allows several forms. The default is the usual form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestForm {
    /// Form of the request target.
    pub target: TargetForm,
    /// Value of the `Host` header.
    pub host: HostForm,
    /// HTTP/1.0, as simple proxies speak it.
    pub http10: bool,
    /// How the bytes of the head are grouped.
    pub pace: HeadPace,
    /// Trailer fields and extensions of a chunked body.
    pub chunks: ChunkExtras,
    /// Bytes in place of the head, for what is no HTTP/1.1 request.
    pub verbatim: Option<Bytes>,
}

/// Form of a request target (RFC 9112 §3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TargetForm {
    /// Path and query.
    #[default]
    Origin,
    /// The whole URL.
    Absolute,
}

/// Value of the `Host` header.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HostForm {
    /// Host and port of the server's URL.
    #[default]
    Authority,
    /// The same in upper case.
    UpperCase,
    /// The same with a dot after the host.
    TrailingDot,
    /// Another name, such as the public one that a proxy passes on.
    Other(String),
}

/// How the bytes of a request head are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HeadPace {
    /// In one write, with the beginning of the body.
    #[default]
    Whole,
    /// Flushed before the body begins.
    Apart,
    /// Each line flushed separately.
    Lines,
    /// Each byte flushed separately.
    Bytes,
}

/// What a chunked body may contain besides its chunks (RFC 9112 §7.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChunkExtras {
    /// Each chunk has an extension.
    pub extension: bool,
    /// A trailer field follows the last chunk.
    pub trailer: bool,
}

impl HostForm {
    /// The value for a server with this authority.
    pub fn value(&self, authority: &str) -> String {
        match self {
            Self::Authority => authority.to_owned(),
            Self::UpperCase => authority.to_uppercase(),
            Self::TrailingDot => match authority.rsplit_once(':') {
                Some((host, port)) if !port.ends_with(']') => format!("{host}.:{port}"),
                _ => format!("{authority}."),
            },
            Self::Other(name) => name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(HostForm::Authority, "edge.example:80", "edge.example:80")]
    #[case(HostForm::UpperCase, "edge.example:80", "EDGE.EXAMPLE:80")]
    #[case(HostForm::TrailingDot, "edge.example:80", "edge.example.:80")]
    #[case(HostForm::TrailingDot, "edge.example", "edge.example.")]
    #[case(HostForm::TrailingDot, "[::1]", "[::1].")]
    #[case(HostForm::Other("shop.example".into()), "127.0.0.1:80", "shop.example")]
    fn host_forms_keep_the_port(#[case] form: HostForm, #[case] authority: &str, #[case] expected: &str) {
        assert_eq!(form.value(authority), expected);
    }
}

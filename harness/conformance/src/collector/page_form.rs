use http::header::{CONTENT_SECURITY_POLICY, HeaderName, HeaderValue};

use super::page_server::PageOrigin;

/// Form of a page: what its server and its markup add to the usual one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum PageForm {
    /// Nothing.
    #[default]
    Usual,
    /// The page comes after a redirect.
    Redirected,
    /// `<base href>` with another host.
    Base,
    /// No doctype: quirks mode.
    Quirks,
    /// `application/xhtml+xml`.
    Xhtml,
    /// `<meta name="referrer" content="no-referrer">`.
    NoReferrer,
    /// Written from right to left, in Arabic.
    RightToLeft,
    /// A content security policy without `unsafe-eval` and `unsafe-inline`.
    Policy,
    /// A policy that allows scripts of the page and of the module, and connections to edges over HTTPS. Nothing else.
    StrictPolicy,
    /// A policy that requires trusted types.
    TrustedTypes,
    /// A page around a page of the same origin, which has the collector.
    SameOriginFrame,
    /// A page around a page of another site, which has the collector.
    OtherSiteFrame,
    /// The page in a frame.
    Framed,
}

/// Origins of modules, which may be on another host than the page.
const MODULES: &str = "'self' https: http://localhost:*";
/// Nonce of the page's own script.
const NONCE: &str = "cGFnZQ";

impl PageForm {
    /// Name in the path of the page.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }

    /// Origin of the page that has the collector, in a page of `outer`.
    pub fn inner_origin(self, outer: PageOrigin) -> PageOrigin {
        if self == Self::OtherSiteFrame { PageOrigin::OtherSite } else { outer }
    }

    /// Whether the collector is in a frame of the page.
    pub fn has_frame(self) -> bool {
        matches!(self, Self::SameOriginFrame | Self::OtherSiteFrame)
    }

    /// Name of the module that the page loads instead of the module under test.
    pub(super) fn module(self) -> Option<&'static str> {
        match self {
            Self::SameOriginFrame | Self::OtherSiteFrame => Some("frame.js"),
            Self::Policy | Self::StrictPolicy | Self::TrustedTypes => Some("later.js"),
            _ => None,
        }
    }

    /// Content type of the page.
    pub(super) fn content_type(self) -> &'static str {
        if self == Self::Xhtml { "application/xhtml+xml; charset=utf-8" } else { "text/html; charset=utf-8" }
    }

    /// Header that the page has in addition.
    pub(super) fn header(self) -> Option<(HeaderName, HeaderValue)> {
        let edges = "https://edge.test:*";
        let policy = match self {
            // A collector may use WebAssembly, workers and images of its own.
            Self::Policy => format!(
                "default-src 'self'; script-src {MODULES} 'nonce-{NONCE}' 'wasm-unsafe-eval'; worker-src 'self' blob:; \
                 img-src 'self' data: blob:; connect-src {MODULES} {edges} wss://edge.test:* data: blob:"
            ),
            Self::StrictPolicy => format!(
                "default-src 'none'; script-src {MODULES} 'nonce-{NONCE}'; connect-src {edges}; img-src data:; base-uri 'none'; \
                 form-action 'none'; frame-ancestors 'none'"
            ),
            Self::TrustedTypes => "require-trusted-types-for 'script'".to_owned(),
            _ => return None,
        };
        Some((CONTENT_SECURITY_POLICY, HeaderValue::try_from(policy).ok()?))
    }

    /// Line before the element `html`.
    pub(super) fn doctype(self) -> &'static str {
        if self == Self::Quirks { "" } else { "<!doctype html>" }
    }

    /// Attributes of the element `html`.
    pub(super) fn attributes(self) -> &'static str {
        match self {
            Self::RightToLeft => r#"lang="ar" dir="rtl""#,
            Self::Xhtml => r#"xmlns="http://www.w3.org/1999/xhtml" lang="en""#,
            _ => r#"lang="en""#,
        }
    }

    /// Elements in the head of the page.
    pub(super) fn head(self) -> &'static str {
        match self {
            Self::Base => r#"<base href="https://other.test/elsewhere/" target="_blank">"#,
            Self::NoReferrer => r#"<meta name="referrer" content="no-referrer">"#,
            _ => "",
        }
    }

    /// Attribute of the page's script.
    pub(super) fn nonce(self) -> String {
        match self {
            Self::Policy | Self::StrictPolicy => format!(r#" nonce="{NONCE}""#),
            _ => String::new(),
        }
    }

    /// Script of a page in a frame, after its own one.
    pub(super) fn script(self) -> &'static str {
        if self == Self::Framed { include_str!("page/framed.js") } else { "" }
    }
}

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use edgeproof_fixtures::collector::MODULE;
use edgeproof_fixtures::credentials::{Credentials, Role};
use edgeproof_http::{ClientAuth, Limits, ListenerProtocol, Server, server_config};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, LOCATION};
use http::{Response, StatusCode, Uri};
use http_body_util::Full;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tokio::net::TcpListener;

use super::canaries::Canaries;
use super::module::CollectorModule;
use super::page_form::PageForm;

/// Host of pages that are not on localhost.
const PAGE_HOST: &str = "shop.test";
/// Host of pages in the frame of another site.
const OTHER_HOST: &str = "widget.test";
/// Path of the module's folder.
const MODULE_PATH: &str = "/collector/";
/// Name of the reference collector in that folder.
const REFERENCE: &str = "collector.js";
/// Name of the module that imports it.
const WRAPPER: &str = "module.js";

/// Modules that use the module under test: of a page around a frame, and of a page with a policy.
const AROUND: [(&str, &[u8]); 2] =
    [("frame.js", include_bytes!("page/frame.js")), ("later.js", include_bytes!("page/later.js"))];

/// Serves the pages of a run, and the module under test to them.
#[derive(Debug)]
pub struct PageServer {
    secure: Server,
    plain: Server,
    module: CollectorModule,
}

/// Origin of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageOrigin {
    /// `https://shop.test`: a secure context.
    Https,
    /// `http://shop.test`: not a secure context.
    Http,
    /// `http://localhost`: a secure context.
    Localhost,
    /// `https://widget.test`: another site than the others.
    OtherSite,
}

impl PageServer {
    /// Serves with the service's certificate of these credentials.
    pub async fn start(credentials: &Credentials, module: CollectorModule) -> io::Result<Self> {
        let certificate = credentials.certificate(Role::ServiceServer);
        let tls = server_config(certificate.chain_der(), certificate.key_der(), ClientAuth::None);
        let secure = serve(ListenerProtocol::Tls(tls.map_err(io::Error::other)?), &module).await?;
        let plain = serve(ListenerProtocol::Plain, &module).await?;
        Ok(Self { secure, plain, module })
    }

    /// The origin as browsers write it.
    pub fn origin(&self, origin: PageOrigin) -> String {
        let (secure, plain) = (self.secure.addr().port(), self.plain.addr().port());
        match origin {
            PageOrigin::Https => format!("https://{PAGE_HOST}:{secure}"),
            PageOrigin::Http => format!("http://{PAGE_HOST}:{plain}"),
            PageOrigin::Localhost => format!("http://localhost:{plain}"),
            PageOrigin::OtherSite => format!("https://{OTHER_HOST}:{secure}"),
        }
    }

    /// URL of a page in this form with these canaries.
    pub fn page_url(&self, origin: PageOrigin, form: PageForm, canaries: &Canaries) -> String {
        format!("{}{}", self.origin(origin), canaries.path(form))
    }

    /// URL of the module that a page in this form loads: the module under test, or one that uses it.
    pub fn loaded_url(&self, origin: PageOrigin, form: PageForm, canaries: &Canaries) -> String {
        let inner = form.inner_origin(origin);
        let module = self.module_url(inner);
        let Some(name) = form.module() else { return module };
        let page = self.page_url(inner, PageForm::Framed, canaries);
        let [page, module] =
            [page, module].map(|url| utf8_percent_encode(&url, NON_ALPHANUMERIC).to_string());
        format!("{}/page/{name}?page={page}&module={module}", self.origin(origin))
    }

    /// URL of the module, for a page of this origin.
    pub fn module_url(&self, origin: PageOrigin) -> String {
        let name = match &self.module {
            CollectorModule::Url(url) => return url.to_string(),
            CollectorModule::Reference { .. } => WRAPPER.to_owned(),
            CollectorModule::File { name, .. } => utf8_percent_encode(name, NON_ALPHANUMERIC).to_string(),
        };
        format!("{}{MODULE_PATH}{name}", self.origin(origin))
    }

    /// Whether a URL is one of this server.
    pub fn serves(&self, url: &str) -> bool {
        [PageOrigin::Https, PageOrigin::Http, PageOrigin::Localhost, PageOrigin::OtherSite].into_iter().any(
            |origin| {
                let rest = url.strip_prefix(&self.origin(origin));
                // Chromium asks for the icon of a page in XHTML.
                let paths = ["/page/", MODULE_PATH, "/favicon.ico"];
                rest.is_some_and(|rest| paths.iter().any(|path| rest.starts_with(path)))
            },
        )
    }
}

async fn serve(protocol: ListenerProtocol, module: &CollectorModule) -> io::Result<Server> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let module = Arc::new(module.clone());
    Server::start(listener, protocol, Limits::default(), move |request, _| {
        let module = Arc::clone(&module);
        async move { Ok::<_, Infallible>(answer(request.uri(), &module).await) }
    })
}

async fn answer(uri: &Uri, module: &CollectorModule) -> Response<Full<Bytes>> {
    if let Some(rest) = uri.path().strip_prefix("/page/") {
        return page(rest, uri.query()).unwrap_or_else(not_found);
    }
    match found(uri.path(), module).await {
        Some((kind, body)) => content(kind, body),
        None => not_found(),
    }
}

/// The page at the rest of a path: its number, a dot, and its form.
fn page(rest: &str, query: Option<&str>) -> Option<Response<Full<Bytes>>> {
    if let Some((name, text)) = AROUND.into_iter().find(|(name, _)| *name == rest) {
        return Some(content(content_type(name), Bytes::from_static(text)));
    }
    let (first, rest) = rest.split_once('/')?;
    let (seed, form) = first.split_once('.')?;
    let (seed, form) = (seed.parse().ok()?, form.parse().ok()?);
    let mut response = content(PageForm::content_type(form), Canaries::page(seed, form).into());
    response.headers_mut().extend(form.header());
    if form == PageForm::Redirected {
        let target = format!("/page/{seed}.{}/{rest}?{}", PageForm::Usual.name(), query.unwrap_or_default());
        *response.status_mut() = StatusCode::FOUND;
        response.headers_mut().insert(LOCATION, HeaderValue::try_from(target).ok()?);
    }
    Some(response)
}

/// Content type and bytes of a file of the module.
async fn found(path: &str, module: &CollectorModule) -> Option<(&'static str, Bytes)> {
    let name = percent_decode_str(path.strip_prefix(MODULE_PATH)?).decode_utf8_lossy();
    let body = match module {
        CollectorModule::File { folder, .. } => file(folder, &name).await?.into(),
        _ if name == REFERENCE => Bytes::from_static(MODULE.as_bytes()),
        CollectorModule::Reference { module, .. } if name == WRAPPER => {
            Bytes::copy_from_slice(module.as_bytes())
        }
        CollectorModule::Reference { files, .. } => {
            let (_, text) = files.iter().find(|(file, _)| *file == name)?;
            Bytes::from_static(text.as_bytes())
        }
        CollectorModule::Url(_) => return None,
    };
    Some((content_type(&name), body))
}

/// A file below the folder. None: there is none, or it is elsewhere.
async fn file(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let path: PathBuf = tokio::fs::canonicalize(folder.join(name.trim_start_matches('/'))).await.ok()?;
    // After the resolution of links and dots.
    if !path.starts_with(folder) {
        return None;
    }
    tokio::fs::read(path).await.ok()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js" | "mjs" | "cjs") | None => "text/javascript; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some(_) => "application/octet-stream",
    }
}

fn content(kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn not_found() -> Response<Full<Bytes>> {
    let mut response = content("text/plain", Bytes::from_static(b"not found"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::module("collector.mjs", true)]
    #[case::neighbour("lib/part.js", true)]
    #[case::dots("lib/../collector.mjs", true)]
    #[case::parent("../secret.js", false)]
    #[case::absolute("/etc/passwd", false)]
    #[case::link("link.js", false)]
    #[case::missing("other.js", false)]
    #[case::folder("lib", false)]
    #[tokio::test]
    async fn only_files_below_the_folder_are_served(#[case] name: &str, #[case] served: bool) {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().canonicalize().unwrap().join("module");
        std::fs::create_dir_all(folder.join("lib")).unwrap();
        for file in ["collector.mjs", "lib/part.js", "../secret.js"] {
            std::fs::write(folder.join(file), "export {}").unwrap();
        }
        std::os::unix::fs::symlink("../secret.js", folder.join("link.js")).unwrap();
        assert_eq!(file(&folder, name).await.is_some(), served);
    }
}

use edgeproof_fixtures::credentials::ALLOWED_ORIGIN;
use edgeproof_fixtures::spec::{Endpoint, Spec};
use edgeproof_http::{Answer, Draft, NoAnswer, send};
use http::header::{ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN};

use super::edge_answer::is_edge_answer;
use super::pool::EdgePool;
use crate::cases::EdgeNeed;
use crate::judge::status_and_body;
use crate::run::runner::SanityResult;
use crate::run::runner_context::RunnerContext;

/// A path that no edge serves.
const OTHER_PATH: &str = "/edgeproof-probe";

/// Checks whether an edge can be judged without a mock service. `intended`: the user gave `--no-service`.
pub(super) async fn check_foreign(
    pool: &EdgePool,
    context: &RunnerContext,
    intended: bool,
    origin: Option<&str>,
) -> SanityResult<EdgeNeed> {
    let lease = match pool.lease_standard().await {
        Ok(lease) => lease,
        Err(why) => return SanityResult::unusable_because(&why),
    };
    if !intended {
        return SanityResult::Unusable(
            "edgeproof's mock service is not behind this edge. Start the edge with the settings of \
             `edgeproof mint edge-settings --out DIR` and add --settings DIR; or add --no-service to run only the cases \
             that need no mock service"
                .into(),
        );
    }
    let endpoint = &lease.instance.context.endpoint;
    let preflight = |path: &str| {
        Draft::new("OPTIONS", path)
            .header("Origin", origin.unwrap_or(ALLOWED_ORIGIN))
            .header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", "content-type")
    };
    let signals = pool.options().spec.path(Endpoint::Signals);
    let reply = async |draft: Draft| send(endpoint, &draft, context.request_timeout()).await.reply;
    let probe = Probe {
        get: reply(Draft::new("GET", signals)).await,
        other_get: reply(Draft::new("GET", OTHER_PATH)).await,
        put: reply(Draft::new("PUT", signals)).await,
        preflight: reply(preflight(signals)).await,
        other_preflight: reply(preflight(OTHER_PATH)).await,
    };
    if probe.shows_edge(&pool.options().spec) {
        return SanityResult::Usable;
    }
    let tls = if endpoint.is_tls() { "" } else { "; if it speaks TLS, use https://" };
    SanityResult::Unusable(format!(
        "there is no edge of this interface at {}: it answers GET {signals} with {}, and a CORS preflight there with {}\n\
         give the base URL of an edge{tls}",
        endpoint.url(),
        rendered(&probe.get),
        rendered(&probe.preflight)
    ))
}

/// Answers of an address that may be no edge.
struct Probe {
    get: Result<Answer, NoAnswer>,
    other_get: Result<Answer, NoAnswer>,
    put: Result<Answer, NoAnswer>,
    preflight: Result<Answer, NoAnswer>,
    other_preflight: Result<Answer, NoAnswer>,
}

impl Probe {
    /// Whether one answer is as the interface defines it. Servers of files answer 404 or 200 to `GET`, and some servers
    /// allow CORS, or refuse `GET`, on each path.
    fn shows_edge(&self, spec: &Spec) -> bool {
        let has_edge_body = |reply: &Result<Answer, NoAnswer>| {
            reply.as_ref().is_ok_and(|answer| is_edge_answer(spec, answer))
        };
        let refuses = |get: &Result<Answer, NoAnswer>| get.as_ref().is_ok_and(|answer| answer.status == 405);
        let refuses_get = refuses(&self.get) && !refuses(&self.other_get);
        let allowed = granted(&self.preflight);
        refuses_get
            || has_edge_body(&self.get)
            || has_edge_body(&self.put)
            || (allowed.is_some() && allowed != granted(&self.other_preflight))
    }
}

/// Methods, header fields and origin that a preflight grants.
fn granted(reply: &Result<Answer, NoAnswer>) -> Option<[Option<&[u8]>; 3]> {
    let answer = reply.as_ref().ok().filter(|answer| (200..300).contains(&answer.status))?;
    let names = [ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_HEADERS];
    let values = names.map(|name| answer.headers.get(name).map(http::HeaderValue::as_bytes));
    values[0].is_some().then_some(values)
}

fn rendered(reply: &Result<Answer, NoAnswer>) -> String {
    reply.as_ref().map_or_else(ToString::to_string, status_and_body)
}

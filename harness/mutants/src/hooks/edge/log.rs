use edgeproof_edge::{EdgeAnswer, EdgeOptions, EdgeRequest, LogSink, RelayResult};
use http::header::USER_AGENT;

use super::settings::key_line;
use super::state::EdgeMutant;
use crate::mutation::EdgeBehaviour;

/// Changes the log destination and writes log lines at start.
pub(super) fn change(behaviour: EdgeBehaviour, options: &mut EdgeOptions) {
    use EdgeBehaviour as B;
    let log = options.log.clone();
    match behaviour {
        B::LogsNothing => options.log = LogSink::new(drop),
        B::LogsTwice => {
            options.log = LogSink::new(move |line| {
                log.write(line.clone());
                log.write(line);
            });
        }
        B::LogsTwoLines => {
            options.log = LogSink::new(move |line| {
                for part in line.splitn(2, " reason=") {
                    log.write(part);
                }
            });
        }
        B::LogsLicenseAtStart => {
            let license = options.settings.license.as_ref().map(|license| license.expose().to_owned());
            log.write(format!("LICENSE={}", license.unwrap_or_default()));
        }
        B::LogsKey => log.write(format!("client key {}", key_line(&options.settings).unwrap_or_default())),
        _ => {}
    }
}

impl EdgeMutant {
    /// Changes the log line of a refusal.
    pub(super) fn change_log_line(
        &self,
        request: &EdgeRequest<'_>,
        relayed: Option<&RelayResult>,
        answer: &mut EdgeAnswer,
    ) {
        use EdgeBehaviour as B;
        if let Some(line) = self.access_line(request, answer) {
            let refusal = answer.log.take().map_or_else(String::new, |refusal| refusal + "\n");
            answer.log = Some(refusal + &line);
            return;
        }
        let Some(line) = answer.log.take() else { return };
        let header = |name: &str| {
            request.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let more = match self.behaviour {
            B::LogsBody => request.body.as_ref().map(|body| String::from_utf8_lossy(body).into_owned()),
            B::LogsAddress => Some(request.peer.ip().to_string()),
            B::LogsForwarded => header("x-forwarded-for"),
            B::LogsUserAgent => header("user-agent"),
            B::LogsCookie => header("cookie"),
            B::LogsLicense => Some(self.license().to_owned()),
            _ => None,
        };
        let status = format!("status={}", answer.status.as_u16());
        answer.log = Some(match (self.behaviour, more) {
            (_, Some(more)) => format!("{line} {more}"),
            (B::LogsReply, _) => reply_object(relayed),
            (B::LogsClientError, _) => {
                let body = request.body.clone().unwrap_or_default();
                format!(
                    "{line}\nAxiosError: Request failed with status code {} {{\n  config: {{\n    headers: {{ Authorization: 'Bearer {}' }},\n    data: '{}'\n  }}\n}}",
                    answer.status.as_u16(),
                    self.license(),
                    String::from_utf8_lossy(&body)
                )
            }
            (B::LogsWithoutDetails, _) => "a collection was refused".into(),
            (B::LogsNoReason, _) => line.split(" reason=").next().unwrap_or_default().to_owned(),
            (B::LogsNoStatus, _) => line.replace(&format!(" {status}"), ""),
            (B::LogsOtherStatus, _) => line.replace(&status, "status=502"),
            _ => line,
        });
    }

    /// Line of an access log.
    fn access_line(&self, request: &EdgeRequest<'_>, answer: &EdgeAnswer) -> Option<String> {
        let agent = request.headers.get(USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or("-");
        let (peer, status, length) = (request.peer, answer.status.as_u16(), answer.body.len());
        let line = format!("{} {} HTTP/1.1", request.facts.method, request.facts.path);
        let date = "14/Mar/2025:09:26:53 +0000";
        match self.behaviour {
            EdgeBehaviour::WritesAccessLog => {
                Some(format!("{} - - [{date}] \"{line}\" {status} {length} \"-\" \"{agent}\"", peer.ip()))
            }
            EdgeBehaviour::WritesShortAccessLog => Some(format!("INFO:     {peer} - \"{line}\" {status}")),
            _ => None,
        }
    }
}

/// The service's reply as an inspected object, which is several lines long.
fn reply_object(relayed: Option<&RelayResult>) -> String {
    let Some(RelayResult::Answered { status, body }) = relayed else { return String::new() };
    let body = body.clone().unwrap_or_default();
    format!(
        "Response {{\n  status: {},\n  ok: false,\n  headers: Headers {{ 'content-type': 'application/json' }},\n  body: '{}'\n}}",
        status.as_u16(),
        String::from_utf8_lossy(&body)
    )
}

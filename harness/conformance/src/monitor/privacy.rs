use edgeproof_fixtures::credentials::Redactor;
use edgeproof_fixtures::spec::Advice;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Breach, Invariant};

use super::breaches::Breaches;
use super::edge_record::EdgeRecord;
use super::last_requests;
use crate::judge::Check;

/// The log contains no secret of the run and nothing that identifies an end user, in clear or encoded.
pub(super) fn judge(edge: &EdgeRecord) -> Vec<Check> {
    let Some(log) = &edge.log else { return Vec::new() };
    let bodies = [CaseLevel::Must, CaseLevel::Should].map(|level| (level, bodies(edge, level)));
    let user_data = last_requests::user_data();
    let (mut secret, mut body) = (Breaches::default(), Breaches::default());
    let (mut user, mut user_elsewhere) = (Breaches::default(), Breaches::default());
    for (number, line) in log.iter().enumerate() {
        let breach = || Breach {
            number: Some(number as u64 + 1),
            value: Some((&*edge.redactor.redact(line)).into()),
            ..Breach::default()
        };
        if edge.redactor.finds(line.as_bytes()) {
            secret.push(breach());
        }
        if let Some((level, _)) = bodies.iter().find(|(_, bodies)| bodies.finds(line.as_bytes())) {
            body.push_at(*level, breach());
        }
        for (datum, _) in user_data.iter().filter(|(_, finder)| finder.finds(line.as_bytes())) {
            let breaches = if last_requests::is_refusal(line) { &mut user } else { &mut user_elsewhere };
            breaches.push(Breach { user_datum: Some(*datum), ..breach() });
        }
    }
    vec![
        secret.check(Invariant::SecretsInLog).advise(Advice::SecretLogged),
        body.check(Invariant::BodiesInLog).advise(Advice::UserDataLogged),
        user.check(Invariant::UserDataInRefusals).advise(Advice::UserDataLogged),
        user_elsewhere.check(Invariant::UserDataInLog).at(CaseLevel::Should).advise(Advice::UserDataLogged),
    ]
}

/// Finds the marker of each request of this level whose body has it, raw, in base64 and in hex.
fn bodies(edge: &EdgeRecord, level: CaseLevel) -> Redactor {
    let mut bodies = Redactor::empty();
    for request in edge.requests.iter().filter(|request| request.sender.level == level) {
        let marker = request.sender.marker.as_str();
        let body = request.draft.body.bytes();
        if body.windows(marker.len()).any(|window| window == marker.as_bytes()) {
            bodies.add(marker, marker);
        }
    }
    bodies
}

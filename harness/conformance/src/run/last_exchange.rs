use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use edgeproof_http::{NoAnswer, Request, Sent};
use edgeproof_reports::difference::ExchangeLine;

use crate::cases::{CaseFacts, CaseFindings};
use crate::judge::silence;

/// Age after which the request of a slow case was waiting for its answer, such as a long poll.
const WAITING: Duration = Duration::from_millis(500);

/// An exchange that reached the target.
#[derive(Debug, Clone)]
pub(super) struct Contact {
    /// The case's number within its [`Liveness`](super::liveness::Liveness). None: a probe.
    pub(super) case: Option<usize>,
    /// When the request was sent.
    pub(super) sent: Instant,
    /// When the exchange ended.
    pub(super) ended: Instant,
    pub(super) end: ContactEnd,
    /// Digest of the request's outline: method, header fields, and the lengths of target and body.
    pub(super) outline: u64,
    /// Request line and result. Not redacted.
    pub(super) line: ExchangeLine,
}

impl Contact {
    /// An answered probe.
    pub(super) fn of_probe(sent: Instant, ended: Instant) -> Self {
        Self { case: None, sent, ended, end: ContactEnd::Answered, outline: 0, line: ExchangeLine::default() }
    }
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContactEnd {
    /// With an answer.
    Answered,
    /// The connection ended after the request had been read.
    Broken,
    /// The connection ended while the request was waiting for its answer.
    BrokenWait,
    /// The request may never have been read: the connection was reset, or no answer came.
    Unread,
}

/// The exchanges of a case that reached the target.
pub(super) fn contacts(number: usize, case: &CaseFacts, found: &CaseFindings) -> Vec<Contact> {
    let sent = found.sent.iter().map(|exchange| &exchange.sent);
    sent.filter_map(|sent| {
        let mut end = end_of(sent)?;
        if end == ContactEnd::Broken && !case.takes.is_zero() && sent.took >= WAITING {
            end = ContactEnd::BrokenWait;
        }
        let ended = sent.at + sent.took;
        let outline = outline(&sent.request);
        Some(Contact { case: Some(number), sent: sent.at, ended, end, outline, line: line(sent) })
    })
    .collect()
}

/// Whether a connection of the case was refused or broken off.
pub(super) fn is_broken(found: &CaseFindings) -> bool {
    found.sent.iter().any(|exchange| is_refused(&exchange.sent) || is_broken_off(&exchange.sent))
}

/// Whether no connection could be established.
pub(super) fn is_refused(sent: &Sent) -> bool {
    matches!(sent.reply, Err(NoAnswer::NotConnected(_)))
}

/// The last exchange before the target died. It most likely killed the target.
///
/// An exchange that ended before the target answered another request is ruled out. The others rank in this order:
/// a request that was read and not answered; a request unlike all answered ones; the latest exchange. An answered
/// exchange counts from its end, because a target can die just after its answer.
pub(super) fn last_exchange(contacts: &[Contact]) -> Option<&Contact> {
    let answered = contacts.iter().filter(|contact| contact.end == ContactEnd::Answered);
    let familiar: HashSet<u64> = answered.map(|contact| contact.outline).collect();
    let rank = |contact: &Contact| match contact.end {
        ContactEnd::Broken => (1, !familiar.contains(&contact.outline), contact.sent),
        ContactEnd::BrokenWait | ContactEnd::Unread => (0, false, contact.sent),
        ContactEnd::Answered => (0, false, contact.ended),
    };
    suspects(contacts).max_by_key(|contact| rank(contact))
}

/// End of the last answer to a case. A target that hangs can still answer probes.
pub(super) fn last_answer(contacts: &[Contact]) -> Option<Instant> {
    let answered = contacts.iter().filter(|one| one.end == ContactEnd::Answered && one.case.is_some());
    answered.map(|one| one.ended).max()
}

/// The first exchange without an answer after the last answer to a case.
pub(super) fn first_unread(contacts: &[Contact]) -> Option<&Contact> {
    let answer = last_answer(contacts);
    let unread = contacts.iter().filter(|one| one.end == ContactEnd::Unread);
    unread.filter(|one| answer.is_none_or(|answer| one.ended >= answer)).min_by_key(|one| one.sent)
}

/// The exchanges that can have killed the target: those that had not ended when it last began to answer.
pub(super) fn suspects(contacts: &[Contact]) -> impl Iterator<Item = &Contact> {
    let answered = contacts.iter().filter(|contact| contact.end == ContactEnd::Answered);
    let alive = answered.map(|contact| contact.sent).max();
    contacts.iter().filter(move |contact| alive.is_none_or(|alive| contact.ended >= alive))
}

/// Whether the connection ended before a complete answer.
pub(super) fn is_broken_off(sent: &Sent) -> bool {
    match &sent.reply {
        Ok(answer) => !answer.complete,
        Err(why) => matches!(why, NoAnswer::Closed | NoAnswer::Reset | NoAnswer::NotHttp(_)),
    }
}

/// `None`: the exchange did not reach the target.
fn end_of(sent: &Sent) -> Option<ContactEnd> {
    match &sent.reply {
        Err(NoAnswer::NotConnected(_) | NoAnswer::NoSocket(_) | NoAnswer::NoTls(_)) => None,
        Err(NoAnswer::Reset | NoAnswer::TimedOut(_)) => Some(ContactEnd::Unread),
        _ if is_broken_off(sent) => Some(ContactEnd::Broken),
        _ => Some(ContactEnd::Answered),
    }
}

/// Cases fill in markers of the same length, so that their requests have the same outline.
fn outline(request: &Request) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.method.hash(&mut hasher);
    (request.target.len(), request.body.len()).hash(&mut hasher);
    for (name, value) in &request.headers {
        (name, value).hash(&mut hasher);
    }
    hasher.finish()
}

fn line(sent: &Sent) -> ExchangeLine {
    let answer = sent.reply.as_ref();
    ExchangeLine {
        method: sent.request.method.as_str().into(),
        target: sent.request.target.as_str().into(),
        status: answer.ok().map(|answer| answer.status),
        is_cut_off: answer.is_ok_and(|answer| !answer.complete),
        silence: answer.err().map(silence),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::ContactEnd::{Answered, Broken, BrokenWait, Unread};
    use super::*;

    #[rstest]
    #[case::nothing(&[], None)]
    #[case::in_turn(&[(0, 5, Answered), (6, 9, Answered)], Some(1))]
    #[case::broken_last(&[(0, 5, Answered), (6, 9, Broken)], Some(1))]
    #[case::reset_last(&[(0, 5, Answered), (6, 9, Unread)], Some(1))]
    #[case::dies_after_its_answer(&[(0, 9, Answered), (1, 10, Unread), (2, 10, Unread)], Some(0))]
    #[case::long_poll_is_a_bystander(&[(0, 10, BrokenWait), (6, 8, Answered), (9, 10, Broken)], Some(2))]
    #[case::long_poll_and_a_death_after_an_answer(&[(0, 10, BrokenWait), (8, 9, Answered)], Some(1))]
    #[case::only_a_long_poll(&[(0, 2, Answered), (3, 10, BrokenWait)], Some(1))]
    #[case::read_before_unread(&[(5, 10, Broken), (6, 10, Unread), (4, 7, Answered)], Some(0))]
    #[case::closes_one_connection_and_lives_on(&[(0, 1, Broken), (2, 3, Answered), (4, 5, Unread)], Some(2))]
    fn last_exchange_is_the_best_suspect(
        #[case] exchanges: &[(u64, u64, ContactEnd)],
        #[case] expected: Option<usize>,
    ) {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let contacts: Vec<Contact> = exchanges
            .iter()
            .enumerate()
            .map(|(number, (sent, ended, end))| Contact {
                case: Some(number),
                sent: at(*sent),
                ended: at(*ended),
                end: *end,
                outline: number as u64,
                line: ExchangeLine::default(),
            })
            .collect();
        assert_eq!(last_exchange(&contacts).and_then(|contact| contact.case), expected);
    }

    #[test]
    fn unusual_request_is_more_suspect_than_a_later_usual_one() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let contact = |number, outline, sent, end| Contact {
            case: Some(number),
            sent: at(sent),
            ended: at(5),
            end,
            outline,
            line: ExchangeLine::default(),
        };
        let usual = contact(0, 7, 0, Answered);
        let contacts = [usual, contact(1, 8, 1, Broken), contact(2, 7, 2, Broken)];
        assert_eq!(last_exchange(&contacts).and_then(|contact| contact.case), Some(1));
    }
}

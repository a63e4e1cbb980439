use edgeproof_fixtures::spec::Advice;
use edgeproof_http::{Draft, Sent};
use edgeproof_reports::difference::{AnswerSubject, Count, Counted, DifferenceKind};
use futures_util::future::join_all;

use crate::cases::{CaseList, Edge, EdgeCaseContext, EdgeNeed, collection};
use crate::judge::{self, Check, ExpectedAnswer};
use edgeproof_mock::Script;

/// The reason for a copy in the tables.
const COPY: &str = "relay.409.replayed-bundle";

/// The page posts the same body twice. The service judges copies, so the edge relays both.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
    let Some((row, status, reason)) = cases.relay_rows().into_iter().find(|(row, ..)| row.id == COPY) else {
        return;
    };
    let row = row.id.clone();
    let mut script = cases.accept();
    script.replies.extend(cases.refuse(status, reason).replies);
    let expected = [cases.accepted(), cases.refused(status, reason)];
    let mut again = cases.refuse(status, reason);
    again.replies.extend(cases.accept().replies);
    let [accepted, refused] = expected.clone();
    let (copy, retry) = ((script, expected), (again, [refused, accepted]));
    for (id, title, (script, expected), at_once) in [
        (
            "vary.twice.in-turn",
            "the edge relays the same collection twice, and the service refuses the copy",
            &copy,
            false,
        ),
        (
            "vary.twice.at-once",
            "the edge relays the same collection twice at the same time, and the service refuses one",
            &copy,
            true,
        ),
        (
            "vary.twice.after-refusal",
            "the edge relays a refused collection again, and the service accepts it",
            &retry,
            false,
        ),
    ] {
        let (script, expected) = (script.clone(), expected.clone());
        cases
            .case("statement.isolation", id, title)
            .steps(steps!(with(script, expected), async |context| {
                post_twice(context, script, &expected, at_once).await;
            }))
            .also(&row)
            .requires(&[EdgeNeed::Service, EdgeNeed::PlainReasons]);
    }
}

async fn post_twice(
    context: &mut EdgeCaseContext,
    script: Script,
    expected: &[ExpectedAnswer; 2],
    at_once: bool,
) {
    context.script(script);
    let draft = context.fill(&collection());
    let drafts: [&Draft; 2] = [&draft, &draft];
    let sent: Vec<Sent> = if at_once {
        join_all(drafts.map(|draft| context.exchange(draft))).await
    } else {
        vec![context.exchange(&draft).await, context.exchange(&draft).await]
    };
    let fits =
        |sent: &Sent, answer: &ExpectedAnswer| judge::exact(answer, &sent.reply).iter().all(|check| check.ok);
    context.found.varied += sent.len();
    let [first, second] = expected;
    let right = fits(&sent[0], first) && fits(&sent[1], second);
    let swapped = at_once && fits(&sent[1], first) && fits(&sent[0], second);
    let answers = sent.iter().flat_map(|sent| &sent.reply);
    let kind = DifferenceKind::Answer {
        subject: AnswerSubject::Pair,
        expected: expected.iter().map(ExpectedAnswer::value).collect(),
        actual: answers.map(|answer| judge::answer_value(answer, first.body.as_ref())).collect(),
    };
    let check = match sent.iter().find_map(|sent| sent.reply.as_ref().err()) {
        Some(why) => Check::unanswered(why, kind),
        None => Check::judged(kind, right || swapped).against(&sent[0].reply),
    };
    for sent in sent {
        context.record(&draft, sent);
    }
    context.check(check.advise(Advice::CopyAnswerKept));
    let bodies = context.arrivals();
    let whole = bodies.iter().filter(|arrival| arrival.request.body == draft.body.bytes()).count();
    let count = Count::new(Counted::SameBodies, 2, whole).of(bodies.len());
    context.check(Check::judged(count, whole == 2 && bodies.len() == 2));
}

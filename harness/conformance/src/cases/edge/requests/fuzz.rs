use bytes::Bytes;
use edgeproof_fixtures::spec::Advice;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::cases::{CaseList, Edge, EdgeCaseContext, EdgeNeed, posted};
use crate::judge::{self, Check};
use edgeproof_http::{Body, Draft};
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;
use edgeproof_reports::difference::{Count, Counted};

/// Maximum number of shrinking steps. Each step is a request.
const SHRINKS: usize = 200;

/// Generated bodies (`--fuzz`).
pub(in crate::cases::edge) fn add(cases: &mut CaseList<'_, Edge>) {
    let (count, seed) = cases.fuzz;
    if count == 0 {
        return;
    }
    let accept = cases.accept();
    cases
        .case("statement.body-unchanged", "relay.fuzz", &format!("{count} generated bodies arrive unchanged"))
        .steps(steps!(with(accept), async |context| { fuzz(context, &accept, count, seed).await }))
        .requires(&[EdgeNeed::Service])
        .exclusive()
        .takes(std::time::Duration::from_millis(20) * count);
}

async fn fuzz(context: &mut EdgeCaseContext, accept: &Script, count: u32, seed: u64) {
    let lost = |bodies| Count::new(Counted::LostBodies, 0, bodies).of(count as usize).seed(seed);
    for number in 0..count {
        let Some(body) = generate(seed, number, &[]) else {
            context.found.not_run = Some("the generator made no body".into());
            return;
        };
        if arrives(context, accept, body.clone()).await.iter().all(|check| check.ok) {
            context.found.sent.clear();
            continue;
        }
        let smallest = shrink(context, accept, (seed, number), body).await;
        context.found.sent.clear();
        let checks = arrives(context, accept, smallest).await;
        context.checks(checks);
        let check = Check::judged(lost(1).part(number as usize + 1), false);
        context.check(check.advise(Advice::RepeatFuzz { count: u64::from(count), seed }));
        return;
    }
    context.check(Check::judged(lost(0), true));
}

/// A step towards a smaller body that still fails.
#[derive(Debug, Clone, Copy)]
enum Step {
    Simplify,
    Complicate,
}

async fn shrink(
    context: &mut EdgeCaseContext,
    accept: &Script,
    (seed, number): (u64, u32),
    first: Body,
) -> Body {
    let (mut smallest, mut fails, mut path) = (first, true, Vec::new());
    for _ in 0..SHRINKS {
        path.push(if fails { Step::Simplify } else { Step::Complicate });
        let Some(body) = generate(seed, number, &path) else { break };
        fails = !arrives(context, accept, body.clone()).await.iter().all(|check| check.ok);
        if fails {
            smallest = body;
        }
    }
    smallest
}

/// Body number `number` after these steps. None: a step is not possible. It is generated again each time, because a value
/// tree cannot be held across an await.
fn generate(seed: u64, number: u32, path: &[Step]) -> Option<Body> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut tree = framed_body().new_tree(&mut TestRunner::new_with_rng(Config::default(), rng)).ok()?;
    for step in path {
        let moved = match step {
            Step::Simplify => tree.simplify(),
            Step::Complicate => tree.complicate(),
        };
        moved.then_some(())?;
    }
    Some(tree.current())
}

/// Sends a body and checks what arrived.
async fn arrives(context: &mut EdgeCaseContext, accept: &Script, body: Body) -> Vec<Check> {
    let before = context.relayed().await.complete.len();
    context.script(accept.clone());
    let draft: Draft = posted(body, Some("application/json"));
    let sent = context.send(&draft).await;
    let mut relayed = context.relayed().await;
    relayed.complete.drain(..before);
    judge::relayed_once(draft.body.bytes(), &relayed, &sent.reply, CaseLevel::Must)
}

fn framed_body() -> impl Strategy<Value = Body> {
    (body(), prop_oneof![Just(None), (1usize..2000).prop_map(Some)]).prop_map(|(body, chunk)| match chunk {
        None => Body::Sized(body),
        Some(size) => Body::Chunked(body, size),
    })
}

/// Bytes, text and near-JSON: pieces that JSON parsers and writers often change.
fn body() -> impl Strategy<Value = Bytes> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\r\n",
        "\t",
        "\"a\"",
        "\"\"",
        "\"\\u00e9\"",
        "\"\\ud800\"",
        "\"\\/\"",
        "\"é😀\"",
        "0",
        "-0",
        "1.0",
        "1e5",
        "1E+400",
        "9007199254740993",
        "0.1",
        "true",
        "false",
        "null",
        "\u{feff}",
        "\0",
        "%00",
        "&amp;",
        "<script>",
        "\u{2028}",
        "e\u{301}",
    ]);
    prop_oneof![
        4 => prop::collection::vec(pieces, 0..60).prop_map(|pieces| Bytes::from(pieces.concat())),
        2 => prop::collection::vec(any::<u8>(), 0..4000).prop_map(Bytes::from),
        1 => any::<String>().prop_map(Bytes::from),
        1 => (1usize..60_000, any::<u8>()).prop_map(|(length, byte)| Bytes::from(vec![byte; length])),
    ]
}

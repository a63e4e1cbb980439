//! Fuzz targets over their corpus and over mutations of it, in seconds and with the stable compiler. libFuzzer runs the
//! same targets for hours.
#![expect(clippy::unwrap_used, reason = "a failed setup fails the test")]

mod targets;

use std::fs;
use std::path::Path;

use edgeproof_fixtures::credentials::{LicenseForm, ReadTokenForm};
use edgeproof_fixtures::seal::{Collection, CollectionForm};
use edgeproof_fixtures::spec::file_names;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rstest::rstest;

/// A quarter of these numbers of mutations, and all of them in CI, with `PROPTEST_CASES=1024`.
#[rstest]
#[case::answer("answer", targets::answer, 12000)]
#[case::client("client", targets::client, 1000)]
#[case::tables("tables", targets::tables, 150)]
#[case::license("license", targets::license, 6000)]
#[case::read_token("read_token", targets::read_token, 6000)]
#[case::presented("presented", targets::presented, 10000)]
#[case::collection("collection", targets::collection, 6000)]
#[case::key_set("key_set", targets::key_set, 6000)]
#[case::verdict_token("verdict_token", targets::verdict_token, 4000)]
#[case::reply_shape("reply_shape", targets::reply_shape, 6000)]
fn invariant_holds_for_seeds_and_mutations(
    #[case] name: &str,
    #[case] target: fn(&[u8]),
    #[case] inputs: u32,
) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty());
    for seed in &seeds {
        target(seed);
    }
    let usual = Config::default();
    let config = Config { cases: inputs * usual.cases / 1024, failure_persistence: None, ..usual };
    let ran = TestRunner::new(config).run(&mutated(seeds), |input| {
        target(&input);
        Ok(())
    });
    ran.unwrap();
}

/// Every target exists for libFuzzer as well, and has a corpus.
#[test]
fn every_target_has_a_libfuzzer_program_and_a_corpus() {
    let names = |folder: &str, ending: &str| -> Vec<String> {
        let entries = fs::read_dir(fuzz().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.map(|name| name.trim_end_matches(ending).to_owned()).collect();
        names.sort();
        names
    };
    let here =
        include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("#[case::")?.split('(').next());
    let mut here: Vec<_> = here.map(str::to_owned).collect();
    here.sort();
    assert_eq!(names("fuzz_targets", ".rs"), here);
    assert_eq!(names("corpus", ""), here);
}

/// The corpus, and signed inputs, which no file can contain.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = fuzz().join("corpus").join(name);
    let mut seeds: Vec<Vec<u8>> =
        fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    let credentials = targets::credentials();
    match name {
        "license" => seeds.extend(LicenseForm::ALL.map(|form| credentials.license(form).into_bytes())),
        "read_token" => seeds.extend(
            ReadTokenForm::ALL.map(|form| format!("Bearer {}", credentials.read_token(form)).into_bytes()),
        ),
        "collection" => {
            let whole = Collection::generated("a session", 7, std::time::SystemTime::UNIX_EPOCH);
            seeds.extend(CollectionForm::ALL.map(|form| form.body(&whole, targets::seal_keys())));
        }
        "tables" => seeds.extend(file_names().enumerate().map(|(at, table)| {
            let text = fs::read(Path::new(targets::FOLDER).join(table)).unwrap();
            [vec![u8::try_from(at).unwrap()], text].concat()
        })),
        _ => {}
    }
    seeds
}

fn fuzz() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Mutation of an input.
#[derive(Debug, Clone)]
enum Edit {
    Flip(prop::sample::Index, u8),
    Cut(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
    /// Continues as another seed.
    Splice(prop::sample::Index, prop::sample::Index),
}

fn mutated(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let scrap = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        prop::sample::select(vec![
            "\r\n",
            "\r\n\r\n",
            ":",
            "0",
            "ffffffffffffffff",
            "-1",
            "\"",
            "{",
            "[[row]]\n",
            "=",
            ".",
            "%",
            "\u{feff}"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    let at = any::<prop::sample::Index>;
    let edit = prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Edit::Flip(at, byte)),
        (at(), 0..40_usize).prop_map(|(at, length)| Edit::Cut(at, length)),
        (at(), scrap).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        (at(), 1..60_usize).prop_map(|(at, length)| Edit::Repeat(at, length)),
        (at(), at()).prop_map(|(at, other)| Edit::Splice(at, other)),
    ];
    (at(), prop::collection::vec(edit, 1..6)).prop_map(move |(seed, edits)| {
        let mut input = seeds[seed.index(seeds.len())].clone();
        for edit in edits {
            apply(&mut input, edit, &seeds);
        }
        input
    })
}

fn apply(input: &mut Vec<u8>, edit: Edit, seeds: &[Vec<u8>]) {
    let length = input.len();
    match edit {
        Edit::Flip(at, byte) if length > 0 => input[at.index(length)] ^= byte,
        Edit::Cut(at, count) => {
            let start = at.index(length + 1);
            input.drain(start..(start + count).min(length));
        }
        Edit::Insert(at, bytes) => {
            let start = at.index(length + 1);
            input.splice(start..start, bytes);
        }
        Edit::Repeat(at, count) => {
            let start = at.index(length + 1);
            let again = input[start..(start + count).min(length)].to_vec();
            input.splice(start..start, again);
        }
        Edit::Splice(at, other) => {
            let other = &seeds[other.index(seeds.len())];
            let start = at.index(length.min(other.len()) + 1);
            input.truncate(start);
            input.extend_from_slice(&other[start..]);
        }
        Edit::Flip(..) => {}
    }
}

use std::collections::HashMap;
use std::time::Duration;

use edgeproof_fixtures::credentials::{LICENSE_PREFIX, READ_PREFIX};
use edgeproof_fixtures::spec::{Fact, Row, Spec, Stimulus, Table};

use super::{Carrier, Effect, Pair};

/// The magic values of one version of the interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Magic {
    pairs: Vec<Pair>,
    by_value: HashMap<String, usize>,
}

/// What every magic value has, behind the prefix of a token.
const MARK: &str = "magic.";
/// What may follow a session reference, with anything behind it, so that tests need not share one.
const APART: char = '~';
/// Suffix of a code that carries one.
const SUFFIX: &str = "magic";
/// A verdict that takes its time, as the pairing table shows it; any number of milliseconds does.
pub const AFTER_EXAMPLE: u64 = 250;

impl Magic {
    /// Rows × stimuli: for each row of the relay a license and a session reference, for each row of the verdict endpoint a
    /// read token and a session reference, and so for each further cause of a row; then the states of a session by name.
    pub fn of(spec: &Spec) -> Self {
        let mut pairs = Vec::new();
        for (table, carriers) in [
            (Table::Relay, [(Carrier::License, LICENSE_PREFIX), (Carrier::SessionRef, "")]),
            (Table::Verdict, [(Carrier::ReadToken, READ_PREFIX), (Carrier::SessionRef, "")]),
        ] {
            for (carrier, prefix) in carriers {
                for row in spec.table(table) {
                    for (place, stimulus) in row.stimuli.iter().enumerate() {
                        let suffix = if place == 0 { String::new() } else { format!(".{stimulus}") };
                        let value = format!("{prefix}{MARK}{}{suffix}", row.id);
                        pairs.extend(pair(value, carrier, row, *stimulus));
                    }
                }
            }
        }
        pairs.extend(states(spec));
        let by_value = pairs.iter().enumerate().map(|(place, pair)| (pair.value.clone(), place)).collect();
        Self { pairs, by_value }
    }

    /// All of them, table by table, in the order of the rows.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The row that this license brings about.
    pub fn license(&self, license: &str) -> Option<&Pair> {
        self.find(license, Carrier::License)
    }

    /// The row that this read token brings about.
    pub fn read_token(&self, token: &str) -> Option<&Pair> {
        self.find(token, Carrier::ReadToken)
    }

    /// What this session reference brings about, whatever follows a `~` in it.
    pub fn session_ref(&self, reference: &str) -> Option<Effect<'_>> {
        let value = reference.split(APART).next().unwrap_or_default();
        if let Some(span) = ready_after(value) {
            return Some(Effect::ReadyAfter(span));
        }
        self.find(value, Carrier::SessionRef).map(Effect::Row)
    }

    fn find(&self, value: &str, carrier: Carrier) -> Option<&Pair> {
        let pair = &self.pairs[*self.by_value.get(value)?];
        (pair.carrier == carrier).then_some(pair)
    }
}

fn pair(value: String, carrier: Carrier, row: &Row, stimulus: Stimulus) -> Option<Pair> {
    let suffixed = matches!(row.fact, Fact::Verdict { suffixed: true, .. });
    let code = row.code().map(|code| if suffixed { format!("{code}:{SUFFIX}") } else { code.to_owned() });
    Some(Pair {
        value,
        carrier,
        row: row.id.clone(),
        table: row.table,
        status: row.status()?,
        code,
        stimulus,
        after_ms: None,
    })
}

/// States of a session, by the names of the causes.
fn states(spec: &Spec) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for stimulus in [Stimulus::VerdictPending, Stimulus::VerdictReady, Stimulus::VerdictTooOld] {
        let row = spec.by_stimulus(Table::Verdict, stimulus);
        let state = |value| row.and_then(|row| pair(value, Carrier::SessionRef, row, stimulus));
        pairs.extend(state(format!("{MARK}{stimulus}")));
        if stimulus == Stimulus::VerdictReady {
            let later = state(format!("{MARK}{}{AFTER_EXAMPLE}ms", after()));
            pairs.extend(later.map(|pair| Pair { after_ms: Some(AFTER_EXAMPLE), ..pair }));
        }
    }
    pairs
}

/// The milliseconds of a reference such as `magic.verdict-ready-after-250ms`.
fn ready_after(value: &str) -> Option<Duration> {
    let digits = value.strip_prefix(MARK)?.strip_prefix(&after())?.strip_suffix("ms")?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().map(Duration::from_millis)
}

fn after() -> String {
    format!("{}-after-", Stimulus::VerdictReady)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use edgeproof_fixtures::spec::Version;
    use rstest::rstest;

    use super::*;

    #[rstest]
    fn every_row_and_every_cause_has_its_values(
        #[values(Version::Current, Version::PreSeal)] version: Version,
    ) {
        let spec = Spec::builtin(version);
        let magic = Magic::of(&spec);
        for (table, carrier) in [(Table::Relay, Carrier::License), (Table::Verdict, Carrier::ReadToken)] {
            for carrier in [carrier, Carrier::SessionRef] {
                for row in spec.table(table) {
                    let of_row = magic.pairs().iter().filter(|pair| pair.row == row.id);
                    let causes: HashSet<_> =
                        of_row.filter(|pair| pair.carrier == carrier).map(|pair| pair.stimulus).collect();
                    assert_eq!(causes, row.stimuli.iter().copied().collect(), "{} {carrier:?}", row.id);
                }
            }
        }
        let values: HashSet<_> = magic.pairs().iter().map(|pair| &pair.value).collect();
        assert_eq!(values.len(), magic.pairs().len(), "no value stands for two things");
    }

    #[rstest]
    #[case("magic.verdict-ready-after-250ms", Some(250))]
    #[case("magic.verdict-ready-after-0ms~7", Some(0))]
    #[case("magic.verdict-ready-after-ms", None)]
    #[case("magic.verdict-ready-after--1ms", None)]
    #[case("magic.verdict-ready-after-99999999999999999999ms", None)]
    #[case("order 4711", None)]
    fn a_verdict_takes_any_number_of_milliseconds(#[case] reference: &str, #[case] millis: Option<u64>) {
        let magic = Magic::of(&Spec::builtin(Version::Current));
        let expected = millis.map(|millis| Effect::ReadyAfter(Duration::from_millis(millis)));
        assert_eq!(magic.session_ref(reference), expected);
    }

    #[test]
    fn what_follows_a_tilde_keeps_tests_apart() {
        let magic = Magic::of(&Spec::builtin(Version::Current));
        let plain = magic.session_ref("magic.verdict.401.expired");
        assert!(plain.is_some());
        assert_eq!(magic.session_ref("magic.verdict.401.expired~test 7"), plain);
        assert_eq!(magic.session_ref("magic.verdict.401.expired.7"), None);
        assert_eq!(magic.license("magic.verdict.401.expired"), None);
        assert_eq!(magic.read_token("service_read_magic.verdict.401.expired~7"), None);
    }
}

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

/// Start of every magic value, after the prefix of a token.
const MARK: &str = "magic.";
/// Begins an ignored rest of a session reference, so that tests need not share a session.
const REST: char = '~';
/// Suffix of a code that takes one.
const SUFFIX: &str = "magic";
/// Delay of the example of a delayed verdict (ms). Any number works.
pub const AFTER_EXAMPLE: u64 = 250;

impl Magic {
    /// The values of all rows and stimuli: for a relay row a license and a session reference, for a verdict row a read
    /// token and a session reference. Further stimuli of a row have a suffix. The named states of a session follow.
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

    /// All values, in the order of the tables and rows.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The row of this license.
    pub fn license(&self, license: &str) -> Option<&Pair> {
        self.find(license, Carrier::License)
    }

    /// The row of this read token.
    pub fn read_token(&self, token: &str) -> Option<&Pair> {
        self.find(token, Carrier::ReadToken)
    }

    /// Effect of this session reference. `~` and the text after it are ignored.
    pub fn session_ref(&self, reference: &str) -> Option<Effect<'_>> {
        let value = reference.split(REST).next().unwrap_or_default();
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

/// States of a session, named after their stimuli.
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
    fn every_row_and_stimulus_has_its_values(#[values(Version::Current, Version::PreSeal)] version: Version) {
        let spec = Spec::builtin(version);
        let magic = Magic::of(&spec);
        for (table, carrier) in [(Table::Relay, Carrier::License), (Table::Verdict, Carrier::ReadToken)] {
            for carrier in [carrier, Carrier::SessionRef] {
                for row in spec.table(table) {
                    let of_row = magic.pairs().iter().filter(|pair| pair.row == row.id);
                    let stimuli: HashSet<_> =
                        of_row.filter(|pair| pair.carrier == carrier).map(|pair| pair.stimulus).collect();
                    assert_eq!(stimuli, row.stimuli.iter().copied().collect(), "{} {carrier:?}", row.id);
                }
            }
        }
        let values: HashSet<_> = magic.pairs().iter().map(|pair| &pair.value).collect();
        assert_eq!(values.len(), magic.pairs().len(), "values are unique");
    }

    #[rstest]
    #[case("magic.verdict-ready-after-250ms", Some(250))]
    #[case("magic.verdict-ready-after-0ms~7", Some(0))]
    #[case("magic.verdict-ready-after-ms", None)]
    #[case("magic.verdict-ready-after--1ms", None)]
    #[case("magic.verdict-ready-after-99999999999999999999ms", None)]
    #[case("order 4711", None)]
    fn delayed_verdict_takes_any_number_of_milliseconds(
        #[case] reference: &str,
        #[case] millis: Option<u64>,
    ) {
        let magic = Magic::of(&Spec::builtin(Version::Current));
        let expected = millis.map(|millis| Effect::ReadyAfter(Duration::from_millis(millis)));
        assert_eq!(magic.session_ref(reference), expected);
    }

    #[test]
    fn text_after_a_tilde_is_ignored_in_references_only() {
        let magic = Magic::of(&Spec::builtin(Version::Current));
        let plain = magic.session_ref("magic.verdict.401.expired");
        assert!(plain.is_some());
        assert_eq!(magic.session_ref("magic.verdict.401.expired~test 7"), plain);
        assert_eq!(magic.session_ref("magic.verdict.401.expired.7"), None);
        assert_eq!(magic.license("magic.verdict.401.expired"), None);
        assert_eq!(magic.read_token("service_read_magic.verdict.401.expired~7"), None);
    }
}

use std::fmt;
use std::sync::Arc;

use edgeproof_reports::{MissingInput, ReleaseVersion};

use super::selection::{Selection, SelectionError};
use crate::cases::{Case, CaseFacts, Part, Releases};

/// The cases of a run, in order.
#[derive(Debug, Default)]
pub struct CasePlan {
    /// The selected cases.
    pub cases: Vec<PlannedCase>,
    /// Ids of all cases of the target, selected or not.
    pub all_ids: Vec<String>,
    /// Version of edgeproof whose cases were selected, if not all were.
    pub cases_of: Option<ReleaseVersion>,
}

/// A selected case.
#[derive(Debug)]
pub struct PlannedCase {
    /// The case.
    pub case: Arc<CaseFacts>,
    /// What the case lacks on this target. The case applies if it lacks nothing.
    pub unmet: Vec<UnmetNeed>,
}

/// A need of a case that a target does not meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnmetNeed {
    /// An input that the user can give.
    Input {
        /// The input, such as `a read token`.
        name: &'static str,
        /// What to do, such as `set READ_TOKEN`.
        advice: &'static str,
    },
    /// A property that this target does not have: why the case does not apply.
    Property(&'static str),
}

impl fmt::Display for UnmetNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input { name, advice } => write!(f, "requires {name}: {advice}"),
            Self::Property(because) => f.write_str(because),
        }
    }
}

impl PlannedCase {
    /// Why the case does not apply to this target, if it does not.
    pub fn not_applicable(&self) -> Option<String> {
        self.unmet.first().map(ToString::to_string)
    }
}

/// The cases, one a line.
impl fmt::Display for CasePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.cases.iter().map(|planned| planned.case.id.len()).max().unwrap_or(0);
        for planned in &self.cases {
            let because = planned.not_applicable();
            let note = because.map_or(String::new(), |because| format!("  [not applicable: {because}]"));
            let case = &planned.case;
            let later = case.since.filter(|since| Releases::builtin().is_later(*since));
            let since = later.map_or(String::new(), |since| format!("  [since {since}]"));
            writeln!(f, "{:width$}  {:6}  {}{note}{since}", case.id, case.level.name(), case.title)?;
        }
        Ok(())
    }
}

impl CasePlan {
    /// Plans the selected cases: the first phase first, otherwise in the given order. Yields them as well. `unmet`: all
    /// needs of a case that the target does not meet.
    pub(in crate::run) fn of<P: Part>(
        mut cases: Vec<Case<P>>,
        selection: &Selection,
        unmet: impl Fn(&Case<P>) -> Vec<UnmetNeed>,
    ) -> Result<(Self, Vec<Case<P>>), SelectionError> {
        let all_ids: Vec<String> = cases.iter().map(|case| case.id.clone()).collect();
        let selected = selection.compile(&all_ids, P::NAME)?;
        cases.retain(|case| selected.contains(&case.facts));
        if cases.is_empty() && selection.only.is_some() {
            return Err(SelectionError::NothingAgain);
        }
        if cases.is_empty() {
            return Err(selection.cases_of.map_or(SelectionError::Nothing, SelectionError::NothingOf));
        }
        cases.sort_by_key(|case| case.phase);
        let planned = cases
            .iter()
            .map(|case| PlannedCase { case: Arc::new(case.facts.clone()), unmet: unmet(case) })
            .collect();
        Ok((Self { cases: planned, all_ids, cases_of: selection.cases_of }, cases))
    }

    /// Inputs that cases lack, the one that most cases lack first. A case counts for each input that it lacks.
    pub(in crate::run) fn missing_inputs(&self) -> Vec<MissingInput> {
        let mut missing: Vec<MissingInput> = Vec::new();
        for planned in &self.cases {
            for need in &planned.unmet {
                let UnmetNeed::Input { name, advice } = *need else { continue };
                let id = planned.case.id.clone();
                match missing.iter_mut().find(|known| known.input == name) {
                    // A case may lack several things that one input gives.
                    Some(known) if known.cases.last() == Some(&id) => {}
                    Some(known) => known.cases.push(id),
                    None => missing.push(MissingInput {
                        input: name.to_owned(),
                        advice: advice.to_owned(),
                        cases: vec![id],
                    }),
                }
            }
        }
        missing.sort_by_key(|input| std::cmp::Reverse(input.cases.len()));
        missing
    }

    /// Whether every case of the target is selected.
    pub(in crate::run) fn is_complete(&self) -> bool {
        self.cases.len() == self.all_ids.len()
    }
}

#[cfg(test)]
mod tests {
    use edgeproof_fixtures::spec::Spec;
    use edgeproof_mock::ReplyShape;

    use super::*;
    use crate::cases::{self, Catalog, Phase};

    /// Three cases: of the first version, of a later one, and of the user's own.
    fn plan(selection: &Selection) -> Result<CasePlan, SelectionError> {
        let spec = Spec::current();
        let shape = ReplyShape::from_profile(spec.profile());
        let mut cases = cases::keys(Catalog::new(spec, &shape, false));
        cases.truncate(3);
        let first = Releases::builtin().released[0].version;
        for (case, (id, since)) in
            cases.iter_mut().zip([("old", Some(first)), ("new", Some(first.next_minor())), ("own", None)])
        {
            (case.facts.id, case.facts.since, case.facts.phase) = (id.to_owned(), since, Phase::Main);
        }
        CasePlan::of(cases, selection, |_| Vec::new()).map(|(plan, _)| plan)
    }

    fn ids(plan: &CasePlan) -> Vec<&str> {
        plan.cases.iter().map(|planned| planned.case.id.as_str()).collect()
    }

    #[test]
    fn cases_of_a_version_are_its_own_and_those_of_the_user() {
        let first = Releases::builtin().released[0].version;
        let of = |version| Selection { cases_of: Some(version), ..Selection::default() };
        let planned = plan(&of(first)).unwrap();
        assert_eq!((ids(&planned), planned.cases_of), (vec!["old", "own"], Some(first)));
        // A filtered case makes no line of a baseline stale.
        assert_eq!(planned.all_ids, ["old", "new", "own"]);
        assert_eq!(ids(&plan(&of(first.next_minor())).unwrap()), ["old", "new", "own"]);
        let error = plan(&Selection { filter: vec!["new".to_owned()], ..of(first) }).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("cannot plan the run: the filters select no case of edgeproof {first}")
        );
    }

    #[test]
    fn list_marks_cases_that_the_first_version_lacks() {
        let text = plan(&Selection::default()).unwrap().to_string();
        let marked: Vec<bool> = text.lines().map(|line| line.contains("  [since ")).collect();
        assert_eq!(marked, [false, true, false], "{text}");
    }
}

use edgeproof_fixtures::spec::{Spec, Table};

use super::{Case, CaseFacts, CaseSettings, Exchange, Part, Procedure};

/// Exchanges of one case that its description shows.
const SHOWN: usize = 2;

/// A case, whatever part it tests.
pub trait AnyCase: Send + Sync {
    /// What the case says of itself.
    fn facts(&self) -> &CaseFacts;

    /// Name of its part on the command line.
    fn part(&self) -> &'static str;

    /// The commands that play it.
    fn commands(&self) -> Vec<String>;

    /// Whether its requests are data.
    fn is_data(&self) -> bool;

    /// An example of its exchanges in lines.
    fn describe(&self, spec: &Spec) -> Vec<String>;
}

impl<P: Part> AnyCase for Case<P> {
    fn facts(&self) -> &CaseFacts {
        &self.facts
    }

    fn part(&self) -> &'static str {
        P::NAME
    }

    fn commands(&self) -> Vec<String> {
        P::commands(&self.facts.id)
    }

    fn is_data(&self) -> bool {
        matches!(self.procedure, Procedure::Exchange(_) | Procedure::Exchanges(_))
    }

    fn describe(&self, spec: &Spec) -> Vec<String> {
        let settings = self.settings.describe();
        let mut lines: Vec<String> = settings.iter().map(|text| spec.in_words(text).into_owned()).collect();
        match &self.procedure {
            Procedure::Exchange(exchange) => lines.extend(exchange.describe(spec)),
            Procedure::Exchanges(all) => {
                for (name, exchange) in all.iter().take(SHOWN) {
                    lines.push(format!("{name}:"));
                    lines.extend(exchange.describe(spec));
                }
                if let more @ 1.. = all.len().saturating_sub(SHOWN) {
                    lines.push(format!("and {more} more"));
                }
            }
            Procedure::Monitor(_) => {
                lines.push("none of its own: the case judges the exchanges of all other cases".to_owned());
                lines.extend(answers(spec, &self.rows));
            }
            Procedure::Steps(_) => {
                lines.push(format!("several steps: {}", self.title));
                lines.extend(answers(spec, &self.rows));
            }
        }
        lines
    }
}

/// The answers in rows.
fn answers(spec: &Spec, rows: &[String]) -> Vec<String> {
    let rows = rows.iter().filter_map(|id| spec.row(id));
    rows.filter_map(|row| {
        let answer = row.answer()?;
        let whose = if row.table == Table::Relay { "the service replies" } else { "expected answer:" };
        Some(format!("{whose} {answer} ({})", row.id))
    })
    .collect()
}

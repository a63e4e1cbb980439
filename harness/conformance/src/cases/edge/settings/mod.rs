//! Forms of the settings, from the model of variation. Each value has a case. Values of different settings share a
//! launch; a value whose case does not pass is played again with a launch of its own.

mod origin;
mod relayed;
mod unusable;

use edgeproof_fixtures::spec::{Level, SettingChange, Value};
use edgeproof_mock::Script;
use edgeproof_reports::CaseLevel;

use crate::cases::case::{basis, level};
use crate::cases::{CaseContext, Catalog};
use crate::judge::ExpectedAnswer;
use crate::target::{SettingForms, Setup};

/// What the cases need from the tables.
#[derive(Clone)]
struct Play {
    /// The changed setting.
    change: SettingChange,
    /// Severity of a mismatch. Open: observed.
    level: CaseLevel,
    /// The observed point.
    point: String,
    /// The service's reply.
    accept: Script,
    /// The edge's answer to it.
    accepted: ExpectedAnswer,
    /// The edge's answer without its service.
    unreachable: ExpectedAnswer,
}

/// Adds a case for each value.
pub(super) fn add(cases: &mut Catalog<'_>) {
    let variation = cases.spec.variation();
    for launch in variation.launches() {
        for forms in &variation.settings {
            for value in forms.values.iter().filter(|value| launch.contains(&value.change)) {
                add_case(cases, &forms.row, &format!("{} {}", forms.title, value.title), value, &launch);
            }
        }
    }
}

fn add_case(
    cases: &mut Catalog<'_>,
    row: &str,
    title: &str,
    value: &Value<SettingChange>,
    launch: &[SettingChange],
) {
    let change = value.change;
    let id = format!("settings.{}", change.name().replace('=', "."));
    let play = Play {
        change,
        level: level(value.level),
        point: id.clone(),
        accept: cases.accept(),
        accepted: cases.accepted(),
        unreachable: cases.answer("edge.502.service-unreachable", None),
    };
    let title = format!("an edge with {title}");
    let case = cases.edge_steps(row, &id, &title, move |context| {
        let play = play.clone();
        Box::pin(async move { play.run(context).await })
    });
    case.setup(Setup::Forms(SettingForms::new(launch)));
    case.alone = (launch.len() > 1).then(|| Setup::Forms(SettingForms::new(&[change])));
    // At every level, an edge must not accept a collection that it does not relay.
    case.level(CaseLevel::Must);
    case.start = if change.is_unusable() { CaseLevel::Open } else { level(value.level) };
    (case.basis, case.standard) = (basis(value.basis), value.standard.clone());
    match change {
        SettingChange::AllowedOrigin(_) if value.level == Level::Open => {
            case.also("statement.cors-other-origins");
        }
        SettingChange::License(_) => {
            case.also("setting.edge.license");
        }
        SettingChange::Paths(_) => {
            case.also("setting.edge.client-cert-file").also("setting.edge.client-key-file");
        }
        _ => {}
    }
}

impl Play {
    async fn run(&self, context: &mut CaseContext) {
        match self.change {
            SettingChange::AllowedOrigin(form) => origin::play(self, form, context).await,
            SettingChange::CaFile(_) if self.change.is_unusable() => unusable::ca_file(self, context).await,
            SettingChange::Certificate(_) | SettingChange::Key(_) if self.change.is_unusable() => {
                unusable::client_files(self, context).await;
            }
            _ => relayed::play(self, context).await,
        }
    }
}

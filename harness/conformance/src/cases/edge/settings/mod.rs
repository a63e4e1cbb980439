//! Forms of the settings, from the model of variation. Each value has a case. Values of different settings share a
//! launch; a value whose case does not pass is played again with a launch of its own.

mod origin;
mod play;
mod relayed;
mod unusable;

pub(crate) use relayed::presents_configured;

use edgeproof_fixtures::spec::{Level, SettingChange, Value};
use edgeproof_reports::CaseLevel;

use play::Play;

use crate::cases::case::{basis, level};
use crate::cases::{CaseList, Edge, EdgeCaseContext, SettingForms, Setup};

/// Adds a case for each value.
pub(super) fn add(cases: &mut CaseList<'_, Edge>) {
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
    cases: &mut CaseList<'_, Edge>,
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
        accept: cases.accept(),
        accepted: cases.accepted(),
        unreachable: cases.answer("edge.502.service-unreachable", None),
    };
    let title = format!("{} if {title}", required(value));
    let case =
        cases.case(row, &id, &title).steps(steps!(with(play), async |context| { run(&play, context).await }));
    case.setup(Setup::Forms(SettingForms::new(launch)));
    case.settings.alone = (launch.len() > 1).then(|| Setup::Forms(SettingForms::new(&[change])));
    if value.level == Level::Open || change.is_unusable() {
        case.observes_itself();
    }
    // At every level, an edge must not accept a collection that it does not relay.
    case.level(CaseLevel::Must);
    case.settings.start = if change.is_unusable() { CaseLevel::Open } else { level(value.level) };
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

/// What the edge has to do with the form.
fn required(value: &Value<SettingChange>) -> &'static str {
    match value.change {
        SettingChange::AllowedOrigin(_) if value.level == Level::Open => "the edge grants no foreign origin",
        SettingChange::AllowedOrigin(_) => "the edge grants only the allowed origin",
        SettingChange::CaFile(_) if value.change.is_unusable() => "the edge sends nothing to the service",
        _ if value.level == Level::Open => "the edge accepts only what it relays",
        _ => "the edge relays",
    }
}

async fn run(play: &Play, context: &mut EdgeCaseContext) {
    context.found.varied += 1;
    // Monitors judge what the form leads to no more strictly.
    context.weakest = play.level;
    match play.change {
        SettingChange::AllowedOrigin(form) => origin::play(play, form, context).await,
        SettingChange::CaFile(_) if play.change.is_unusable() => unusable::ca_file(play, context).await,
        SettingChange::ServiceUrl(_) if play.change.is_unusable() => {
            unusable::service_url(play, context).await;
        }
        SettingChange::Certificate(_) | SettingChange::Key(_) if play.change.is_unusable() => {
            unusable::client_files(play, context).await;
        }
        _ => relayed::play(play, context).await,
    }
}

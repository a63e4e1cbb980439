use edgeproof_reports::CaseLevel;
use strum::VariantArray;

use super::explore::sequence::SequencePlan;
use super::{Case, Catalog, CollectorMonitor, Phase, Procedure, ServiceMonitor};

/// All cases for an edge.
pub fn edge(catalog: Catalog<'_>) -> Vec<Case> {
    edge_with_sequences(catalog, SequencePlan::default())
}

/// All cases for an edge, and random and saved sequences of steps.
pub fn edge_with_sequences(mut catalog: Catalog<'_>, sequences: SequencePlan) -> Vec<Case> {
    super::edge::add(&mut catalog);
    if catalog.explores {
        super::explore::add(&mut catalog);
    }
    super::explore::sequence::add_edge(&mut catalog, sequences);
    catalog.into_cases()
}

/// All cases for a service that gives verdicts.
pub fn service(catalog: Catalog<'_>) -> Vec<Case> {
    service_with_sequences(catalog, SequencePlan::default())
}

/// All cases for a service that gives verdicts, and random and saved sequences of requests.
pub fn service_with_sequences(mut catalog: Catalog<'_>, sequences: SequencePlan) -> Vec<Case> {
    super::service::add(&mut catalog);
    super::explore::sequence::add_service(&mut catalog, sequences);
    add_monitors(&mut catalog, false);
    catalog.into_cases()
}

/// All cases for a key set.
pub fn keys(mut catalog: Catalog<'_>) -> Vec<Case> {
    super::keys::add(&mut catalog);
    add_monitors(&mut catalog, true);
    catalog.into_cases()
}

/// All cases for a collector.
pub fn collector(mut catalog: Catalog<'_>) -> Vec<Case> {
    super::collector::add(&mut catalog);
    for monitor in CollectorMonitor::VARIANTS {
        let case =
            catalog.add(monitor.row(), monitor.id(), monitor.title(), Procedure::CollectorMonitor(*monitor));
        case.requires(&[]).phase(Phase::Monitors);
        if monitor.is_open() {
            case.level(CaseLevel::Open);
        }
    }
    catalog.into_cases()
}

/// All cases of all targets. `catalog` makes one catalog for each target.
pub fn all<'a>(catalog: impl Fn() -> Catalog<'a>) -> Vec<Case> {
    [edge(catalog()), service(catalog()), keys(catalog()), collector(catalog())].concat()
}

/// Adds the monitors of a service, or those of a key set.
fn add_monitors(cases: &mut Catalog<'_>, of_keys: bool) {
    for monitor in ServiceMonitor::VARIANTS.iter().filter(|monitor| monitor.is_of_keys() == of_keys) {
        let [row, others @ ..] = monitor.rows() else { continue };
        let case = cases.add(row, monitor.id(), monitor.title(), Procedure::ServiceMonitor(*monitor));
        case.requires(&[]).phase(Phase::Monitors);
        for other in others {
            case.also(other);
        }
    }
}

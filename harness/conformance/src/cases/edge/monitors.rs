use strum::VariantArray;

use crate::cases::{Catalog, EdgeMonitor, Phase, Procedure};

/// Adds the monitors of an edge.
pub(super) fn add(cases: &mut Catalog<'_>) {
    for monitor in EdgeMonitor::VARIANTS {
        let [row, others @ ..] = monitor.rows() else { continue };
        let case = cases.add(row, monitor.id(), monitor.title(), Procedure::Monitor(*monitor));
        case.requires(monitor.prerequisites()).phase(Phase::Monitors);
        for other in others {
            case.also(other);
        }
    }
}

//! Edges that give all requests the same answer.

use super::prelude::*;

pub(super) const MUTANTS: &[Behaviour<EdgeEffect>] = &[
    mutant("refuses-all-requests", "Refuses all requests without relaying.")
        .breaks("edge.200.accepted", "refuses-all")
        .late_breaks("statement.edge-lives-on")
        .then(Instead(Json(403, r#"{"error":"service_rejected","reason":"edge_refuses","status":403}"#))),
    mutant("accepts-all-collections", "Accepts all collections and ignores the answer of the service.")
        .breaks("edge.refused", "accepted-without-service")
        .when(Relayed)
        .answers(Rewritten(200, OK)),
];

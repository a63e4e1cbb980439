//! Magic session references of the mock service, sent through the edge.

use std::sync::Arc;
use std::time::SystemTime;

use edgeproof_edge::{Edge, EdgeOptions, LogSink};
use edgeproof_fixtures::credentials::CredentialFiles;
use edgeproof_fixtures::seal::Collection;
use edgeproof_fixtures::spec::Table;
use edgeproof_mock::magic::{Carrier, Magic};
use edgeproof_mock::{MockService, ServiceEndpoint, ServiceOptions};
use serde_json::{Value, json};

use super::support::{ORIGIN, endpoint, exchange, post};

#[tokio::test]
async fn magic_session_reference_in_a_collection_yields_its_row_at_the_page() {
    let options = ServiceOptions { magic: true, ..ServiceOptions::default() };
    let service = MockService::start_with(options).await.unwrap();
    let files = CredentialFiles::write(service.credentials()).unwrap();
    let settings = files.settings(service.credentials(), &service.url(), ORIGIN);
    let spec = Arc::clone(service.spec());
    let edge = Edge::start(EdgeOptions::new(spec, settings, LogSink::new(drop))).await.unwrap();
    let page = endpoint(&edge).await;
    let send = async |reference: &str| {
        let collection = Collection::generated(reference, 1, SystemTime::now());
        exchange(&page, &post(collection.seal(&service.seal_key()))).await
    };

    let magic = Magic::of(service.spec());
    let of_table = |table| {
        magic.pairs().iter().filter(move |pair| pair.carrier == Carrier::SessionRef && pair.table == table)
    };
    assert!(of_table(Table::Relay).count() > 0 && of_table(Table::Verdict).count() > 0);
    for pair in of_table(Table::Relay) {
        let answer = send(&pair.value).await;
        let expected = json!({ "error": "service_rejected", "reason": pair.code, "status": pair.status });
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, body), (pair.status, expected), "{}", pair.value);
        let arrival = service.journal().pop().unwrap();
        assert_eq!((arrival.endpoint, arrival.stimulus), (ServiceEndpoint::Relay, Some(pair.stimulus)));
    }
    for pair in of_table(Table::Verdict) {
        assert_eq!(send(&pair.value).await.status, 200, "{}", pair.value);
    }
    edge.stop().await;
}

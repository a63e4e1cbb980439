use super::super::{Ask, Catalog, Need, summary};

/// Methods that the interface does not have there (4): only seen.
pub(super) fn add(cases: &mut Catalog<'_>) {
    for method in ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
        let point = format!("verdict.method.{}", method.to_lowercase());
        cases
            .asks(
                "statement.verdict-methods",
                &point.clone(),
                &format!("what {method} is answered where verdicts are"),
                move |backend| {
                    let point = point.clone();
                    Box::pin(async move {
                        let ask = Ask::new(&backend.reference("method")).bearer(&backend.read_token());
                        let reply = backend.ask(&ask.method(method)).await;
                        backend.observe(&point, summary::status(&reply));
                    })
                },
            )
            .needs(&[Need::ReadToken]);
    }
}

/// The route of a collection.
pub(super) const POST: &str = "POST /v1/signals";
/// The route of a verdict.
pub(super) const GET: &str = "GET /v1/verdict/{ref}";

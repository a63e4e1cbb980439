/// Route of a collection.
pub(super) const POST: &str = "POST /v1/signals";
/// Route of a verdict.
pub(super) const GET: &str = "GET /v1/verdict/{ref}";

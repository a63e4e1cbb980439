use serde_json::{Map, Value};

/// Methods that OpenAPI knows.
const METHODS: [&str; 8] = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"];

/// The paths with their operations.
#[derive(Default)]
pub(super) struct Paths(Map<String, Value>);

impl Paths {
    /// Adds an operation. Where another party answers the same method and path, a fragment tells them apart: OpenAPI has
    /// each path once. Methods that OpenAPI does not know are left out.
    pub(super) fn add(&mut self, path: &str, method: &str, tag: &str, operation: Map<String, Value>) {
        if !METHODS.contains(&method) {
            return;
        }
        let method = method.to_ascii_lowercase();
        let is_taken = self.0.get(path).is_some_and(|item| item.get(&method).is_some());
        let key = if is_taken { format!("{path}#{tag}") } else { path.to_owned() };
        let item = self.0.entry(key).or_insert_with(|| Value::Object(Map::new()));
        item[method] = Value::Object(operation);
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

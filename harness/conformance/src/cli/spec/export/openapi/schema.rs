use serde_json::{Map, Value, json};

/// Values that a placeholder of a body stands for, such as `<reason>`, as a schema.
pub(super) type Placeholders<'a> = [(&'a str, Value)];

/// The schema of a body. `exact`: objects have no further members.
pub(super) fn of_body(body: &Value, placeholders: &Placeholders<'_>, exact: bool) -> Value {
    match body {
        Value::String(text) => {
            let known = placeholders.iter().find(|(placeholder, _)| placeholder == text);
            known.map_or_else(|| json!({ "const": text }), |(_, schema)| schema.clone())
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| of_body(item, placeholders, exact)).collect();
            json!({ "type": "array", "minItems": items.len(), "prefixItems": items })
        }
        Value::Object(members) => {
            let required: Vec<_> = members.keys().collect();
            let properties: Map<String, Value> = members
                .iter()
                .map(|(name, value)| (name.clone(), of_body(value, placeholders, exact)))
                .collect();
            let mut schema = json!({ "type": "object", "required": required, "properties": properties });
            if exact {
                schema["additionalProperties"] = false.into();
            }
            schema
        }
        other => json!({ "const": other }),
    }
}

/// One of these texts.
pub(super) fn one_of(texts: &[String]) -> Value {
    match texts {
        [text] => json!({ "const": text }),
        _ => json!({ "enum": texts }),
    }
}

/// The schema that allows what any of these allows.
pub(super) fn any(schemas: Vec<Value>) -> Value {
    let mut distinct: Vec<Value> = Vec::new();
    for schema in schemas {
        if !distinct.contains(&schema) {
            distinct.push(schema);
        }
    }
    if distinct.len() == 1 { distinct.remove(0) } else { json!({ "anyOf": distinct }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_body_is_constants_and_placeholders() {
        let body = json!({"error": "refused", "reason": "<reason>", "list": [1]});
        let schema = of_body(&body, &[("<reason>", one_of(&["a".into(), "b".into()]))], true);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "required": ["error", "reason", "list"],
                "properties": {
                    "error": { "const": "refused" },
                    "reason": { "enum": ["a", "b"] },
                    "list": { "type": "array", "minItems": 1, "prefixItems": [{ "const": 1 }] },
                },
                "additionalProperties": false,
            })
        );
    }
}

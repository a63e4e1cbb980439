//! The published JSON Schema of the file, made from the options, and compared with the parser.

use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use clap::Command;
use edgeproof_cli::project_file::{FoundFile, LOAD};
use edgeproof_fixtures::spec::PartName;
use edgeproof_reports::Format;
use rstest::rstest;
use serde_json::{Map, Value, json};

use super::document::{Config, PART, TARGET};
use super::key::{ConfigKey, Kind};
use super::show::SCHEMA;
use crate::cli::conformance;

/// The schema of a file with these keys.
fn schema(keys: &[ConfigKey]) -> Value {
    let target = json!({
        "description": "Further targets: --target NAME chooses one. They take no options of a target from the keys above.",
        "type": "object",
        "additionalProperties": { "$ref": "#/$defs/target" },
    });
    let mut top = section(keys, &[TARGET, LOAD]);
    top["properties"][TARGET] = target;
    top["properties"][LOAD] = json!({
        "description": "Load tests: `edgeproof-load run NAME` runs one. Its keys are the options of the scenario.",
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "properties": { "scenario": { "enum": ["edge-relay", "verdict-polling", "journey", "mixed"] } },
            "required": ["scenario"],
        },
    });
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "edgeproof.toml",
        "description": "Options of `edgeproof conformance` for a project. Paths and commands are relative to the file's folder.",
    });
    let members = schema.as_object_mut().expect("it is an object");
    members.extend(top.as_object().expect("it is an object").clone());
    members.insert("$defs".into(), json!({ "target": section(keys, &[]) }));
    schema
}

/// The schema of keys that stand together. `more`: further keys.
fn section(keys: &[ConfigKey], more: &[&'static str]) -> Value {
    let mut properties = Map::new();
    let names = PartName::ALL.iter().map(|part| part.name());
    let part = json!({
        "description": "Part that is tested",
        "enum": names.collect::<Vec<_>>(),
        "default": PartName::Edge.name(),
    });
    properties.insert(PART.into(), part);
    properties.extend(keys.iter().map(|key| (key.name().to_owned(), property(key))));
    let conditions = PartName::ALL.iter().map(|part| {
        let own = keys.iter().filter(|key| key.parts().contains(part)).map(ConfigKey::name);
        let names: Vec<&str> = [PART].into_iter().chain(own).chain(more.iter().copied()).collect();
        // Without the key, the part is an edge.
        let required = if *part == PartName::Edge { vec![] } else { vec![PART] };
        json!({
            "if": { "properties": { PART: { "const": part.name() } }, "required": required },
            "then": { "propertyNames": { "enum": names } },
        })
    });
    json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "allOf": conditions.collect::<Vec<_>>(),
    })
}

fn property(key: &ConfigKey) -> Value {
    let mut property = json!({ "description": key.arg().get_help().map(ToString::to_string) });
    let names: Vec<String> =
        key.arg().get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let own = match key.kind() {
        Kind::Flag => json!({ "type": "boolean", "default": false }),
        Kind::Integer => json!({ "type": "integer", "minimum": 0 }),
        Kind::Text if !names.is_empty() => json!({ "enum": names }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Secret if key.is_header() => json!({ "type": "string", "pattern": "^[^$]+: ([@].+|[$]\\w+)$" }),
        Kind::Secret => json!({ "type": "string", "pattern": "^([@].+|[$]\\w+)$" }),
        Kind::List => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Reports => {
            let string = || json!({ "type": "string" });
            let formats: Map<String, Value> =
                Format::names().split(", ").map(|name| (name.to_owned(), string())).collect();
            json!({ "type": "object", "properties": formats, "additionalProperties": false })
        }
    };
    let members = property.as_object_mut().expect("it is an object");
    members.extend(own.as_object().expect("it is an object").clone());
    if let [default] = key.arg().get_default_values()
        && key.kind() != Kind::Flag
    {
        let text = default.to_string_lossy().into_owned();
        let number = text.parse::<u64>().ok().filter(|_| key.kind() == Kind::Integer);
        members.insert("default".into(), number.map_or_else(|| text.into(), Value::from));
    }
    property
}

#[test]
fn published_schema_is_up_to_date() {
    let generated = format!("{:#}\n", schema(&ConfigKey::all(&conformance::command())));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/edgeproof-1.json");
        std::fs::write(path, &generated).unwrap();
    } else {
        assert!(
            SCHEMA == generated,
            "schema/edgeproof-1.json is out of date: run this test with UPDATE_SCHEMA=1"
        );
    }
}

/// Each key with a value of each type, above the tables and in a target, for each part.
#[test]
fn schema_and_parser_accept_the_same_keys_and_types() {
    let command = conformance::command();
    let keys = ConfigKey::all(&command);
    let values = [
        "true",
        "7",
        "\"@a\"",
        "\"A: $B\"",
        "\"https\"",
        "\"10s\"",
        "[\"a\"]",
        "[7]",
        "{ json = \"a\" }",
        "{ pdf = \"a\" }",
    ];
    let (published, mut accepted) = (Published::new(), 0);
    for part in PartName::ALL {
        for key in &keys {
            for value in values {
                let top = format!("part = \"{part}\"\n{} = {value}\n", key.name());
                let target = match part {
                    _ if key.names_target() => "",
                    PartName::Edge => "url = \"https://edge.example\"\n",
                    PartName::Service => "base-url = \"https://service.example\"\n",
                    PartName::Keys => "keys-url = \"https://keys.example\"\n",
                    PartName::Collector => "module = \"https://collector.example\"\n",
                };
                for text in [top.clone(), format!("[target.a]\n{target}{top}")] {
                    let parsed = parse(&text, &keys, &command);
                    accepted += usize::from(parsed.is_ok());
                    let violation = published.violation(&text);
                    // The option decides whether a text is a path, a duration or an origin that it accepts.
                    let is_of_value = parsed.as_ref().is_err_and(|why| {
                        let why = why.to_string();
                        violation.is_none() && (why.contains("`: ") || why.contains("exclude each other"))
                    });
                    assert!(
                        is_of_value || parsed.is_ok() == violation.is_none(),
                        "{text}{parsed:?}\n{violation:?}"
                    );
                }
            }
        }
    }
    // Each key has a type, and most have two.
    assert!(accepted > keys.len() * 4, "{accepted}");
}

#[rstest]
#[case::empty("", true)]
#[case::unknown_key("jbos = 4", false)]
#[case::unknown_key_of_a_target("[target.a]\nurl = \"https://edge.example\"\njbos = 4", false)]
#[case::unknown_part("part = \"page\"", false)]
#[case::target_in_a_target("[target.a]\nurl = \"https://edge.example\"\n[target.a.target.b]", false)]
#[case::no_table("target = 7", false)]
#[case::option_of_a_run("list = true", false)]
#[case::token("part = \"service\"\nread-token = \"abc\"", false)]
#[case::example(include_str!("../../../../../docs/examples/edgeproof.toml"), true)]
#[case::variable("part = \"service\"\nread-token = \"$TOKEN\"", true)]
fn schema_and_parser_agree(#[case] text: &str, #[case] expected: bool) {
    let command = conformance::command();
    let keys = ConfigKey::all(&command);
    let parsed = parse(text, &keys, &command);
    assert_eq!(
        (parsed.is_ok(), Published::new().violation(text).is_none()),
        (expected, expected),
        "{parsed:?}"
    );
}

fn parse<'k>(
    text: &str,
    keys: &'k [ConfigKey],
    command: &Command,
) -> Result<Config<'k>, impl std::error::Error + 'static + use<>> {
    let file = FoundFile { path: "edgeproof.toml".into(), text: text.to_owned() };
    Config::parse(&file, keys, command)
}

/// The published schema.
struct Published {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Published {
    fn new() -> Self {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        compiler.add_resource("schema.json", serde_json::from_str(SCHEMA).unwrap()).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    /// What a file violates.
    fn violation(&self, text: &str) -> Option<String> {
        let document = serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap();
        self.schemas.validate(&document, self.index).err().map(|error| error.to_string())
    }
}

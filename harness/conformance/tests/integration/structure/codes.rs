//! Reason codes come from the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use edgeproof_fixtures::spec::{Spec, Version};
use syn::visit::Visit;
use syn::{ItemMod, LitStr};

use super::imports::{is_test, sources_of};

/// Files that name a code, and what the code means there.
const NAMED: [(&str, &str); 1] =
    [("harness/mock/src/admin/error.rs", "an error of the admin API, which is edgeproof's own")];

#[test]
fn codes_of_the_interface_stand_in_tables_only() {
    let spec = Spec::builtin(Version::Current);
    // Words such as `expired` have other meanings too.
    let codes: BTreeSet<&str> =
        spec.rows().iter().filter_map(|row| row.code()).filter(|code| code.contains('_')).collect();
    assert!(codes.len() > 20, "{codes:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for folder in ["fixtures", "reports", "harness", "scenarios"] {
        for (file, text) in sources_of(&root, &root.join(folder)) {
            let mut literals = Literals(BTreeSet::new());
            if file.contains("/src/") && !file.ends_with("tests.rs") {
                literals.visit_file(&syn::parse_file(&text).unwrap());
            }
            let named: BTreeSet<String> =
                literals.0.into_iter().filter(|text| codes.contains(text.as_str())).collect();
            if !named.is_empty() {
                found.insert(file, named);
            }
        }
    }
    let expected: BTreeSet<&str> = NAMED.iter().map(|(file, _)| *file).collect();
    let files: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(files, expected, "take codes from rows, or say here what they mean: {found:?}");
}

/// The texts of a file, without those of its tests.
struct Literals(BTreeSet<String>);

impl<'a> Visit<'a> for Literals {
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !is_test(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }

    fn visit_lit_str(&mut self, text: &'a LitStr) {
        self.0.insert(text.value());
    }
}

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use edgeproof_fixtures::credentials::Redactor;
use edgeproof_reports::difference::PagePlace;

use super::page_form::PageForm;

/// Data of a page that the collector does not get: texts that occur nowhere else.
pub struct Canaries {
    seed: u64,
    finder: Redactor,
}

/// Places of canaries in a page.
const PLACES: [PagePlace; 9] = [
    PagePlace::Title,
    PagePlace::Path,
    PagePlace::Query,
    PagePlace::Fragment,
    PagePlace::Cookie,
    PagePlace::LocalStorage,
    PagePlace::SessionStorage,
    PagePlace::FormField,
    PagePlace::Text,
];

impl Canaries {
    /// The canaries of a page with this number.
    pub fn new(seed: u64) -> Self {
        let mut finder = Redactor::empty();
        for place in PLACES {
            finder.add(place.name(), &value(seed, place));
        }
        Self { seed, finder }
    }

    /// Number of the page.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Path and query of the page in this form, with its fragment.
    pub fn path(&self, form: PageForm) -> String {
        let part = |place| value(self.seed, place);
        format!(
            "/page/{}.{}/{}?order={}#{}",
            self.seed,
            form.name(),
            part(PagePlace::Path),
            part(PagePlace::Query),
            part(PagePlace::Fragment)
        )
    }

    /// Canaries in these bytes, in clear or encoded: their places.
    pub fn found_in(&self, bytes: &[u8]) -> Vec<PagePlace> {
        let labels: BTreeSet<&str> = self.finder.labels_in(bytes).collect();
        // A label is the place, and a digest of the value.
        let is_of = |label: &str, place: PagePlace| {
            label.strip_prefix(place.name()).is_some_and(|rest| rest.starts_with(' '))
        };
        PLACES.into_iter().filter(|place| labels.iter().any(|label| is_of(label, *place))).collect()
    }

    /// HTML of the page with this number, in this form.
    pub(super) fn page(seed: u64, form: PageForm) -> String {
        let part = |place| value(seed, place);
        format!(
            r#"{doctype}
<html {attributes}>
<head><meta charset="utf-8"/>{head}<title>{title}</title><link rel="icon" href="data:,"/></head>
<body>
<p>{text}</p>
<form><input name="email" value="{field}@shop.test"/></form>
<script{nonce}>
for (const set of [
  () => {{ document.cookie = "session={cookie}; path=/" }},
  () => {{ localStorage.setItem("session", "{local}") }},
  () => {{ sessionStorage.setItem("session", "{session}") }},
]) {{
  try {{ set() }} catch {{ /* blocked for this case */ }}
}}
{script}
</script>
</body>
</html>
"#,
            doctype = form.doctype(),
            attributes = form.attributes(),
            head = form.head(),
            nonce = form.nonce(),
            script = form.script(),
            title = part(PagePlace::Title),
            text = part(PagePlace::Text),
            field = part(PagePlace::FormField),
            cookie = part(PagePlace::Cookie),
            local = part(PagePlace::LocalStorage),
            session = part(PagePlace::SessionStorage),
        )
    }
}

impl fmt::Debug for Canaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canaries").field("seed", &self.seed).finish_non_exhaustive()
    }
}

fn value(seed: u64, place: PagePlace) -> String {
    let mut hasher = DefaultHasher::new();
    (seed, place.name()).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_are_found_with_their_place_in_clear_and_encoded() {
        let canaries = Canaries::new(7);
        let hex: Vec<String> =
            value(7, PagePlace::Cookie).bytes().map(|byte| format!("{byte:02x}")).collect();
        let hex = hex.concat();
        let text = format!("a={}&b={hex}", value(7, PagePlace::Title));
        assert_eq!(canaries.found_in(text.as_bytes()), [PagePlace::Title, PagePlace::Cookie]);
        assert!(canaries.found_in(Canaries::page(8, PageForm::Usual).as_bytes()).is_empty());
        let found = canaries.found_in(Canaries::page(7, PageForm::Usual).as_bytes());
        assert_eq!(found.len(), PLACES.len() - 3, "{found:?}");
        assert_eq!(
            canaries.found_in(canaries.path(PageForm::Usual).as_bytes()),
            [PagePlace::Path, PagePlace::Query, PagePlace::Fragment]
        );
    }
}

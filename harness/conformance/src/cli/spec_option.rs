use edgeproof_fixtures::spec::{SpecChoice, Version};
use shell_words::quote;

/// What a printed command needs to read the same interface, such as ` --spec next.toml`. Empty for the current one.
pub(super) fn spec_option(choice: &SpecChoice) -> String {
    match choice {
        SpecChoice::Builtin(version) if *version == Version::default() => String::new(),
        other => format!(" --spec {}", quote(&other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_names_another_interface_than_the_current_one() {
        assert_eq!(spec_option(&SpecChoice::default()), "");
        assert_eq!(spec_option(&"pre-seal".parse().unwrap()), " --spec pre-seal");
        assert_eq!(spec_option(&SpecChoice::Path("my next.toml".into())), " --spec 'my next.toml'");
    }
}

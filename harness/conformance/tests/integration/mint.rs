//! `edgeproof mint` as a program. Each minted item is judged like in the mock service.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::SystemTime;

use edgeproof_fixtures::credentials::{
    Credentials, LicenseForm, ReadTokenForm, Role, SettingsFolder, check_license, check_read_token,
};
use edgeproof_fixtures::seal::{CollectionFault, CollectionForm, open};
use rstest::rstest;
use tempfile::TempDir;

use crate::limited;
use crate::tested_program;

/// A folder with minted settings.
struct Settings {
    folder: TempDir,
    credentials: Credentials,
}

impl Settings {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let settings = folder.path().join("settings");
        succeeds(&["mint", "edge-settings", "--out", text(&settings)]);
        let credentials = SettingsFolder::load(&settings, SystemTime::now()).unwrap().credentials;
        Self { folder, credentials }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `edgeproof mint` for these settings. Yields its standard output.
    fn mint(&self, args: &[&str]) -> String {
        String::from_utf8(succeeds(&self.args(args)).stdout).unwrap()
    }

    fn args(&self, args: &[&str]) -> Vec<String> {
        let settings = self.path("settings");
        let mut all = vec!["mint".to_owned()];
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        all.extend(["--settings".to_owned(), text(&settings).to_owned()]);
        all
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn run<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Output {
    limited::output(tested_program::edgeproof().args(args).env("NO_COLOR", "1"))
}

fn succeeds<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Output {
    let output = run(args);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs an invalid command, checks that its standard output is empty, and yields its standard error.
fn refused<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let lines = String::from_utf8(output.stderr).unwrap().replace('│', " ");
    lines.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_license_form_is_refused_for_its_fault() {
    let settings = Settings::new();
    let out = settings.path("licenses");
    settings.mint(&["license", "--all", "--out", text(&out)]);
    for form in LicenseForm::ALL {
        let token = fs::read_to_string(out.join(format!("license-{}.token", form.label()))).unwrap();
        let (keys, revoked) = (settings.credentials.keys(), settings.credentials.revocations());
        let judged = check_license(Some(token.trim_end()), keys, revoked, SystemTime::now());
        assert_eq!(judged.err(), form.stimulus(), "{}", form.label());
    }
}

#[test]
fn every_read_token_form_is_refused_for_its_fault() {
    let settings = Settings::new();
    let out = settings.path("tokens");
    settings.mint(&["read-token", "--all", "--header", "--out", text(&out)]);
    // A missing token cannot be minted.
    assert_eq!(fs::read_dir(&out).unwrap().count(), ReadTokenForm::ALL.len() - 1);
    for form in ReadTokenForm::ALL.into_iter().filter(|form| *form != ReadTokenForm::Missing) {
        let header = fs::read_to_string(out.join(format!("read-token-{}.header", form.label()))).unwrap();
        let value = header.trim_end().strip_prefix("Authorization: ").unwrap();
        let (keys, revoked) = (settings.credentials.keys(), settings.credentials.revocations());
        let judged = check_read_token(Some(value), keys, revoked, SystemTime::now());
        assert_eq!(judged.err().map(|fault| fault.stimulus), form.stimulus(), "{}", form.label());
    }
}

#[test]
fn every_collection_form_is_refused_for_its_fault() {
    let settings = Settings::new();
    let out = settings.path("collections");
    let all = ["collection", "--session-ref", "order 4711/ü", "--all", "--mode", "lite", "--out", text(&out)];
    settings.mint(&all);
    for form in CollectionForm::ALL {
        let body = fs::read(out.join(format!("collection-{}.json", form.label()))).unwrap();
        let opened = open(&body, settings.credentials.seal_keys());
        let stimulus = opened.as_ref().err().map(|fault| CollectionFault::stimulus(*fault));
        assert_eq!(stimulus, form.stimulus(), "{}", form.label());
        if let Ok(opened) = opened {
            assert_eq!(opened.contents.session_ref, "order 4711/ü");
            assert_eq!(opened.contents.mode, "lite");
        }
    }
}

#[test]
fn one_item_goes_to_standard_output() {
    let settings = Settings::new();
    let license = settings.mint(&["license"]);
    assert_eq!(license, settings.credentials.license(LicenseForm::Valid) + "\n");
    let expired = settings.mint(&["read-token", "--form", "expired"]);
    assert_eq!(expired, settings.credentials.read_token(ReadTokenForm::Expired) + "\n");
    let pair = settings.mint(&["certificates", "--role", "client-for-license"]);
    let certificate = settings.credentials.certificate(Role::ClientForLicense);
    assert_eq!(pair, certificate.chain_pem().to_owned() + certificate.key_pem());
    let body = settings.mint(&["collection", "--session-ref", "s"]);
    assert!(open(body.as_bytes(), settings.credentials.seal_keys()).is_ok());
}

#[test]
fn files_are_private_and_need_force_to_be_replaced() {
    let settings = Settings::new();
    let out = settings.path("out");
    let args = settings.args(&["license", "--form", "expired", "--form", "valid", "--out", text(&out)]);
    succeeds(&args);
    assert_eq!(out.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let file = out.join("license-expired.token");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    fs::write(&file, "mine").unwrap();
    fs::remove_file(out.join("license-valid.token")).unwrap();
    let error = refused(&args);
    assert!(error.contains("license-expired.token: the file already exists"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(!out.join("license-valid.token").exists(), "nothing is written");

    let elsewhere = settings.path("elsewhere");
    fs::write(&elsewhere, "theirs").unwrap();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    refused(&args);
    succeeds(&[args, vec!["--force".to_owned()]].concat());
    assert_eq!(
        fs::read_to_string(&elsewhere).unwrap(),
        "theirs",
        "a symbolic link is replaced, not followed"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), settings.credentials.license(LicenseForm::Expired) + "\n");
}

#[test]
fn existing_settings_need_force_to_be_replaced() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("settings");
    let args = ["mint", "edge-settings", "--out", text(&out)];
    let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
    let files = [
        "edge/edge.env",
        "edge/client.pem",
        "edge/client.key",
        "edge/service-ca.pem",
        "service/credentials.json",
    ];
    succeeds(&args);
    let before = files.map(read);
    let error = refused(&args);
    assert!(error.contains("it already contains credentials"), "{error}");
    assert!(error.contains("add --force"), "{error}");
    assert_eq!(files.map(read), before, "nothing is written");
    // A folder whose other files are gone still holds credentials.
    fs::remove_dir_all(out.join("edge")).unwrap();
    refused(&args);
    assert!(!out.join("edge").exists(), "nothing is written");
    succeeds(&[&args[..], &["--force"]].concat());
    let after = files.map(read);
    assert!(before.iter().zip(&after).all(|(before, after)| before != after), "all files are new");
}

#[test]
fn certificates_without_a_named_service_are_new() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("pem");
    succeeds(&["mint", "certificates", "--out", text(&out), "--service-host", "mock.test"]);
    for role in Role::ALL {
        assert!(out.join(format!("{role}.pem")).is_file(), "{role}");
        assert_eq!(out.join(format!("{role}.key")).exists(), !role.is_authority(), "{role}");
    }
    let error = refused(&["mint", "certificates", "--out", text(&out), "--service-host", "http://x"]);
    assert!(error.contains("give --service-host a name or an address"), "{error}");
}

#[rstest]
#[case::no_service(&["license"], "no service is named")]
#[case::no_seal_key(&["collection", "--session-ref", "s"], "no service is named")]
#[case::no_settings(&["license", "--settings", "/nowhere"], "there is no service/")]
#[case::no_line(&["license", "--mock", "/nowhere"], "cannot read /nowhere")]
#[case::two(&["license", "--settings", ".", "--mock", "x"], "cannot be used with")]
#[case::all_to_standard_output(&["license", "--settings", ".", "--all"], "required")]
#[case::form(&["read-token", "--form", "missing"], "invalid value 'missing'")]
#[case::key(&["collection", "--session-ref", "s", "--seal-key", "/dev/null"], "it is not a seal key")]
#[case::empty_line(&["collection", "--session-ref", "s", "--mock", "/dev/null"], "it is empty")]
fn invalid_arguments_exit_2(#[case] args: &[&str], #[case] why: &str) {
    let error = refused(&[&["mint"], args].concat());
    assert!(error.contains(why), "{error}");
}

#[test]
fn two_items_do_not_fit_into_standard_output() {
    let settings = Settings::new();
    let error = refused(&settings.args(&["license", "--form", "expired", "--form", "revoked"]));
    assert!(error.contains("cannot write 2 items to standard output"), "{error}");
    let error = refused(&settings.args(&["read-token", "--form", "other-scheme"]));
    assert!(error.contains("add --header"), "{error}");
    let basic = settings.mint(&["read-token", "--form", "other-scheme", "--header"]);
    assert!(basic.starts_with("Authorization: Basic "), "{basic}");
}

#[test]
fn help_lists_all_forms() {
    let help = |what| String::from_utf8(succeeds(&["mint", what, "--help"]).stdout).unwrap();
    let (license, token, collection) = (help("license"), help("read-token"), help("collection"));
    for form in LicenseForm::ALL {
        assert!(license.contains(&format!("- {}:", form.label())), "{license}");
    }
    assert!(token.contains("- key-unknown:") && !token.contains("- missing:"), "{token}");
    for form in CollectionForm::ALL {
        assert!(collection.contains(&format!("- {}:", form.label())), "{collection}");
    }
}

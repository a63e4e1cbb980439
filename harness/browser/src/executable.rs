use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::BrowserError;

/// Environment variable with the executable.
const VARIABLE: &str = "CHROME";
/// Names in `PATH`, the most common first.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "headless-shell"];
/// Usual places outside of `PATH`.
const PLACES: &[&str] = if cfg!(target_os = "macos") {
    &[
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    ]
} else {
    &[
        "/usr/lib/chromium/chromium",
        "/usr/lib64/chromium-browser/chromium-browser",
        "/opt/google/chrome/chrome",
        "/opt/chromium.org/chromium/chromium",
        "/snap/bin/chromium",
    ]
};

/// Finds Chromium: the executable that the user names, then that in `CHROME`, then the usual names and places. Every build
/// can search, also one that cannot start it.
pub fn find_chromium(named: Option<&Path>) -> Result<PathBuf, BrowserError> {
    find_with(named, env::var_os(VARIABLE), env::var_os("PATH"), PLACES)
}

fn find_with(
    named: Option<&Path>,
    variable: Option<OsString>,
    path: Option<OsString>,
    places: &[&str],
) -> Result<PathBuf, BrowserError> {
    let path = path.unwrap_or_default();
    if let Some(named) = named {
        return check(named, "--chromium", &path);
    }
    if let Some(variable) = variable.filter(|value| !value.is_empty()) {
        return check(Path::new(&variable), VARIABLE, &path);
    }
    let in_path = NAMES.iter().find_map(|name| look_up(name.as_ref(), &path));
    let found =
        in_path.or_else(|| places.iter().map(PathBuf::from).find(|file| why_not_executable(file).is_none()));
    found.ok_or_else(|| BrowserError::NotFound {
        places: NAMES
            .iter()
            .map(|name| format!("{name} in PATH"))
            .chain(places.iter().map(|&place| place.to_owned()))
            .collect(),
    })
}

fn check(executable: &Path, given_by: &'static str, path: &OsStr) -> Result<PathBuf, BrowserError> {
    let is_name = executable.components().count() == 1 && !executable.exists();
    let found = if is_name { look_up(executable.as_os_str(), path) } else { None };
    let file = found.as_deref().unwrap_or(executable);
    match why_not_executable(file) {
        // A name without a slash would be looked up in PATH again.
        None => Ok(std::path::absolute(file).unwrap_or_else(|_| file.to_owned())),
        Some(why) => Err(BrowserError::Unusable { executable: executable.to_owned(), given_by, why }),
    }
}

fn look_up(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(name)).find(|file| why_not_executable(file).is_none())
}

fn why_not_executable(file: &Path) -> Option<String> {
    match file.metadata() {
        Err(why) => Some(why.to_string()),
        Ok(meta) if meta.is_dir() => Some("it is a directory".to_owned()),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => Some("it is not executable".to_owned()),
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn executable(folder: &Path, name: &str) -> PathBuf {
        let file = folder.join(name);
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn named_executable_goes_before_the_variable_and_the_variable_before_path() {
        let folder = tempfile::tempdir().unwrap();
        let (named, variable, in_path) = (
            executable(folder.path(), "named"),
            executable(folder.path(), "variable"),
            executable(folder.path(), "google-chrome"),
        );
        let path = Some(folder.path().as_os_str().to_owned());
        let find = |named, variable| find_with(named, variable, path.clone(), &[]).unwrap();
        assert_eq!(find(Some(named.as_path()), Some(variable.clone().into())), named);
        assert_eq!(find(None, Some(variable.clone().into())), variable);
        assert_eq!(find(None, Some("variable".into())), variable);
        assert_eq!(find(None, Some("".into())), in_path);
        assert_eq!(find(None, None), in_path);
    }

    #[test]
    fn usual_places_are_searched_after_path() {
        let folder = tempfile::tempdir().unwrap();
        let place = executable(folder.path(), "place");
        let places = ["/no/such/file", place.to_str().unwrap()];
        assert_eq!(find_with(None, None, None, &places).unwrap(), place);
    }

    #[test]
    fn absent_chromium_names_all_places_and_the_install_command() {
        let error = find_with(None, None, Some("/no/such/folder".into()), &["/no/such/file"]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("chromium in PATH") && text.ends_with("/no/such/file"), "{text}");
        let help = miette::Diagnostic::help(&error).unwrap().to_string();
        assert!(help.contains(crate::INSTALL_CHROMIUM), "{help}");
    }

    #[test]
    fn unusable_executable_names_its_source_and_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        let why = |executable: &Path| match find_with(Some(executable), None, None, &[]) {
            Err(BrowserError::Unusable { given_by: "--chromium", why, .. }) => why,
            other => panic!("{other:?}"),
        };
        assert!(why(&folder.path().join("absent")).contains("No such file"));
        assert_eq!(why(folder.path()), "it is a directory");
        assert_eq!(why(&plain), "it is not executable");
        let from_variable = find_with(None, Some("absent".into()), None, &[]);
        assert!(matches!(from_variable, Err(BrowserError::Unusable { given_by: "CHROME", .. })));
    }
}

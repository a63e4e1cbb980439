use std::ffi::OsString;
use std::mem::take;

/// The option, and its start in `--report=VALUE`.
const OPTION: &str = "--report";

/// Gives each report an option of its own: `--report json=a junit=b` and `--report json=a,junit=b` become
/// `--report json=a --report junit=b`. A target such as `service` after a report stays a target.
pub(super) fn separate(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut separate: Vec<OsString> = Vec::new();
    let mut takes_value = false;
    let mut in_reports = false;
    for argument in arguments {
        let Some(text) = argument.to_str() else {
            (takes_value, in_reports) = (false, false);
            separate.push(argument);
            continue;
        };
        let attached = text.strip_prefix(OPTION).and_then(|rest| rest.strip_prefix('='));
        let is_value = take(&mut takes_value) || (in_reports && names_format(text));
        if let Some(reports) = attached.or_else(|| is_value.then_some(text)) {
            // The option itself stands before a value of its own.
            if attached.is_none() && separate.last().is_some_and(|last| last == OPTION) {
                separate.pop();
            }
            for report in split(reports) {
                separate.extend([OPTION.into(), report.into()]);
            }
            in_reports = true;
        } else {
            takes_value = text == OPTION;
            in_reports = takes_value;
            separate.push(argument);
        }
    }
    separate
}

/// Splits at each comma before a format, because a path can contain a comma.
fn split(reports: &str) -> Vec<String> {
    let mut split: Vec<String> = Vec::new();
    for piece in reports.split(',') {
        match split.last_mut() {
            Some(last) if !names_format(piece) => {
                last.push(',');
                last.push_str(piece);
            }
            _ => split.push(piece.to_owned()),
        }
    }
    split
}

/// Whether a text begins like a report: letters and `=`. A URL or a path does not.
fn names_format(text: &str) -> bool {
    let format = text.split_once('=').map(|(format, _)| format);
    format.is_some_and(|format| !format.is_empty() && format.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one("--report json=a", "--report json=a")]
    #[case::words("--report json=a junit=b", "--report json=a --report junit=b")]
    #[case::commas("--report json=a,junit=b --quiet", "--report json=a --report junit=b --quiet")]
    #[case::attached("--report=json=a html=b", "--report json=a --report html=b")]
    #[case::repeated("--report json=a --report html=b", "--report json=a --report html=b")]
    #[case::target_after_report("--report json=a service", "--report json=a service")]
    #[case::url_after_report("--report json=a https://e.example", "--report json=a https://e.example")]
    #[case::comma_in_path("--report json=a,b.json,html=c", "--report json=a,b.json --report html=c")]
    #[case::invalid_value("--report r.json", "--report r.json")]
    #[case::no_value("--report", "--report")]
    #[case::other_option("--launch A=b --report json=-", "--launch A=b --report json=-")]
    #[case::unknown_format("--report json=a xml=b", "--report json=a --report xml=b")]
    fn each_report_gets_an_option(#[case] given: &str, #[case] expected: &str) {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(separate(words(given).into_iter()), words(expected));
    }
}

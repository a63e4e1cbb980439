use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::{NamedSource, SourceSpan};
use toml::{Spanned, Table, Value};

use super::action_model::{ActionModel, SavedFields};
use super::finding::describe;
use super::steps::{ConnectionChoice, KEPT_CONNECTIONS, LONGEST_PAUSE_MS, Sequence, Step};

/// Keys of a step besides those of its action.
const STEP_KEYS: [&str; 3] = ["connection", "together", "pause-ms"];

/// A saved sequence with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSequence<A> {
    /// The file's name without its ending.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The steps.
    pub sequence: Sequence<A>,
}

/// A saved sequence that is unreadable or invalid.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum SavedSequenceError {
    /// The file cannot be read.
    #[error("cannot read the sequence {}: {why}", path.display())]
    #[diagnostic(help("--replay takes a file that --save wrote"))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        why: io::Error,
    },
    /// A place in the file is invalid.
    #[error("cannot read the sequence {problem}")]
    #[diagnostic(help("{advice}"))]
    Invalid {
        /// File, number of the line, and what is wrong with it.
        problem: String,
        /// What to do.
        advice: String,
        /// Text of the file.
        #[source_code]
        source_code: Arc<NamedSource<String>>,
        /// Position in the file.
        #[label("here")]
        at: SourceSpan,
    },
    /// The file belongs to another target.
    #[error("cannot replay {} on {given}: it is a sequence for {own}", path.display())]
    #[diagnostic(help("{advice}"))]
    OtherTarget {
        /// The file.
        path: PathBuf,
        /// The tested target.
        given: &'static str,
        /// The target of the file.
        own: String,
        /// What to do.
        advice: String,
    },
}

impl<A: Clone + PartialEq> NamedSequence<A> {
    /// Reads a saved sequence.
    pub fn load<M: ActionModel<Action = A>>(path: &Path, model: &M) -> Result<Self, SavedSequenceError> {
        let unreadable = |why| SavedSequenceError::Unreadable { path: path.into(), why };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        let sequence = parse(path, &text, model)?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name: stem, path: path.into(), sequence })
    }
}

/// The text of a sequence, and a name that no other sequence has.
pub fn render<M: ActionModel>(model: &M, sequence: &Sequence<M::Action>) -> (String, String) {
    let mut body = format!("target = \"{}\"\n", M::TARGET);
    for step in &sequence.steps {
        body.push_str("\n[[step]]\n");
        for (key, values) in model.save(&step.action) {
            let quoted: Vec<String> =
                values.into_iter().map(|value| Value::String(value).to_string()).collect();
            // Only lists may be empty or longer.
            let text = if is_list(key) { format!("[{}]", quoted.join(", ")) } else { quoted.concat() };
            _ = writeln!(body, "{key} = {text}");
        }
        if let ConnectionChoice::Kept(number) = step.connection {
            _ = writeln!(body, "connection = {number}");
        }
        if step.together {
            body.push_str("together = true\n");
        }
        if step.pause_ms > 0 {
            _ = writeln!(body, "pause-ms = {}", step.pause_ms);
        }
    }
    let name = format!("{}-{:08x}", M::TARGET, checksum(body.as_bytes()));
    let mut text = "# A sequence of steps. `edgeproof conformance` plays it with --replay FILE.\n".to_owned();
    for line in describe(model, sequence) {
        _ = writeln!(text, "# {}", line.replace(char::is_control, " "));
    }
    (name, text + &body)
}

/// Saves a sequence in a folder by `write`, and yields its file.
pub fn save<M: ActionModel>(
    folder: &Path,
    model: &M,
    sequence: &Sequence<M::Action>,
    write: impl FnOnce(&Path, &str) -> io::Result<()>,
) -> io::Result<PathBuf> {
    let (name, text) = render(model, sequence);
    let path = folder.join(format!("{name}.toml"));
    write(&path, &text)?;
    Ok(path)
}

/// Creates a folder for sequences, and checks that files can be written there.
pub fn prepare_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::NamedTempFile::new_in(folder).map(drop)
}

/// Reads the text of a saved sequence.
pub fn parse<M: ActionModel>(
    path: &Path,
    text: &str,
    model: &M,
) -> Result<Sequence<M::Action>, SavedSequenceError> {
    let source = Source { path, text };
    let document: RawFile = toml::from_str(text).map_err(|why| {
        let span = why.span().unwrap_or(0..text.len());
        let message = why.message().lines().collect::<Vec<_>>().join(", ");
        source.invalid(&span, message, "compare the file with one that --save wrote")
    })?;
    let target = document.target.get_ref();
    if target != M::TARGET {
        if !["edge", "service"].contains(&target.as_str()) {
            let why = format!("there is no target {target:?}");
            return Err(source.invalid(&document.target.span(), why, "write \"edge\" or \"service\""));
        }
        let advice = format!("run `edgeproof conformance {target} --replay {}`", path.display());
        let (path, own) = (path.into(), target.clone());
        return Err(SavedSequenceError::OtherTarget { path, given: M::TARGET, own, advice });
    }
    if document.step.is_empty() {
        return Err(source.invalid(&(0..text.len()), "there is no step", "add a table [[step]]"));
    }
    let steps = document.step.iter().map(|step| source.step(step, model));
    let sequence = Sequence::new(steps.collect::<Result<_, _>>()?);
    if !sequence.steps.iter().any(|step| model.is_judged(&step.action)) {
        let why = "no step is judged, so the sequence cannot fail";
        return Err(source.invalid(&document.step[0].span(), why, "add an exchange or another judged step"));
    }
    if let Some(step) = sequence.wrongly_together(|action| model.is_alone(action)).first() {
        let at = source.key(&document.step[*step].span(), "together");
        let why = "the service breaks its connection in this step or in the next one, so they cannot start together";
        return Err(source.invalid(&at, why, "remove `together`"));
    }
    Ok(sequence)
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    target: Spanned<String>,
    #[serde(default)]
    step: Vec<Spanned<Table>>,
}

/// A file and its text.
struct Source<'t> {
    path: &'t Path,
    text: &'t str,
}

impl Source<'_> {
    fn step<M: ActionModel>(
        &self,
        raw: &Spanned<Table>,
        model: &M,
    ) -> Result<Step<M::Action>, SavedSequenceError> {
        let known: Vec<&'static str> = M::KEYS.iter().copied().chain(STEP_KEYS).collect();
        let mut fields = SavedFields::new();
        let mut step = Step::plain(());
        for (key, value) in raw.get_ref() {
            let at = self.key(&raw.span(), key);
            let invalid = |why: String, advice: &str| self.invalid(&at, why, advice);
            match (key.as_str(), value) {
                ("connection", Value::Integer(number)) => {
                    let number =
                        u8::try_from(*number).ok().filter(|number| (1..=KEPT_CONNECTIONS).contains(number));
                    let advice = format!("write 1 to {KEPT_CONNECTIONS}, or omit it for a fresh connection");
                    let number =
                        number.ok_or_else(|| invalid(format!("there is no connection {value}"), &advice))?;
                    step.connection = ConnectionChoice::Kept(number);
                }
                ("together", Value::Boolean(together)) => step.together = *together,
                ("pause-ms", Value::Integer(pause)) => {
                    let pause = u16::try_from(*pause).ok().filter(|pause| *pause <= LONGEST_PAUSE_MS);
                    let advice = format!("write 0 to {LONGEST_PAUSE_MS}");
                    step.pause_ms =
                        pause.ok_or_else(|| invalid(format!("the pause {value} is invalid"), &advice))?;
                }
                (name, value) => {
                    let Some(key) = known.iter().find(|known| **known == name && !STEP_KEYS.contains(known))
                    else {
                        let why = if STEP_KEYS.contains(&name) {
                            format!("`{name}` has a value of another type")
                        } else {
                            format!("a step for {} has no key `{name}`", M::TARGET)
                        };
                        return Err(invalid(why, &format!("the keys are {}", known.join(", "))));
                    };
                    let values = texts(value, is_list(key));
                    let advice = if is_list(key) { "write a list of strings" } else { "write one string" };
                    let values = values.ok_or_else(|| invalid(format!("`{key}` is not a string"), advice))?;
                    fields.push((key, values));
                }
            }
        }
        let action = model.parse(&fields).map_err(|error| {
            let at = error.key.map_or(raw.span(), |key| self.key(&raw.span(), key));
            self.invalid(&at, error.why, &error.advice)
        })?;
        if step.connection != ConnectionChoice::Fresh && model.has_own_connection(&action) {
            let at = self.key(&raw.span(), "connection");
            let why = "the client of this step leaves, so it has a connection of its own";
            return Err(self.invalid(&at, why, "remove `connection`"));
        }
        Ok(Step { action, connection: step.connection, together: step.together, pause_ms: step.pause_ms })
    }

    /// Position of a key in a step, or of the whole step.
    fn key(&self, step: &Range<usize>, key: &str) -> Range<usize> {
        let end = self.text[step.start..].find("\n[[").map_or(self.text.len(), |end| step.start + end);
        let mut start = step.start;
        for line in self.text[step.start..end].split_inclusive('\n') {
            let (name, _) = line.split_once('=').unwrap_or((line, ""));
            if name.trim().trim_matches('"') == key {
                return start..start + line.trim_end().len();
            }
            start += line.len();
        }
        step.clone()
    }

    fn invalid(&self, span: &Range<usize>, why: impl Into<String>, advice: &str) -> SavedSequenceError {
        let start = span.start.min(self.text.len());
        let line = self.text[..start].matches('\n').count() + 1;
        SavedSequenceError::Invalid {
            problem: format!("{} line {line}: {}", self.path.display(), why.into()),
            advice: advice.to_owned(),
            source_code: Arc::new(NamedSource::new(self.path.display().to_string(), self.text.to_owned())),
            at: (start, span.end.saturating_sub(start)).into(),
        }
    }
}

/// The texts of a value: one, or a list.
fn texts(value: &Value, is_list: bool) -> Option<Vec<String>> {
    match value {
        Value::String(text) if !is_list => Some(vec![text.clone()]),
        Value::Array(values) if is_list => {
            values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}

/// Whether a key has a list of values.
fn is_list(key: &str) -> bool {
    key == "values"
}

/// FNV-1a, 32 bits: enough to name files, and the same in each version of edgeproof.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

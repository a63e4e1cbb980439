use std::fs;
use std::path::Path;

use edgeproof_cli::Failure;

use super::manifest::manifest;
use super::proposal::Proposal;

/// Names of modules that a server often has.
const MODULES: [&str; 6] = ["edge", "main", "app", "server", "asgi", "wsgi"];
/// Folders of a virtual environment.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];

/// manage.py, or else a module with a usual name, or else a script of pyproject.toml.
pub(super) fn proposal(folder: &Path) -> Result<Option<Proposal>, Failure> {
    let python = python(folder);
    if folder.join("manage.py").is_file() {
        let launch = format!("{python} manage.py runserver --noreload {{host}}:{{port}}");
        return Ok(Some(Proposal::new(launch, "manage.py")));
    }
    for module in MODULES {
        let file = format!("{module}.py");
        let Ok(text) = fs::read_to_string(folder.join(&file)) else { continue };
        let launch = match application(&text) {
            Some((name, "Flask")) => {
                format!("{python} -m flask --app {module}:{name} run --host {{host}} --port {{port}}")
            }
            Some((name, _)) => format!("{python} -m uvicorn {module}:{name} --host {{host}} --port {{port}}"),
            None => format!("{python} {file}"),
        };
        return Ok(Some(Proposal::new(launch, file)));
    }
    if !folder.join("pyproject.toml").is_file() {
        return Ok(None);
    }
    let project: toml::Table = manifest(folder, "pyproject.toml", |text| {
        text.parse().map_err(|why: toml::de::Error| why.to_string())
    })?;
    let scripts = project.get("project").and_then(|project| project.get("scripts")?.as_table());
    let names: Vec<&String> = scripts.into_iter().flat_map(|scripts| scripts.keys()).collect();
    // Others than the server may do what nobody asked for.
    let name = match names[..] {
        [only] => Some(only),
        _ => names.into_iter().find(|name| MODULES.contains(&name.as_str())),
    };
    Ok(name.map(|name| {
        let launch = python.strip_suffix("python").map_or(name.clone(), |bin| format!("{bin}{name}"));
        Proposal::new(launch, "scripts of pyproject.toml")
    }))
}

/// Python and the packages.
pub(super) fn steps(folder: &Path) -> String {
    let python = python(folder);
    let environment =
        python.strip_suffix("/bin/python").map(|environment| format!("python3 -m venv {environment}"));
    let packages = match ["requirements.txt", "pyproject.toml"].map(|file| folder.join(file).is_file()) {
        [true, _] => Some("-r requirements.txt"),
        [_, true] => Some("."),
        _ => None,
    };
    let install = packages.map(|packages| format!("{python} -m pip install {packages}"));
    let commands =
        [environment, install].into_iter().flatten().map(|command| format!("      - run: {command}\n"));
    let setup = "      - uses: actions/setup-python@v5\n        with:\n          python-version: 3.x\n";
    std::iter::once(setup.to_owned()).chain(commands).collect()
}

/// The interpreter, of the virtual environment if there is one.
fn python(folder: &Path) -> String {
    let own = ENVIRONMENTS.iter().map(|name| format!("{name}/bin/python"));
    own.into_iter().find(|path| folder.join(path).exists()).unwrap_or_else(|| "python3".to_owned())
}

/// Variable and framework of an application that a server of its framework starts.
fn application(text: &str) -> Option<(&str, &'static str)> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let (name, value) = (name.split(':').next()?.trim_end(), value.trim_start());
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let frameworks = ["FastAPI", "Starlette", "Flask"];
        let framework = frameworks.into_iter().find(|framework| {
            value.strip_prefix(framework).is_some_and(|rest| rest.trim_start().starts_with('('))
        })?;
        is_name.then_some((name, framework))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::flask("import flask\napp = Flask(__name__)\n", Some(("app", "Flask")))]
    #[case::typed("api: FastAPI = FastAPI()\n", Some(("api", "FastAPI")))]
    #[case::within_a_function("def make():\n    app = Flask(__name__)\n", None)]
    #[case::other("app = web.Application()\n", None)]
    #[case::similar("app = FlaskLike()\n", None)]
    fn application_is_a_variable_of_the_module(
        #[case] text: &str,
        #[case] expected: Option<(&str, &'static str)>,
    ) {
        assert_eq!(application(text), expected);
    }
}

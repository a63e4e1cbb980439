//! Imports between the files of one crate. A name that a module hands on counts for the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, UseTree, Visibility};

/// Segments of a path from the root of the crate.
type Segments = Vec<String>;

/// File → the files that it imports from.
pub(super) type Imports = BTreeMap<String, BTreeSet<String>>;

/// Imports in a folder of sources.
pub(super) fn of_folder(folder: &Path) -> Imports {
    of_sources(&sources_of(folder, folder))
}

/// The Rust files of a folder, without `main.rs`: the path of each one seen from `root`, and its text.
pub(super) fn sources_of(root: &Path, folder: &Path) -> Vec<(String, String)> {
    let mut sources = Vec::new();
    read(root, folder, &mut sources);
    sources
}

/// Imports in sources: the path of each file and its text.
pub(super) fn of_sources(sources: &[(String, String)]) -> Imports {
    let mut modules = BTreeMap::new();
    for (file, text) in sources {
        let mut reader = Reader { modules: &mut modules, file, module: module_of(file) };
        reader.modules.insert(reader.module.clone(), Module::of(file));
        reader.visit_file(&syn::parse_file(text).unwrap_or_else(|why| panic!("{file}: {why}")));
    }
    let names = modules.iter().map(|(path, module)| (path.clone(), absolute_names(path, module, &modules)));
    let names: BTreeMap<Segments, BTreeMap<String, Segments>> = names.collect();
    let mut imports = Imports::new();
    for (path, module) in &modules {
        let own = &names[path];
        let through_names = module.paths.iter().filter_map(|used| match own.get(&used[0]) {
            Some(named) => Some([named.as_slice(), &used[1..]].concat()),
            None => absolute(path, used, &modules),
        });
        let private =
            module.uses.iter().filter(|used| used.private).filter_map(|used| own.get(&used.name).cloned());
        for used in private.chain(through_names) {
            let Some(definer) = definer(&used, &modules, &names, 0) else { continue };
            let (from, to) = (&module.file, &modules[&definer].file);
            if from != to {
                imports.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    imports
}

/// A name that a module takes or hands on.
struct Named {
    name: String,
    /// The path as written.
    path: Segments,
    /// Taken for the module itself, not handed on.
    private: bool,
}

/// What one module names.
struct Module {
    file: String,
    uses: Vec<Named>,
    /// Paths of at least two segments, as written.
    paths: BTreeSet<Segments>,
}

impl Module {
    fn of(file: &str) -> Self {
        Self { file: file.to_owned(), uses: Vec::new(), paths: BTreeSet::new() }
    }
}

type Modules = BTreeMap<Segments, Module>;

fn read(root: &Path, folder: &Path, sources: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(root, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("main.rs") {
            let file = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            sources.push((file, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn module_of(file: &str) -> Segments {
    let mut module: Segments = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|name| name == "mod" || name == "lib") {
        module.pop();
    }
    module
}

/// Reads one file, without what only tests compile.
struct Reader<'m> {
    modules: &'m mut Modules,
    file: &'m str,
    module: Segments,
}

impl Reader<'_> {
    fn here(&mut self) -> &mut Module {
        self.modules.get_mut(&self.module).expect("a module is added before it is read")
    }

    fn add_use(&mut self, tree: &UseTree, before: &[String], private: bool) {
        let mut add = |name: String, path| self.here().uses.push(Named { name, path, private });
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_use(&path.tree, &with(path.ident.to_string()), private),
            UseTree::Name(name) if name.ident == "self" => {
                let last = before.last().expect("`self` stands in braces after a path").clone();
                add(last, before.to_vec());
            }
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                add(name.clone(), with(name));
            }
            UseTree::Rename(renamed) => {
                add(renamed.rename.to_string(), with(renamed.ident.to_string()));
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(tree, before, private)),
            // Only tests have such imports.
            UseTree::Glob(_) => {}
        }
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'a ItemUse) {
        let private = matches!(item.vis, Visibility::Inherited);
        self.add_use(&item.tree, &[], private);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if item.content.is_none() || is_test(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        self.modules.insert(self.module.clone(), Module::of(self.file));
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        if path.segments.len() > 1 {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.here().paths.insert(segments);
        }
        visit::visit_path(self, path);
    }
}

pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

fn absolute_names(path: &Segments, module: &Module, modules: &Modules) -> BTreeMap<String, Segments> {
    let named = module.uses.iter();
    named.filter_map(|used| Some((used.name.clone(), absolute(path, &used.path, modules)?))).collect()
}

/// The path from the root of the crate. `None`: it names another crate.
fn absolute(module: &Segments, used: &Segments, modules: &Modules) -> Option<Segments> {
    match used[0].as_str() {
        "crate" => Some(used[1..].to_vec()),
        "self" => Some([module.as_slice(), &used[1..]].concat()),
        "super" => {
            let up = used.iter().take_while(|segment| *segment == "super").count();
            Some([&module[..module.len().checked_sub(up)?], &used[up..]].concat())
        }
        child => {
            let inner = [module.as_slice(), &[child.to_owned()]].concat();
            modules.contains_key(&inner).then(|| [module.as_slice(), used].concat())
        }
    }
}

/// The module that defines what the path names. `None`: the path names a module.
fn definer(
    path: &[String],
    modules: &Modules,
    names: &BTreeMap<Segments, BTreeMap<String, Segments>>,
    depth: usize,
) -> Option<Segments> {
    let mut module = Segments::new();
    for (at, segment) in path.iter().enumerate() {
        let inner = [module.as_slice(), std::slice::from_ref(segment)].concat();
        if modules.contains_key(&inner) {
            module = inner;
        } else if let Some(handed_on) = names.get(&module).and_then(|names| names.get(segment))
            && depth < 20
        {
            return definer(&[handed_on.as_slice(), &path[at + 1..]].concat(), modules, names, depth + 1);
        } else {
            return modules.contains_key(&module).then_some(module);
        }
    }
    None
}

//! Which files of a crate import each other in a circle: a small resolver of paths over the sources.
//!
//! A file imports another if a path in it leads to an item that the other defines, through whatever re-exports. A
//! module's declaration is no import, nor is the name of a module alone. What `#[cfg(test)]` guards is left out. A method's
//! call is not seen: nothing in the source says where the method is defined.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// The texts of a crate's files.
pub type Sources = BTreeMap<PathBuf, String>;

/// That a file imports another, and the paths that lead there.
pub struct Import {
    pub from: PathBuf,
    pub to: PathBuf,
    pub paths: BTreeSet<String>,
}

/// The circles among the files that `root` declares, each as the imports that form it.
pub fn circles(root: &Path, sources: &Sources) -> Vec<Vec<Import>> {
    let mut modules = Modules { all: Vec::new(), sources };
    modules.file(root, None);
    let imports = modules.imports();
    let reach: BTreeMap<&Path, BTreeSet<&Path>> =
        modules.all.iter().map(|module| (&*module.file, reached(&module.file, &imports))).collect();
    let circle_of = |file: &&Path| -> BTreeSet<&Path> {
        reach[file].iter().filter(|other| reach[*other].contains(file)).copied().collect()
    };
    let circles: BTreeSet<BTreeSet<&Path>> = reach.keys().map(circle_of).filter(|circle| circle.len() > 1).collect();
    let inside = |circle: BTreeSet<&Path>| {
        let both = imports.iter().filter(|((from, to), _)| circle.contains(&**from) && circle.contains(&**to));
        both.map(|((from, to), paths)| Import { from: from.clone(), to: to.clone(), paths: paths.clone() }).collect()
    };
    circles.into_iter().map(inside).collect()
}

/// Importer and imported file, with the paths that lead there.
type Imports = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

/// The files to which the imports of `from` lead, and theirs in turn.
fn reached<'a>(from: &'a Path, imports: &'a Imports) -> BTreeSet<&'a Path> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        let next = imports.keys().filter(|(importer, _)| importer == file).map(|(_, imported)| &**imported);
        open.extend(next.filter(|imported| reached.insert(*imported)));
    }
    reached
}

/// What a path leads to.
enum Found {
    Module(usize),
    /// The file that defines it.
    Item(PathBuf),
}

struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    /// The names that `use` brings in, with the paths that they stand for.
    names: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// All other paths.
    paths: BTreeSet<Vec<String>>,
}

struct Modules<'a> {
    all: Vec<Module>,
    sources: &'a Sources,
}

impl Modules<'_> {
    fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (id, module) in self.all.iter().enumerate() {
            for path in module.names.values().chain(&module.globs).chain(&module.paths) {
                if let Some(Found::Item(file)) = self.resolve(id, path, &mut HashSet::new())
                    && file != module.file
                {
                    imports.entry((module.file.clone(), file)).or_default().insert(path.join("::"));
                }
            }
        }
        imports
    }

    fn file(&mut self, file: &Path, parent: Option<usize>) -> usize {
        let text = &self.sources[file];
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("a source has a name");
        let folder = file.parent().expect("a source is in a folder");
        let folder = if ["lib", "main", "mod"].contains(&stem) { folder.to_owned() } else { folder.join(stem) };
        self.module(file, &folder, parent, &parsed.items)
    }

    fn module(&mut self, file: &Path, folder: &Path, parent: Option<usize>, items: &[Item]) -> usize {
        let id = self.all.len();
        self.all.push(Module {
            file: file.to_owned(),
            parent,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            names: BTreeMap::new(),
            globs: Vec::new(),
            paths: BTreeSet::new(),
        });
        for item in items {
            let Item::Mod(declared) = item else {
                self.all[id].visit_item(item);
                self.all[id].items.extend(name_of(item));
                continue;
            };
            if only_tests(&declared.attrs) {
                continue;
            }
            let name = declared.ident.to_string();
            let child = if let Some((_, items)) = &declared.content {
                self.module(file, &folder.join(&name), Some(id), items)
            } else {
                let places = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
                let found = places.iter().find(|place| self.sources.contains_key(*place));
                self.file(found.unwrap_or_else(|| panic!("no file for {name} of {}", file.display())), Some(id))
            };
            self.all[id].children.insert(name, child);
        }
        id
    }

    fn resolve(&self, from: usize, path: &[String], seen: &mut HashSet<(usize, String)>) -> Option<Found> {
        let mut here = from;
        for (at, name) in path.iter().enumerate() {
            let last = at + 1 == path.len();
            here = match name.as_str() {
                "crate" => 0,
                "self" => here,
                "super" => self.all[here].parent?,
                name => match self.look_up(here, name, last, seen)? {
                    Found::Module(found) => found,
                    item @ Found::Item(_) => return Some(item),
                },
            };
        }
        Some(Found::Module(here))
    }

    /// A module and an item may share a name: at a path's end the item is meant.
    fn look_up(&self, at: usize, name: &str, last: bool, seen: &mut HashSet<(usize, String)>) -> Option<Found> {
        let module = &self.all[at];
        let child = module.children.get(name).map(|child| Found::Module(*child));
        if child.is_some() && !last {
            return child;
        }
        if module.items.contains(name) {
            return Some(Found::Item(module.file.clone()));
        }
        if !seen.insert((at, name.to_owned())) {
            return child;
        }
        let used = module.names.get(name).and_then(|path| self.resolve(at, path, seen));
        used.or(child).or_else(|| {
            module.globs.iter().find_map(|glob| match self.resolve(at, glob, &mut HashSet::new())? {
                Found::Module(of) if of != at => self.look_up(of, name, last, seen),
                _ => None,
            })
        })
    }
}

impl Module {
    fn import(&mut self, tree: &UseTree, prefix: &[String]) {
        let with = |name: &syn::Ident| prefix.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        let mut bind = |name: String, path: &syn::Ident| {
            let path = if path == "self" { prefix.to_vec() } else { with(path) };
            self.names.insert(name, path);
        };
        let last = || prefix.last().cloned().unwrap_or_default();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            UseTree::Name(name) if name.ident == "self" => bind(last(), &name.ident),
            UseTree::Name(name) => bind(name.ident.to_string(), &name.ident),
            UseTree::Rename(rename) if rename.rename == "_" => self.paths.extend([with(&rename.ident)]),
            UseTree::Rename(rename) => bind(rename.rename.to_string(), &rename.ident),
            UseTree::Glob(_) => self.globs.push(prefix.to_vec()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, prefix)),
        }
    }

    /// The paths in a macro's call: names with nothing but `::` between them.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.paths.insert(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                other => {
                    self.paths.insert(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.scan(group.stream());
                    }
                }
            }
        }
        self.paths.insert(path);
    }
}

impl<'ast> Visit<'ast> for Module {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).is_some_and(only_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, used: &'ast syn::ItemUse) {
        if used.leading_colon.is_none() {
            self.import(&used.tree, &[]);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !only_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.paths.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.scan(call.tokens.clone());
        visit::visit_macro(self, call);
    }

    /// `#[serde(with = "crate::text")]` names a path in a string.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.scan(list.tokens.clone());
            for token in list.tokens.clone() {
                if let TokenTree::Literal(literal) = token {
                    let text = literal.to_string();
                    if let Ok(path) = syn::parse_str::<syn::Path>(text.trim_matches('"')) {
                        self.visit_path(&path);
                    }
                }
            }
        }
    }
}

fn only_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("cfg") && list.tokens.to_string() == "test"
    })
}

fn attributes(item: &Item) -> Option<&[Attribute]> {
    Some(match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return None,
    })
}

fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        _ => return None,
    };
    Some(name.to_string())
}

//! Java programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use indexmap::IndexMap;
use model::study::{JavaProgram, JavaSpec, ServerSpec};

use super::error::{RuntimeError, io_error};
use super::folders::{finish, unfinished};
use super::installed::{Installed, Jvm, study_file};
use super::jdk::{self, Jdk};
use super::maven::Coordinates;
use super::toolbox::{ToolEnd, Toolbox};
use crate::hash;

const COMPILE_WITHIN: Duration = Duration::from_secs(5 * 60);

pub(super) fn install(
    java: &JavaSpec,
    program: &JavaProgram,
    spec: &ServerSpec,
    dir: &Path,
    toolbox: &Toolbox<'_>,
) -> Result<Installed, RuntimeError> {
    let jdk = jdk::find(java.jdk.as_deref(), dir)?;
    let mut options = java.jvm.clone();
    options.extend(properties(&java.properties));
    let mut files = class_path(&java.jars, dir, toolbox)?;
    let runs = match program {
        JavaProgram::Jar(name) if !java.jars.is_empty() => return Err(RuntimeError::JarAndClassPath(name.clone())),
        JavaProgram::Jar(name) => {
            let (name, path) = archive(name, dir, toolbox)?;
            let runs = vec!["-jar".to_owned(), path.to_string_lossy().into_owned()];
            files.insert(name, path);
            runs
        }
        JavaProgram::Main(name) => main_class(name, &mut files, &jdk, dir, toolbox)?,
    };
    Ok(assemble(jdk, options, runs, files, None, spec))
}

/// A JVM with `options` that runs `runs`, the words from the class path on.
pub(super) fn assemble(
    jdk: Jdk,
    options: Vec<String>,
    runs: Vec<String>,
    files: IndexMap<String, PathBuf>,
    jruby: Option<PathBuf>,
    spec: &ServerSpec,
) -> Installed {
    let args = options.iter().cloned().chain(runs).chain(spec.args.iter().cloned()).collect();
    let mut installed = Installed::new(jdk.tool("java"), args, spec);
    installed.env.entry("JAVA_HOME".to_owned()).or_insert_with(|| jdk.home.to_string_lossy().into_owned());
    installed.versions.insert("jdk".to_owned(), jdk.version.clone());
    installed.files = files;
    installed.jvm = Some(Jvm { jdk, options, jruby });
    installed
}

/// System properties as options.
pub(super) fn properties(properties: &IndexMap<String, String>) -> impl Iterator<Item = String> {
    properties.iter().map(|(name, value)| format!("-D{name}={value}"))
}

/// The files of a class path by the names that the study gives them: files and folders, `lib/*`, Maven coordinates.
pub(super) fn class_path(
    jars: &[String],
    dir: &Path,
    toolbox: &Toolbox<'_>,
) -> Result<IndexMap<String, PathBuf>, RuntimeError> {
    let mut files = IndexMap::new();
    for jar in jars {
        match jar.strip_suffix("/*") {
            Some(folder) => files.extend(jars_in(folder, dir)?),
            None => files.extend([archive(jar, dir, toolbox)?]),
        }
    }
    Ok(files)
}

/// Listed here rather than by the JVM, which takes them in the file system's order.
fn jars_in(folder: &str, dir: &Path) -> Result<Vec<(String, PathBuf)>, RuntimeError> {
    let path = study_file("folder of jars", folder, dir)?;
    let entries = path.read_dir().map_err(io_error("list", &path))?.flatten().map(|entry| entry.path());
    let mut jars: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "jar")).collect();
    jars.sort();
    let named = |path: PathBuf| (format!("{folder}/{}", path.file_name().unwrap_or_default().display()), path);
    Ok(jars.into_iter().map(named).collect())
}

fn archive(name: &str, dir: &Path, toolbox: &Toolbox<'_>) -> Result<(String, PathBuf), RuntimeError> {
    let path = match Coordinates::parse(name) {
        Some(coordinates) => coordinates.fetch(toolbox)?,
        None => study_file("class path entry", name, dir)?,
    };
    Ok((name.to_owned(), path))
}

/// `-cp`, the class path, the class; a source file is compiled first.
pub(super) fn main_class(
    name: &str,
    files: &mut IndexMap<String, PathBuf>,
    jdk: &Jdk,
    dir: &Path,
    toolbox: &Toolbox<'_>,
) -> Result<Vec<String>, RuntimeError> {
    let mut entries: Vec<PathBuf> = files.values().cloned().collect();
    let class = if Path::new(name).extension().is_some_and(|extension| extension == "java") {
        let source = study_file("main", name, dir)?;
        let (classes, class) = compile(name, &source, &join(&entries), jdk, toolbox)?;
        entries.insert(0, classes);
        files.insert(name.to_owned(), source);
        class
    } else {
        name.to_owned()
    };
    // Never empty: an empty class path means the working folder.
    if entries.is_empty() {
        entries.push(dir.to_owned());
    }
    Ok(vec!["-cp".to_owned(), join(&entries), class])
}

fn join(entries: &[PathBuf]) -> String {
    entries.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>().join(":")
}

/// Compiles a source file and those beside it that it uses; once for equal sources, class path and JDK.
fn compile(
    name: &str,
    source: &Path,
    class_path: &str,
    jdk: &Jdk,
    toolbox: &Toolbox<'_>,
) -> Result<(PathBuf, String), RuntimeError> {
    let text = fs::read_to_string(source).map_err(io_error("read", source))?;
    let class = class_name(source, &text);
    let beside = source.parent().unwrap_or(Path::new("/"));
    let identity = format!("{}\n{class_path}\n{}", jdk.home.display(), sources_identity(beside));
    let classes = toolbox.work.join(format!("classes-{}", &hash::sha256_of(&identity)[..16]));
    if classes.is_dir() {
        return Ok((classes, class));
    }
    let unfinished = unfinished(&toolbox.work);
    fs::create_dir_all(&unfinished).map_err(io_error("create", &unfinished))?;
    toolbox.announce(&format!("compiling {name}"));
    let mut command = Command::new(jdk.tool("javac"));
    command.arg("-cp").arg(class_path).arg("-sourcepath").arg(beside).arg("-d").arg(&unfinished).arg(source);
    let ran = toolbox.run(&command, COMPILE_WITHIN);
    let compiled = match ran {
        Ok(ended) if ended.well => finish(&unfinished, &classes).map_err(io_error("create", &classes)),
        Ok(ToolEnd { output, .. }) => {
            Err(RuntimeError::Compile { source_file: source.to_owned(), jdk: jdk.home.clone(), output })
        }
        Err(error) => Err(error.into()),
    };
    let _ = fs::remove_dir_all(&unfinished);
    compiled?;
    Ok((classes, class))
}

fn sources_identity(folder: &Path) -> String {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut hashes: Vec<String> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "java"))
        .filter_map(|path| Some(format!("{} {}", path.display(), hash::sha256(&path).ok()?)))
        .collect();
    hashes.sort();
    hashes.join("\n")
}

fn class_name(source: &Path, text: &str) -> String {
    let simple = source.file_stem().unwrap_or_default().to_string_lossy();
    let package = text.lines().find_map(|line| line.trim().strip_prefix("package ")?.split(';').next());
    package.map_or_else(|| simple.to_string(), |package| format!("{}.{simple}", package.trim()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_class_is_named_by_its_package_and_file() {
        let source = Path::new("/x/Server.java");
        assert_eq!(class_name(source, "// hi\npackage a.b ;\nclass Server {}"), "a.b.Server");
        assert_eq!(class_name(source, "class Server {}"), "Server");
    }

    #[test]
    fn jars_of_a_folder_come_in_order() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("lib")).unwrap();
        for name in ["b.jar", "a.jar", "c.txt"] {
            fs::write(dir.path().join("lib").join(name), "").unwrap();
        }
        let toolbox = Toolbox::new(dir.path(), Vec::new(), Arc::default());
        let files = class_path(&["lib/*".to_owned()], dir.path(), &toolbox).unwrap();
        assert_eq!(files.keys().collect::<Vec<_>>(), ["lib/a.jar", "lib/b.jar"]);
        let error = class_path(&["lib/d.jar".to_owned()], dir.path(), &toolbox).unwrap_err();
        assert!(error.to_string().contains("lib/d.jar"), "{error}");
    }
}

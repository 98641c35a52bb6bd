//! JRuby: fetched by its Maven coordinates, unpacked once, run by the JDK directly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use indexmap::IndexMap;
use model::study::{JavaSpec, JrubyProgram, ServerSpec};
use runtimes::jruby::{HOME, OPENS, STACK, property};

use super::error::{RuntimeError, io_error};
use super::folders::{finish, folders_in, unfinished};
use super::installed::{Installed, study_file};
use super::jdk::{self, Jdk};
use super::maven::{Coordinates, MavenError};
use super::toolbox::Toolbox;
use super::{java, ruby};
use crate::hash;

const UNPACK_WITHIN: Duration = Duration::from_secs(5 * 60);

/// A JRuby as a study asks for it.
pub(super) struct JrubyNeeds<'a> {
    pub version: &'a str,
    pub java: &'a JavaSpec,
    pub options: &'a IndexMap<String, String>,
    pub program: &'a JrubyProgram,
}

/// `org.jruby.Main` is run directly, not through the `jruby` launcher: the launcher takes options from `JRUBY_OPTS`,
/// `JAVA_OPTS`, `JAVA_MEM` and `.jruby.java_opts` files, and since version 10 keeps a class data archive between runs that
/// variants would share unseen.
pub(super) fn install(
    wanted: &JrubyNeeds<'_>,
    spec: &ServerSpec,
    dir: &Path,
    toolbox: &Toolbox<'_>,
) -> Result<Installed, RuntimeError> {
    let jdk = jdk::find(wanted.java.jdk.as_deref(), dir)?;
    let home = unpacked(wanted.version, &jdk, toolbox)?;
    // What comes last wins with the JVM: the study's options follow ours.
    let mut options: Vec<String> = OPENS.iter().map(|module| format!("--add-opens={module}=ALL-UNNAMED")).collect();
    if matches!(wanted.program, JrubyProgram::Script(_)) {
        options.push(STACK.to_owned());
    }
    options.extend(wanted.java.jvm.iter().cloned());
    options.push(format!("-D{HOME}={}", home.display()));
    options.extend(wanted.options.iter().map(|(name, value)| property(name, value)));
    options.extend(java::properties(&wanted.java.properties));

    let mut files = IndexMap::from([("jruby.jar".to_owned(), home.join("lib/jruby.jar"))]);
    files.extend(java::class_path(&wanted.java.jars, dir, toolbox)?);
    let runs = match wanted.program {
        JrubyProgram::Main(name) => java::main_class(name, &mut files, &jdk, dir, toolbox)?,
        JrubyProgram::Script(script) => {
            let mut runs = java::main_class("org.jruby.Main", &mut files, &jdk, dir, toolbox)?;
            let path = study_file("script", script, dir)?;
            runs.push(path.to_string_lossy().into_owned());
            files.extend(ruby::script_files(script, path, dir));
            runs
        }
    };
    let mut installed = java::assemble(jdk, options, runs, files, Some(home), spec);
    installed.versions.insert("jruby".to_owned(), wanted.version.to_owned());
    (installed.runs_ruby, installed.is_probed) = (true, true);
    Ok(installed)
}

/// Versions of JRuby that are unpacked already in this cache.
pub(super) fn installed(cache: &Path) -> Vec<String> {
    let folders = folders_in(&cache.join("jruby"));
    let names = folders.iter().filter_map(|folder| folder.file_name()?.to_str());
    names.filter(|name| !name.starts_with("unfinished-")).map(str::to_owned).collect()
}

/// JRuby's folder in the cache, made if it is not there yet, its jar unchanged since.
///
/// Layout of `jruby/VERSION`: `home/` as in the archive, `archive.sha256`, `jruby.jar.sha256`.
fn unpacked(version: &str, jdk: &Jdk, toolbox: &Toolbox<'_>) -> Result<PathBuf, RuntimeError> {
    let all = toolbox.cache.join("jruby");
    let folder = all.join(version);
    let home = folder.join("home");
    if !home.is_dir() {
        let unfinished = unfinished(&all);
        let finish = |()| finish(&unfinished, &folder).map_err(io_error("create", &folder));
        let kept = unpack(version, jdk, &unfinished, toolbox).and_then(finish);
        let _ = fs::remove_dir_all(&unfinished);
        kept?;
    }
    let jar = home.join("lib/jruby.jar");
    let sum = folder.join("jruby.jar.sha256");
    let expected = fs::read_to_string(&sum).map_err(io_error("read", &sum))?;
    let found = hash::sha256(&jar).map_err(io_error("read", &jar))?;
    if found == expected { Ok(home) } else { Err(RuntimeError::Changed { path: jar, expected, found, folder }) }
}

fn unpack(version: &str, jdk: &Jdk, folder: &Path, toolbox: &Toolbox<'_>) -> Result<(), RuntimeError> {
    fs::create_dir_all(folder).map_err(io_error("create", folder))?;
    let coordinates = Coordinates {
        group: "org.jruby".to_owned(),
        artifact: "jruby-dist".to_owned(),
        version: version.to_owned(),
        packaging: "zip",
        classifier: Some("bin".to_owned()),
    };
    toolbox.announce(&format!("fetching JRuby {version} through mvn"));
    let archive = coordinates.copy_to(folder, toolbox).map_err(|error| match error {
        MavenError::NotFound { .. } | MavenError::Unreachable { .. } => {
            RuntimeError::NoJruby { version: version.to_owned(), kept: installed(&toolbox.cache), error: error.into() }
        }
        error => error.into(),
    })?;
    toolbox.announce(&format!("unpacking JRuby {version}"));
    // The JDK's own `jar` unpacks zip archives: nothing else has to be installed.
    let ended =
        toolbox.run(Command::new(jdk.tool("jar")).arg("xf").arg(&archive).current_dir(folder), UNPACK_WITHIN)?;
    let unpacked = folder.join(format!("jruby-{version}"));
    if !ended.well || !unpacked.is_dir() {
        let reason = std::io::Error::other(format!("jar xf: {}", ended.output.trim()));
        return Err(io_error("unpack", &archive)(reason));
    }
    let home = folder.join("home");
    fs::rename(&unpacked, &home).map_err(io_error("create", &home))?;
    for (name, path) in [("archive.sha256", &archive), ("jruby.jar.sha256", &home.join("lib/jruby.jar"))] {
        let hash = hash::sha256(path).map_err(io_error("read", path))?;
        let sum = folder.join(name);
        fs::write(&sum, hash).map_err(io_error("write", &sum))?;
    }
    fs::remove_file(&archive).map_err(io_error("remove", &archive))
}

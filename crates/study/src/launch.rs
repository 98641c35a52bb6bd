//! From a server's or a service's keys to how it is launched.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use miette::SourceSpan;
use model::study::{JavaProgram, JavaSpec, JrubyProgram, Ready, ReadySign, Runtime, ServerSpec, Service};

use crate::file::{ReadyKeys, RuntimeName, ServerKeys, ServiceKeys, Table};
use crate::placeholder::{Placeholders, names};
use crate::problem::{Problem, Problems, quoted};
use crate::value::{At, Text};
use crate::{host, memory};

const READY_WITHIN: Duration = Duration::from_secs(60);
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// What a launch's keys are read against.
pub(crate) struct Launches {
    /// Absolute folder of the study file.
    pub dir: PathBuf,
    /// Whether a hook may build files that are not there yet.
    pub setup_builds: bool,
    /// The sign of readiness of a server that names none.
    pub ready: ReadySign,
    /// What a server's texts may hold.
    pub placeholders: Placeholders,
}

impl Launches {
    /// How a server with these (merged) keys is launched; `server` is the place of `[server]`.
    pub fn server(&self, keys: &ServerKeys, server: SourceSpan, problems: &mut Problems) -> Option<ServerSpec> {
        let Some(runtime) = keys.runtime.as_ref() else {
            problems.add(
                Problem::new("nothing says what runs the server").at(server, "no `runtime` here").help(format!(
                    "add `runtime = \"…\"`, one of {}",
                    quoted(&RuntimeName::ALL.map(RuntimeName::name))
                )),
            );
            return None;
        };
        refuse_foreign_keys(keys, runtime, problems);
        memory::check(&keys.jvm, problems);
        for text in keys.fillable().chain(&keys.ready.tcp).chain(&keys.ready.get) {
            self.placeholders.check(text, problems);
        }
        if !keys.fillable().any(|text| names(text).any(|name| name == "port")) {
            problems.add(
                Problem::new("the server does not learn its port")
                    .at(server, "no text of its launch holds `{port}`")
                    .help("every launch gets a free port: pass it on, as in `env = { PORT = \"{port}\" }` or `args = [\"--port={port}\"]`"),
            );
        }
        let dir = keys.dir.as_ref().map_or_else(|| self.dir.clone(), |dir| self.dir.join(&***dir));
        if let Some(key) = keys.dir.as_ref().filter(|_| !self.setup_builds && !dir.is_dir()) {
            problems.add(missing("folder", key));
        }
        Some(ServerSpec {
            runtime: self.runtime(keys, runtime, problems)?,
            args: texts(&keys.args),
            env: pairs(&keys.env),
            dir,
            ready: ready(&keys.ready, self.ready.clone(), problems),
            stop_within: keys.stop_within.as_ref().map_or(STOP_WITHIN, |within| within.value.0),
            limits: host::limits(&keys.limits, problems),
        })
    }

    fn runtime(&self, keys: &ServerKeys, runtime: &At<RuntimeName>, problems: &mut Problems) -> Option<Runtime> {
        let java = || JavaSpec {
            jdk: keys.jdk.as_ref().map(text),
            jvm: texts(&keys.jvm),
            properties: pairs(&keys.properties),
            jars: texts(&keys.jars),
        };
        Some(match runtime.value {
            RuntimeName::Command => {
                let (_, command) = self.one_of(runtime, &[("command", keys.command.as_ref())], problems)?;
                refuse_unsplittable(command, problems);
                Runtime::Command { command: text(command) }
            }
            RuntimeName::Java => {
                let (key, program) =
                    self.one_of(runtime, &[("jar", keys.jar.as_ref()), ("main", keys.main.as_ref())], problems)?;
                self.check_jars(keys, problems);
                let make = if key == "jar" { JavaProgram::Jar } else { JavaProgram::Main };
                Runtime::Java { java: java(), program: make(text(program)) }
            }
            RuntimeName::Jruby => {
                let program =
                    self.one_of(runtime, &[("script", keys.script.as_ref()), ("main", keys.main.as_ref())], problems);
                let version = self.one_of(runtime, &[("version", keys.version.as_ref())], problems);
                self.check_jars(keys, problems);
                let ((key, program), (_, version)) = (program?, version?);
                let make = if key == "script" { JrubyProgram::Script } else { JrubyProgram::Main };
                let options = pairs(&keys.jruby);
                Runtime::Jruby { version: text(version), java: java(), options, program: make(text(program)) }
            }
            RuntimeName::Ruby => {
                let (_, script) = self.one_of(runtime, &[("script", keys.script.as_ref())], problems)?;
                let version = keys.version.as_ref().map(text);
                Runtime::Ruby { version, options: texts(&keys.ruby), script: text(script) }
            }
        })
    }

    /// The only one of `choices` that is written; files among them have to exist.
    fn one_of<'a>(
        &self,
        runtime: &At<RuntimeName>,
        choices: &[Choice<'a>],
        problems: &mut Problems,
    ) -> Option<(&'static str, &'a At<Text>)> {
        let written: Vec<_> = choices.iter().filter_map(|(key, text)| Some((*key, (*text)?))).collect();
        let names = quoted(&choices.iter().map(|(key, _)| *key).collect::<Vec<_>>()).replace(", ", " or ");
        let name = runtime.value.name();
        match written[..] {
            [] => {
                problems.add(
                    Problem::new(format!("runtime \"{name}\" needs {names}"))
                        .at(runtime.place, format!("no {names} for this"))
                        .help(format!("add {}", example(runtime.value, choices[0].0))),
                );
                None
            }
            [(key, text)] => {
                let is_file = match key {
                    "script" => true,
                    "jar" => !is_coordinates(text),
                    "main" => text.ends_with(".java"),
                    _ => false,
                };
                if is_file {
                    self.check_file(text, problems);
                }
                Some((key, text))
            }
            [(one, first), (other, second), ..] => {
                problems.add(
                    Problem::new(format!("runtime \"{name}\" takes {names}, not both"))
                        .at(first.place, format!("`{one}` here"))
                        .at(second.place, format!("`{other}` here"))
                        .help("remove one of them; where levels differ in it, write it in the levels only"),
                );
                None
            }
        }
    }

    fn check_jars(&self, keys: &ServerKeys, problems: &mut Problems) {
        for jar in keys.jars.iter().filter(|jar| !is_coordinates(jar)) {
            self.check_file(jar, problems);
        }
    }

    fn check_file(&self, file: &At<Text>, problems: &mut Problems) {
        if !self.setup_builds && !self.dir.join(&***file).exists() {
            problems.add(missing("file", file));
        }
    }
}

/// A key and what is written there.
type Choice<'a> = (&'static str, Option<&'a At<Text>>);

/// A file or folder that is not there.
pub(crate) fn missing(what: &str, file: &At<Text>) -> Problem {
    Problem::new(format!("there is no {what} `{}`", &***file))
        .at(file.place, format!("no such {what}"))
        .help("paths start at the study file's folder; what `setup` of `[hooks]` builds need not be there yet")
}

/// Keys that the runtime would silently ignore are mistakes.
fn refuse_foreign_keys(keys: &ServerKeys, runtime: &At<RuntimeName>, problems: &mut Problems) {
    let name = runtime.value.name();
    let mut reported = "";
    for entry in keys.entries().iter().filter(|entry| !runtime.value.knows(entry.key)) {
        if entry.key == reported {
            continue;
        }
        reported = entry.key;
        let owners = RuntimeName::ALL.into_iter().filter(|owner| owner.knows(entry.key));
        let owners: Vec<String> = owners.map(|owner| format!("\"{}\"", owner.name())).collect();
        problems.add(
            Problem::new(format!("`{}` means nothing to runtime \"{name}\"", entry.key))
                .at(entry.place, format!("`{}` is set here", entry.path()))
                .at(runtime.place, "what runs the server")
                .help(format!(
                    "`{}` is for runtime {}: remove it, or write it only in levels with that `runtime`",
                    entry.key,
                    owners.join(" or ")
                )),
        );
    }
}

fn refuse_unsplittable(command: &At<Text>, problems: &mut Problems) {
    let words = shell_words::split(command);
    if !words.is_ok_and(|words| !words.is_empty()) {
        problems.add(
            Problem::new("the command line cannot be split into words")
                .at(command.place, "empty, or a quote is never closed")
                .help("write a program and its arguments as in a shell: `command = \"program --port {port}\"`"),
        );
    }
}

/// How services are launched.
pub(crate) fn services(keys: &[At<ServiceKeys>], problems: &mut Problems) -> Vec<Service> {
    let names: Vec<&str> = keys.iter().map(|service| &**service.name).collect();
    let placeholders = Placeholders::of_service(&names);
    for (index, service) in keys.iter().enumerate() {
        let name = &service.name;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if name.is_empty() || !name.chars().all(is_plain) {
            problems.add(
                Problem::new("a service's name is part of the placeholder of its port")
                    .at(name.place, "not a plain name")
                    .help("use letters, digits, `-` and `_`, as in `db`"),
            );
        }
        if let Some(first) = keys[..index].iter().find(|other| other.name == *name) {
            problems.add(twice("service", &first.name, name));
        }
        refuse_unsplittable(&service.command, problems);
        for text in [&service.command]
            .into_iter()
            .chain(service.env.values())
            .chain(&service.ready.tcp)
            .chain(&service.ready.get)
        {
            placeholders.check(text, problems);
        }
    }
    let resolve = |service: &At<ServiceKeys>| {
        let own_port = ReadySign::Tcp(format!("127.0.0.1:{{port.{}}}", &**service.name));
        Service {
            name: service.name.value.clone(),
            command: text(&service.command),
            env: pairs(&service.env),
            ready: ready(&service.ready, own_port, problems),
            stop_within: service.stop_within.as_ref().map_or(STOP_WITHIN, |within| within.value.0),
        }
    };
    keys.iter().map(resolve).collect()
}

/// Two things of one name.
pub(crate) fn twice(what: &str, first: &At<String>, second: &At<String>) -> Problem {
    Problem::new(format!("two {what}s are called `{}`", second.value))
        .at(first.place, "here")
        .at(second.place, "and here")
        .help(format!("give every {what} a name of its own"))
}

/// When a process counts as ready: as written, or by `default`.
fn ready(keys: &ReadyKeys, default: ReadySign, problems: &mut Problems) -> Ready {
    let sign = match (&keys.get, &keys.tcp) {
        (Some(get), Some(tcp)) => {
            problems.add(
                Problem::new("`ready` takes one sign, not two")
                    .at(get.place, "a path to ask for")
                    .at(tcp.place, "an address to connect to")
                    .help("remove `tcp`: an answer says more than an open port"),
            );
            default
        }
        (Some(get), None) => {
            if !get.starts_with('/') {
                problems.add(not_a_path(get.place, get));
            }
            ReadySign::Get(text(get))
        }
        (None, Some(tcp)) => {
            if !tcp.contains(':') {
                problems.add(
                    Problem::new("an address has a host and a port")
                        .at(tcp.place, "no port here")
                        .help("write `tcp = \"127.0.0.1:{port}\"`"),
                );
            }
            ReadySign::Tcp(text(tcp))
        }
        (None, None) => default,
    };
    Ready { sign, within: keys.within.as_ref().map_or(READY_WITHIN, |within| within.value.0) }
}

/// A path that a request cannot ask for.
pub(crate) fn not_a_path(place: SourceSpan, path: &str) -> Problem {
    Problem::new(format!("`{path}` is not a path"))
        .at(place, "does not start with `/`")
        .help("write the path alone, as in `/search?q=1`: bakeoff launches the server itself and knows its address")
}

/// How a missing key may be written.
fn example(runtime: RuntimeName, key: &str) -> &'static str {
    match (runtime, key) {
        (_, "command") => "`command = \"program --port {port}\"`",
        (_, "jar") => "`jar = \"app.jar\"`, or `main = \"app/Server.java\"`",
        (_, "version") => "`version = \"10.0.2.0\"` (Maven versions of org.jruby:jruby-dist)",
        (RuntimeName::Jruby, _) => {
            "`script = \"app/server.rb\"`, or `main = \"app/Server.java\"` for a program that embeds JRuby"
        }
        _ => "`script = \"app/server.rb\"`",
    }
}

/// `group:artifact:version`, and not a path.
fn is_coordinates(text: &str) -> bool {
    !text.contains('/') && text.split(':').count() >= 3
}

fn text(text: &At<Text>) -> String {
    text.value.0.clone()
}

fn texts(list: &[At<Text>]) -> Vec<String> {
    list.iter().map(text).collect()
}

fn pairs(table: &Table) -> IndexMap<String, String> {
    table.iter().map(|(name, value)| (name.value.clone(), text(value))).collect()
}

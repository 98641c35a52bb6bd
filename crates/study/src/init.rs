//! A first study for the application in a folder: commented, and valid as it stands.

use std::fs;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

/// Why there is no first study.
#[derive(Debug, Error, Diagnostic)]
pub enum InitError {
    /// The folder cannot be listed.
    #[error("the folder `{}` cannot be read: {cause}", folder.display())]
    #[diagnostic(help("name a folder that holds an application"))]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// It holds nothing that bakeoff knows how to launch.
    #[error("nothing in `{}` that is known to be a server", folder.display())]
    #[diagnostic(help(
        "looked for config.ru (Rack, Rails), *.war and *.jar here, in target/ and in build/libs/, and pom.xml (Maven); \
         for any other server write a study with `[server]`, `runtime = \"command\"` and \
         `command = \"./server --port {{port}}\"`: docs/study-file.md"
    ))]
    NothingKnown {
        /// The folder.
        folder: PathBuf,
    },
}

/// A commented study of the application in `folder`, to be saved there.
pub fn draft(folder: &Path) -> Result<String, InitError> {
    let unreadable = |cause| InitError::Unreadable { folder: folder.to_owned(), cause };
    let absolute = folder.canonicalize().map_err(unreadable)?;
    fs::read_dir(&absolute).map_err(unreadable)?;
    let name = absolute.file_name().map_or_else(|| "Server".to_owned(), |name| name.to_string_lossy().into_owned());

    let archive = archive(&absolute, "war").or_else(|| archive(&absolute, "jar"));
    let app = if absolute.join("config.ru").is_file() {
        rack(&absolute, archive.as_deref())
    } else if let Some(archive) = archive {
        java(&archive, absolute.join("pom.xml").is_file().then_some("# "))
    } else if let Ok(pom) = fs::read_to_string(absolute.join("pom.xml")) {
        java(&artifact(&pom), Some(""))
    } else {
        return Err(InitError::NothingKnown { folder: folder.to_owned() });
    };
    Ok(app.study(&name))
}

/// What a draft says about one kind of application.
struct App {
    /// The difference to begin with, for the study's name.
    topic: &'static str,
    question: &'static str,
    /// The keys of `[server]`.
    server: String,
    /// The section of the factor.
    factor: &'static str,
    /// Further sections.
    more: String,
}

impl App {
    fn study(&self, name: &str) -> String {
        let Self { topic, question, server, factor, more } = self;
        format!(
            r#"# A study for bakeoff.
#   bakeoff check study.toml        what would be run, and how long it takes
#   bakeoff run study.toml --quick  a first look, for large effects
#   bakeoff run study.toml          the verdict

name = {name}
question = "{question}"

# What every variant shares. Each launch gets a free port, which replaces {{port}}.
[server]
{server}
# It counts as ready when this path is answered with a 2xx status.
ready = {{ get = "/", within = "60s" }}

# The difference to judge: a level changes keys of [server]; the first level is the baseline.
{factor}
{more}
# What is asked. Add a [[workload]] for every kind of request that matters;
# `expect` keeps a fast error page from counting as a fast answer: `contains = "text"` or `json = "$.path"` make it stricter.
[[workload]]
name = "front"
get = "/"
expect = {{ status = 200 }}
# Users who ask without pause; each number is measured on its own.
concurrency = [1, 20]

# When the question counts as answered.
[decide]
primary = "throughput"                # or p50, cpu-per-request, start-up, memory
rope = "2%"                           # differences smaller than this do not matter
blocks = {{ min = 3, max = 30 }}        # how often every variant is launched
"#,
            name = quoted(&format!("{name}: {topic}")),
        )
    }
}

/// `archive` is in the folder too, and not what the draft runs.
fn rack(folder: &Path, archive: Option<&str>) -> App {
    let gems = fs::read_to_string(folder.join("Gemfile")).ok();
    let command = match gems.as_deref() {
        Some(gems) if gems.contains("puma") => "bundle exec puma -b tcp://127.0.0.1:{port} config.ru",
        Some(_) => "bundle exec rackup -o 127.0.0.1 -p {port} config.ru",
        None => "rackup -o 127.0.0.1 -p {port} config.ru",
    };
    App {
        topic: "YJIT off or on",
        question: "Does YJIT make it faster once warm, and what does the warm-up cost?",
        server: format!(
            "{}runtime = \"command\"\ncommand = {}\nenv = {{ RACK_ENV = \"production\", RAILS_ENV = \"production\" }}",
            archive.map_or_else(String::new, |archive| {
                format!(
                    "# Also here: {archive}, which runs with `runtime = \"java\"` and `jar = {}`.\n",
                    quoted(archive)
                )
            }),
            quoted(command)
        ),
        factor: "[factor.yjit]\noff = { env = { RUBY_YJIT_ENABLE = \"0\" } }\non = { env = { RUBY_YJIT_ENABLE = \"1\" } }",
        more: String::new(),
    }
}

/// `build` comes before the line that builds the archive with Maven, where there is a `pom.xml`.
fn java(archive: &str, build: Option<&str>) -> App {
    let runnable = if Path::new(archive).extension().is_some_and(|extension| extension == "war") {
        "# The archive has to be runnable (`java -jar`), as Spring Boot's and Jenkins' are;\n\
         # one that needs a servlet container runs with that container's own start command and `runtime = \"command\"`.\n"
    } else {
        "# The archive has to be runnable (`java -jar`); otherwise give `main` (the class) and `jars` (the class path).\n"
    };
    App {
        topic: "parallel collector or G1",
        question: "Which collector answers more requests, and at which latency?",
        server: format!(
            "runtime = \"java\"\n{runnable}jar = {}\n# jdk = \"21\"                         # the newest found when absent\n\
             jvm = [\"-Xms1g\", \"-Xmx1g\"]\n\
             # How the server is reported its port: Spring Boot reads SERVER_PORT, others PORT; \
             Jenkins takes `args = [\"--httpPort={{port}}\"]`.\n\
             env = {{ SERVER_PORT = \"{{port}}\", PORT = \"{{port}}\" }}",
            quoted(archive)
        ),
        factor: "[factor.collector]\nparallel = { jvm = [\"-XX:+UseParallelGC\"] }\ng1 = { jvm = [\"-XX:+UseG1GC\"] }",
        more: build.map_or_else(String::new, |comment| {
            format!(
                "\n# Run once, before the first trial.\n{comment}[hooks]\n{comment}setup = \"mvn -q -DskipTests package\"\n"
            )
        }),
    }
}

/// The first archive that looks like an application, relative to `folder`.
fn archive(folder: &Path, extension: &str) -> Option<String> {
    const PARTS: [&str; 5] = ["-sources", "-javadoc", "-tests", "-plain", "-wrapper"];
    ["", "target", "build/libs"].into_iter().find_map(|place| {
        let files = fs::read_dir(folder.join(place)).ok()?;
        let names = files.filter_map(|file| Some(PathBuf::from(file.ok()?.file_name().to_str()?)));
        let mut names: Vec<PathBuf> =
            names.filter(|name| name.extension().is_some_and(|found| found == extension)).collect();
        names.retain(|name| {
            let stem = name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            !stem.starts_with("original-") && !PARTS.iter().any(|part| stem.ends_with(part))
        });
        names.sort();
        names.first().map(|name| Path::new(place).join(name).to_string_lossy().into_owned())
    })
}

/// Where Maven will put the archive of a project that is not built yet, as far as its text shows.
fn artifact(pom: &str) -> String {
    let own = match (pom.find("<parent>"), pom.find("</parent>")) {
        (Some(start), Some(end)) if start < end => format!("{}{}", &pom[..start], &pom[end..]),
        _ => pom.to_owned(),
    };
    // Elements of dependencies and plugins look alike, and come later.
    let head = &own[..own.find("<dependenc").or_else(|| own.find("<build>")).unwrap_or(own.len())];
    let name = element(head, "artifactId").unwrap_or("app");
    let version = element(head, "version").or_else(|| element(pom, "version")).unwrap_or("1.0");
    let extension = element(head, "packaging").filter(|packaging| *packaging == "war").unwrap_or("jar");
    match element(&own, "finalName") {
        Some(file) if !file.contains("${") => format!("target/{file}.{extension}"),
        _ => format!("target/{name}-{version}.{extension}"),
    }
}

fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text.trim())
}

/// A text as TOML writes it.
fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

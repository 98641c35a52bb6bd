//! First studies are valid as they stand.

use std::fs;

use model::Study;
use model::study::{JavaProgram, Runtime};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::Builder::new().prefix("my \"app\" ").tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn drafted(files: &[(&str, &str)]) -> Study {
    let folder = folder(files);
    let text = study::draft(folder.path()).unwrap();
    study::parse(&text, "study.toml", folder.path())
        .unwrap_or_else(|error| panic!("{:?}\n{text}", miette::Report::new(error)))
}

fn command(study: &Study) -> &str {
    match &study.variants[0].server.runtime {
        Runtime::Command { command } => command,
        other => panic!("{other:?}"),
    }
}

fn jar(study: &Study) -> &str {
    match &study.variants[0].server.runtime {
        Runtime::Java { program: JavaProgram::Jar(jar), .. } => jar,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rack_application() {
    let study = drafted(&[("config.ru", "")]);
    assert_eq!(command(&study), "rackup -o 127.0.0.1 -p {port} config.ru");
    assert_eq!(study.variants[1].server.env["RUBY_YJIT_ENABLE"], "1");
    let bundled = drafted(&[("config.ru", ""), ("Gemfile", "gem \"sinatra\"")]);
    assert!(command(&bundled).starts_with("bundle exec rackup"));
    let puma = drafted(&[("config.ru", ""), ("Gemfile", "gem \"puma\"")]);
    assert!(command(&puma).starts_with("bundle exec puma"));
}

#[test]
fn archives() {
    assert_eq!(jar(&drafted(&[("shop.war", "")])), "shop.war");
    let built = drafted(&[("target/shop-1.0.jar", ""), ("target/shop-1.0-sources.jar", ""), ("pom.xml", "")]);
    assert_eq!(jar(&built), "target/shop-1.0.jar");
    assert_eq!(built.hooks.setup, None);
    assert_eq!(jar(&drafted(&[("build/libs/shop-plain.jar", ""), ("build/libs/shop.jar", "")])), "build/libs/shop.jar");
}

#[test]
fn a_maven_project_that_is_not_built_yet() {
    let pom = "<project><parent><artifactId>parent</artifactId><version>3</version></parent>\
               <artifactId>shop</artifactId><packaging>war</packaging>\
               <dependencies><dependency><artifactId>other</artifactId><version>9</version></dependency></dependencies></project>";
    let study = drafted(&[("pom.xml", pom)]);
    assert_eq!(jar(&study), "target/shop-3.war");
    assert_eq!(study.hooks.setup.as_deref(), Some("mvn -q -DskipTests package"));
}

#[test]
fn drafts_read_well() {
    let fixed = |files: &[(&str, &str)]| {
        let folder = folder(files);
        let app = folder.path().join("shop");
        fs::create_dir_all(&app).unwrap();
        for (name, _) in files {
            fs::copy(folder.path().join(name), app.join(name)).unwrap();
        }
        study::draft(&app).unwrap()
    };
    insta::assert_snapshot!("rack", fixed(&[("config.ru", "")]));
    insta::assert_snapshot!("war", fixed(&[("shop.war", "")]));
    insta::assert_snapshot!("maven", fixed(&[("pom.xml", "<artifactId>shop</artifactId><version>1</version>")]));
}

#[test]
fn nothing_known() {
    let folder = folder(&[("notes.txt", "")]);
    let error = study::draft(folder.path()).unwrap_err();
    assert!(matches!(error, study::InitError::NothingKnown { .. }));
    assert!(miette::Diagnostic::help(&error).unwrap().to_string().contains("config.ru"));
    assert!(matches!(study::draft(&folder.path().join("none")), Err(study::InitError::Unreadable { .. })));
}

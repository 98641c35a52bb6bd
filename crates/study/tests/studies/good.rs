//! What a study file comes to mean.

use std::path::Path;
use std::time::Duration;

use model::study::{JrubyProgram, ReadySign, Runtime, WarmUp, WorkloadKind};
use model::{Arrivals, FindLimit, Metric, Objective, Profile, Shape, Spacing, Study, Think, study as words};
use runtimes::{Given, RuntimePart, jvm};

fn parse(text: &str) -> Study {
    study::parse(text, "study.toml", Path::new("/study"))
        .unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)))
}

/// What the first workload asks.
fn request_of(study: &Study) -> (&words::Request, &words::Expect) {
    let WorkloadKind::Request { request, expect } = &study.workloads[0].kind else { panic!("scenarios") };
    (request, expect)
}

const GOCD: &str = r#"
name = "JRuby invokedynamic on a CI server's pages"
question = "Does invokedynamic make the pages faster once warm?"
[server]
runtime = "jruby"
version = "9.4.12.0"
jdk = "17"
main = "app/Server.java"
jars = ["org.jruby.rack:jruby-rack:1.2.6", "org.apache.tomcat.embed:tomcat-embed-core:9.0.100"]
env = { PORT = "{port}" }
ready = { get = "/go/pipelines.json", within = "60s" }
[factor.invokedynamic]
off = { jruby = { "compile.invokedynamic" = "false" } }
on = { jruby = { "compile.invokedynamic" = "true" } }
[[workload]]
name = "dashboard"
get = "/go/pipelines.json"
expect = { status = 200, json = "$.pipelines" }
concurrency = [1, 20]
[decide]
primary = "throughput"
rope = "2%"
blocks = { min = 5, max = 30 }
"#;

#[test]
fn a_choice_of_all_combinations() {
    let factors = "\n[factor.a]\noff = {}\non = { env = { A = \"1\" } }\n[factor.b]\noff = {}\non = { env = { B = \"1\" } }\n\
                   [factor.c]\noff = {}\non = { env = { C = \"1\" } }\n";
    let (before, after) = SMALL.split_once("[factor").unwrap();
    let after = &after[after.find("\n[[").unwrap()..];
    let names = |design: &str| -> Vec<String> {
        let study = parse(&format!("{before}{factors}{design}{after}"));
        study.variants.into_iter().map(|variant| variant.name).collect()
    };
    assert_eq!(names("").len(), 8);
    let half = names("[design]\nfraction = \"1/2\"\n");
    assert_eq!(half, ["off/off/off", "off/on/on", "on/off/on", "on/on/off"]);
    let own = names("[design]\nvariants = [\"off/off/on\", \"on/on/off\"]\n");
    assert_eq!(own, ["off/off/on", "on/on/off"]);
}

#[test]
fn assertions_expect_of_each_variant_what_is_its_own() {
    let text = format!(
        "{SMALL}\n[[assertion]]\nname = \"pool\"\nhttp = {{ get = \"/s\", json = \"$.size\" }}\n\
         expect = {{ small = 1, large = \">= 2\" }}\nwhen = \"after\"\npool = true\n"
    );
    let study = study::parse(&text, "study.toml", Path::new("/")).unwrap();
    let expected = |variant: usize| study.variants[variant].assertions[0].expect.text().to_owned();
    assert_eq!([expected(0), expected(1)], ["1", ">= 2"]);
    assert!(study.variants[0].assertions[0].after && study.variants[0].assertions[0].is_pool);
}

#[test]
fn what_all_variants_share_is_read_back_unless_a_level_replaces_it() {
    let text =
        SMALL.replace("command = \"server {port}\"", "command = \"server {port}\"\nenv = { A = \"1\", B = \"1\" }");
    let text = text.replace("small = { args = [\"1\"] }", "small = { env = { A = \"2\" } }");
    let study = study::parse(&text, "study.toml", Path::new("/")).unwrap();
    let shared = |variant: usize| -> Vec<String> {
        study.variants[variant].shared.iter().map(|requested| requested.name.clone()).collect()
    };
    assert_eq!(shared(0), ["runtime", "command", "B"]);
    assert_eq!(shared(1), ["runtime", "command", "A", "B"]);
}

#[test]
fn the_invokedynamic_study() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("app")).unwrap();
    std::fs::write(folder.path().join("app/Server.java"), "").unwrap();
    let file = folder.path().join("study.toml");
    std::fs::write(&file, GOCD).unwrap();

    let study = study::read(&file).unwrap();
    assert_eq!(study.dir, folder.path().canonicalize().unwrap());
    assert_eq!(study.source, GOCD);
    assert_eq!(study.variants.iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>(), ["off", "on"]);
    let on = &study.variants[1];
    assert_eq!(on.levels["invokedynamic"], "on");
    assert_eq!(
        on.treatment,
        [words::RequestedSetting::new("invokedynamic", Given::jruby("compile.invokedynamic", "true"))]
    );
    let Runtime::Jruby { version, java, options, program } = &on.server.runtime else { panic!("not JRuby") };
    assert_eq!((version.as_str(), java.jdk.as_deref()), ("9.4.12.0", Some("17")));
    assert_eq!(java.jars.len(), 2);
    assert_eq!(options["compile.invokedynamic"], "true");
    assert_eq!(*program, JrubyProgram::Main("app/Server.java".into()));
    assert_eq!(on.server.env["PORT"], "{port}");
    assert_eq!(on.server.ready.sign, ReadySign::Get("/go/pipelines.json".into()));
    assert_eq!(study.workloads[0].shapes, [1, 20].map(Shape::users));
    assert_eq!(request_of(&study).1.json.as_deref(), Some("$.pipelines"));
}

const SMALL: &str = r#"
name = "Small"
[server]
runtime = "command"
command = "server {port}"
[factor.size]
small = { args = ["1"] }
large = { args = ["2"] }
[[workload]]
name = "front"
get = "/"
concurrency = 20
"#;

#[test]
fn everything_else_has_a_default() {
    let study = parse(SMALL);
    let seconds = Duration::from_secs;
    let server = &study.variants[0].server;
    assert_eq!(server.dir, Path::new("/study"));
    assert_eq!(server.ready, words::Ready { sign: ReadySign::Get("/".into()), within: seconds(60) });
    assert_eq!(server.stop_within, seconds(10));
    assert_eq!(
        study.timing,
        words::Timing {
            warm_up: WarmUp::Pilot { cap: seconds(180) },
            measure: seconds(20),
            min_blocks: 3,
            max_blocks: 30
        }
    );
    assert_eq!(
        study.quick,
        words::Timing { warm_up: WarmUp::Fixed(seconds(12)), measure: seconds(3), min_blocks: 3, max_blocks: 5 }
    );
    assert_eq!(
        study.decide,
        words::Decide {
            primary: Metric::Throughput,
            cell: None,
            secondary: Vec::new(),
            rope: 0.02,
            detect: 0.05,
            within: None,
            redeploy_every: None
        }
    );
    assert_eq!(study.workloads[0].shapes, [Shape::users(20)]);
    assert_eq!(*request_of(&study).1, words::Expect::default());
    assert_eq!(study.hooks, words::Hooks::default());
}

#[test]
fn lengths_and_limits_can_be_set() {
    let study = parse(&format!(
        "{SMALL}{}",
        r#"
[warmup]
fixed = "0s"
[measure]
duration = "1m"
[quick]
warmup = "5s"
measure = "2s"
blocks = 6
[decide]
primary = "p50"
cell = "front@20"
rope = "0.5%"
blocks = { max = 10 }
"#
    ));
    assert_eq!(study.timing.warm_up, WarmUp::Fixed(Duration::ZERO));
    assert_eq!(study.timing.measure, Duration::from_secs(60));
    assert_eq!((study.timing.min_blocks, study.timing.max_blocks), (3, 10));
    assert_eq!((study.quick.min_blocks, study.quick.max_blocks), (3, 6));
    assert_eq!(study.quick.warm_up, WarmUp::Fixed(Duration::from_secs(5)));
    assert_eq!((study.decide.primary, study.decide.cell.as_deref()), (Metric::P50, Some("front@20")));
    assert!((study.decide.rope - 0.005).abs() < 1e-12);
}

#[test]
fn who_warms_up_is_the_largest_load_or_as_written() {
    let users = |load: &str, warm_up: &str| {
        parse(&format!("{}{warm_up}", SMALL.replace("concurrency = 20", load))).warm_up_users
    };
    assert_eq!(users("concurrency = [1, 20]", ""), 20);
    assert_eq!(users("concurrency = [1, 20]\nthink = \"1s\"", ""), 10);
    assert_eq!(users("rate = 300", ""), 10);
    assert_eq!(users("concurrency = [1, 20]", "[warmup]\nconcurrency = 2\n"), 2);
}

#[test]
fn loads_have_shapes() {
    let study = |load: &str, decide: &str| parse(&format!("{}{decide}", SMALL.replace("concurrency = 20", load)));
    let shapes = |load: &str| study(load, "").workloads[0].shapes.clone();
    let open = |connections, profile| Shape::open(connections, profile);
    let seconds = Duration::from_secs;
    let thinking =
        |think| Shape { arrivals: Arrivals::Closed { think: Some(think), steps: Vec::new() }, ..Shape::users(20) };
    assert_eq!(shapes("concurrency = 20\nthink = \"2s\""), [thinking(Think::Fixed(seconds(2)))]);
    assert_eq!(
        shapes("concurrency = 20\nthink = { exponential = \"2s\" }"),
        [thinking(Think::Exponential(seconds(2)))]
    );
    let rates = shapes("rate = [100, 0.5]");
    assert_eq!(rates, [open(500, Profile::constant(100.0)), open(500, Profile::constant(0.5))]);
    assert_eq!(rates.iter().map(Shape::name).collect::<Vec<_>>(), ["100/s", "0.5/s"]);
    let poisson = Profile { spacing: Spacing::Poisson, ..Profile::constant(300.0) };
    assert_eq!(shapes("rate = 300\npoisson = true\nconnections = 64"), [open(64, poisson)]);
    let stages = shapes("stages = [{ to = 200, over = \"10s\" }, { to = 200, over = \"30s\" }]");
    let profile = Profile::through([(200.0, seconds(10)), (200.0, seconds(30))], Spacing::Even);
    assert_eq!(stages, [open(500, profile)]);

    let searched = study("find_limit = { p95 = \"200ms\" }\npoisson = true", "");
    let objective = |quantile, errors| Objective { quantile, within_us: 200_000, errors };
    let find = FindLimit { objective: objective(0.95, 0.01), from: 10.0, to: 10_000.0 };
    let first = Profile { spacing: Spacing::Poisson, ..Profile::constant(10.0) };
    assert_eq!(searched.workloads[0].shapes, [Shape { find_limit: Some(find), ..open(500, first) }]);
    assert_eq!((searched.workloads[0].shapes[0].name().as_str(), searched.decide.primary), ("limit", Metric::Capacity));
    assert_eq!(searched.warm_up_users, 10);
    let stated = shapes("find_limit = { p50 = \"200ms\", errors = \"0.1%\", from = 50, to = 0.5e3 }\nconnections = 64");
    let find = FindLimit { objective: objective(0.5, 0.001), from: 50.0, to: 500.0 };
    assert_eq!(stated, [Shape { find_limit: Some(find), ..open(64, Profile::constant(50.0)) }]);
    let secondary = "[decide]\nsecondary = [\"goodput\", \"recovery-time\", \"cpu-per-request\", \"memory\"]";
    assert_eq!(study("find_limit = { p99 = \"1s\" }", secondary).decide.secondary.len(), 4);

    // In an open loop throughput decides nothing, and the tail may.
    assert_eq!(study("rate = 300", "").decide.primary, Metric::P50);
    let tail = "[measure]\nduration = \"40s\"\n[decide]\nprimary = \"p99\"\ncell = \"front@300/s\"";
    assert_eq!(study("rate = 300", tail).decide.primary, Metric::P99);
}

#[test]
fn other_metrics_are_judged_as_well() {
    let secondary = |load: &str, decide: &str| {
        let study = parse(&format!("{}[decide]\n{decide}", SMALL.replace("concurrency = 20", load)));
        let named = study.decide.secondary.into_iter();
        named.map(|one| (one.metric, one.cell.unwrap_or_default())).collect::<Vec<_>>()
    };
    let at = |metric, cell: &str| (metric, cell.to_owned());
    // Without a cell of its own a metric is taken of the primary one's.
    assert_eq!(
        secondary("concurrency = [1, 20]", "secondary = [\"p50\", \"memory\"]"),
        [at(Metric::P50, ""), at(Metric::Memory, "")]
    );
    assert_eq!(
        secondary(
            "concurrency = [1, 20]",
            "cell = \"front@20\"\nsecondary = [\"memory\", \"p50\", { metric = \"throughput\", cell = \"front@1\" }]"
        ),
        [at(Metric::Memory, ""), at(Metric::P50, "front@20"), at(Metric::Throughput, "front@1")]
    );
    // One cell is all of them.
    assert_eq!(
        secondary("concurrency = 20", "secondary = [{ metric = \"p50\", cell = \"front@20\" }]"),
        [at(Metric::P50, "")]
    );
}

#[test]
fn levels_replace_merge_and_append() {
    let study = parse(
        r#"
name = "Layers"
[server]
runtime = "java"
main = "Server"
jdk = 17
jvm = ["-Xmx1g", "-Xmnx64m", "-Xss{env.STACK}"]
properties = { port = "{port}", mode = "plain" }
ready = { get = "/up", within = "2m" }
[factor.jdk]
old = { }
new = { jdk = "25", ready = { tcp = "127.0.0.1:{port}" } }
[factor.collector]
parallel = { jvm = ["-XX:+UseParallelGC"] }
g1 = { jvm = ["-XX:+UseG1GC"], properties = { mode = "tuned" }, env = { DEBUG = true } }
[[workload]]
name = "front"
post = "/"
headers = { Content-Type = "application/json" }
body = '{"a": 1}'
concurrency = 1
"#,
    );
    let names: Vec<&str> = study.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["old/parallel", "old/g1", "new/parallel", "new/g1"]);
    assert_eq!(study.factors[1].levels, ["parallel", "g1"]);
    assert!(study.variants[0].treatment.iter().map(|setting| setting.name.as_str()).eq(["-XX:+UseParallelGC"]));

    let last = &study.variants[3];
    let Runtime::Java { java, .. } = &last.server.runtime else { panic!("not Java") };
    assert_eq!(java.jdk.as_deref(), Some("25"));
    assert_eq!(java.jvm, ["-Xmx1g", "-Xmnx64m", "-Xss{env.STACK}", "-XX:+UseG1GC"]);
    assert!(
        java.properties
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .eq([("port", "{port}"), ("mode", "tuned")])
    );
    let ready = &last.server.ready;
    assert_eq!((&ready.sign, ready.within), (&ReadySign::Tcp("127.0.0.1:{port}".into()), Duration::from_secs(120)));
    let treatment = [
        ("jdk", Given::runtime(RuntimePart::Jdk, "25")),
        ("collector", jvm::given("-XX:+UseG1GC")),
        ("collector", Given::property("mode", "tuned")),
        ("collector", Given::variable("DEBUG", "true")),
    ];
    assert_eq!(last.treatment, treatment.map(|(factor, given)| words::RequestedSetting::new(factor, given)));
    assert_eq!(request_of(&study).0.method, "POST");
    // No GET to ask for: the port has to do.
    assert_eq!(study.variants[0].server.ready.sign, ReadySign::Get("/up".into()));
}

#[test]
fn runtimes_can_be_compared() {
    let study = parse(
        r#"
name = "Rubies"
[server]
script = "app.rb"
env = { PORT = "{port}" }
[factor.ruby]
mri = { runtime = "ruby", ruby = ["--yjit"] }
jruby = { runtime = "jruby", version = "10.0.2.0", jvm = ["-Xmx1g"] }
[hooks]
setup = "./build"
[[service]]
name = "db"
command = "database {port.db}"
[[workload]]
name = "front"
delete = "/x"
concurrency = 1
"#,
    );
    assert_eq!(study.variants[0].server.runtime.name(), "ruby");
    assert_eq!(study.variants[1].server.runtime.name(), "jruby");
    assert_eq!(study.variants[1].server.ready.sign, ReadySign::Tcp("127.0.0.1:{port}".into()));
    assert_eq!(study.services[0].ready.sign, ReadySign::Tcp("127.0.0.1:{port.db}".into()));
}

//! What a person sees whose study file is wrong: the place underlined, the cure suggested.

use std::path::Path;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, SourceSpan};

const GOOD: &str = r#"name = "Threads"
question = "How many threads?"

[server]
runtime = "jruby"
version = "10.0.2.0"
script = "server.rb"
env = { PORT = "{port}", DB = "{port.db}" }
ready = { get = "/health", within = "60s" }

[[service]]
name = "db"
command = "database --port {port.db}"

[factor.indy]
off = { jruby = { "compile.invokedynamic" = false } }
on = { jruby = { "compile.invokedynamic" = true } }

[[workload]]
name = "front"
get = "/"
headers = { Accept = "text/html" }
expect = { status = 200 }
concurrency = [1, 20]

[decide]
primary = "throughput"
cell = "front@20"
rope = "2%"
blocks = { min = 5, max = 30 }
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("server.rb"), "").unwrap();
    folder
}

/// The good study with one thing changed.
fn changed(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` has to occur once");
    GOOD.replace(from, to)
}

fn read(text: &str) -> study::StudyError {
    study::parse(text, "study.toml", folder().path()).expect_err("the study is wrong")
}

fn rendered(error: &dyn Diagnostic) -> String {
    let mut out = String::new();
    let handler =
        GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100).with_links(false);
    handler.render_report(&mut out, error).unwrap();
    out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Checks that the error underlines exactly `places`, and pins how it looks.
#[track_caller]
fn shows(snapshot: &str, text: &str, places: &[&str], cure: &str) {
    let error = read(text);
    let underlined: Vec<&str> = error
        .labels()
        .into_iter()
        .flatten()
        .map(|label| {
            let span: SourceSpan = *label.inner();
            &text[span.offset()..span.offset() + span.len()]
        })
        .collect();
    let rendered = rendered(&error);
    assert_eq!(underlined, places, "\n{rendered}");
    let help = error.help().expect("every error suggests a cure").to_string();
    assert!(help.contains(cure), "no `{cure}` in:\n{rendered}");
    assert_eq!(error.problems(), 1, "one mistake is shown once:\n{rendered}");
    insta::assert_snapshot!(snapshot, rendered);
}

macro_rules! wrong {
    ($($name:ident: $from:expr => $to:expr, underlines $places:expr, suggests $cure:expr;)*) => {
        $(#[test] fn $name() { shows(stringify!($name), &changed($from, $to), &$places, $cure); })*
    };
}

wrong! {
    syntax: "runtime = \"jruby\"" => "runtime = jruby",
        underlines ["jruby"], suggests "quotes";
    unknown_key: "concurrency =" => "concurency =",
        underlines ["concurency"], suggests "did you mean `concurrency`?";
    unknown_section: "[decide]" => "[descide]",
        underlines ["descide"], suggests "did you mean `decide`?";
    unknown_key_in_level: "off = { jruby" => "off = { jrubby",
        underlines ["jrubby"], suggests "did you mean `jruby`?";
    unknown_runtime: "runtime = \"jruby\"" => "runtime = \"jrubi\"",
        underlines ["\"jrubi\""], suggests "did you mean `jruby`?";
    unknown_metric: "primary = \"throughput\"" => "primary = \"thruput\"",
        underlines ["\"thruput\""], suggests "did you mean `throughput`?";
    unquoted_option: "off = { jruby = { \"compile.invokedynamic\"" => "off = { jruby = { compile.invokedynamic",
        underlines ["compile"], suggests "names with dots need quotes";
    length_without_unit: "within = \"60s\"" => "within = \"60\"",
        underlines ["\"60\""], suggests "\"30s\"";
    length_as_number: "within = \"60s\"" => "within = 60",
        underlines ["60"], suggests "\"30s\"";
    rope_as_fraction: "rope = \"2%\"" => "rope = 0.02",
        underlines ["0.02"], suggests "\"2%\"";
    table_instead_of_list: "[[workload]]" => "[workload]",
        underlines ["[workload]"], suggests "[[name]]";
    variants_that_do_not_exist: "[[workload]]\nname" => "[design]\nvariants = [\"off\", \"onn\"]\n\n[[workload]]\nname",
        underlines ["\"onn\""], suggests "did you mean `on`?";
    a_fraction_of_one_factor: "[[workload]]\nname" => "[design]\nfraction = \"1/2\"\n\n[[workload]]\nname",
        underlines ["\"1/2\""], suggests "leave the fraction out";
    a_fraction_that_is_none: "[[workload]]\nname" => "[design]\nfraction = \"1/3\"\n\n[[workload]]\nname",
        underlines ["\"1/3\""], suggests "`1/2`";
    a_single_variant: "[[workload]]\nname" => "[design]\nvariants = [\"off\", \"off\"]\n\n[[workload]]\nname",
        underlines ["\"off\""], suggests "remove one of them";
    detect_within_the_rope: "rope = \"2%\"" => "rope = \"2%\"\ndetect = \"1%\"",
        underlines ["\"1%\""], suggests "larger `detect`";
    a_life_of_no_time: "rope = \"2%\"" => "rope = \"2%\"\nredeploy_every = \"0s\"",
        underlines ["\"0s\""], suggests "\"1s\" to \"720h\"";
    no_name: "name = \"Threads\"\n" => "",
        underlines [""], suggests "add `name";
    no_runtime: "runtime = \"jruby\"\n" => "",
        underlines ["[server]"], suggests "`jruby`, `java`, `ruby`, `command`";
    no_version: "version = \"10.0.2.0\"\n" => "",
        underlines ["\"jruby\""], suggests "version = \"10.0.2.0\"";
    no_program: "script = \"server.rb\"\n" => "",
        underlines ["\"jruby\""], suggests "script = \"app/server.rb\"";
    two_programs: "script = \"server.rb\"" => "script = \"server.rb\"\nmain = \"com.example.Server\"",
        underlines ["\"server.rb\"", "\"com.example.Server\""], suggests "remove one";
    no_such_script: "script = \"server.rb\"" => "script = \"sever.rb\"",
        underlines ["\"sever.rb\""], suggests "start at the study file's folder";
    no_such_jar: "script = \"server.rb\"" => "script = \"server.rb\"\njars = [\"org.jruby.rack:jruby-rack:1.2.6\", \"lib/a.jar\"]",
        underlines ["\"lib/a.jar\""], suggests "`setup` of `[hooks]`";
    no_such_folder: "script = \"server.rb\"" => "script = \"server.rb\"\ndir = \"apps\"",
        underlines ["\"apps\""], suggests "start at the study file's folder";
    foreign_key: "runtime = \"jruby\"" => "runtime = \"jruby\"\nruby = [\"--yjit\"]",
        underlines ["\"--yjit\"", "\"jruby\""], suggests "levels with that `runtime`";
    memory_without_unit: "runtime = \"jruby\"" => "runtime = \"jruby\"\njvm = [\"-Xmx512\"]",
        underlines ["\"-Xmx512\""], suggests "did you mean `-Xmx512m`?";
    stack_without_unit: "runtime = \"jruby\"" => "runtime = \"jruby\"\njvm = [\"-Xss2048\", \"-Xss0\"]",
        underlines ["\"-Xss2048\""], suggests "did you mean `-Xss2048k`?";
    memory_of_unknown_unit: "runtime = \"jruby\"" => "runtime = \"jruby\"\njvm = [\"-Xms5x\"]",
        underlines ["\"-Xms5x\""], suggests "`-Xms512m`";
    memory_too_small: "runtime = \"jruby\"" => "runtime = \"jruby\"\njvm = [\"-Xmx512k\"]",
        underlines ["\"-Xmx512k\""], suggests "write more";
    port_never_reported: "PORT = \"{port}\"" => "PORT = 8080",
        underlines ["[server]"], suggests "free port";
    unknown_placeholder: "PORT = \"{port}\"" => "PORT = \"{port}\", HOME = \"{drial_dir}\"",
        underlines ["\"{drial_dir}\""], suggests "did you mean `{trial_dir}`?";
    unknown_service: "DB = \"{port.db}\"" => "DB = \"{port.dv}\"",
        underlines ["\"{port.dv}\""], suggests "did you mean `{port.db}`?";
    ambiguous_port_of_service: "--port {port.db}" => "--port {port}",
        underlines ["\"database --port {port}\""], suggests "`{port.db}`";
    placeholder_in_request: "Accept = \"text/html\"" => "Accept = \"{port}\"",
        underlines ["\"{port}\""], suggests "{env.NAME}";
    unknown_placeholder_in_hook: "[decide]" => "[hooks]\nprepare = \"seed ${HOME} {port.bd}\"\n\n[decide]",
        underlines ["\"seed ${HOME} {port.bd}\""], suggests "did you mean `{port.db}`?";
    open_quote: "database --port" => "database 'x --port",
        underlines ["\"database 'x --port {port.db}\""], suggests "as in a shell";
    two_signs: "ready = { get" => "ready = { tcp = \"localhost:{port}\", get",
        underlines ["\"/health\"", "\"localhost:{port}\""], suggests "remove `tcp`";
    one_level: "on = { jruby = { \"compile.invokedynamic\" = true } }\n" => "",
        underlines ["indy"], suggests "the baseline first";
    slash_in_level: "off = {" => "\"o/ff\" = {",
        underlines ["\"o/ff\""], suggests "another name";
    two_factors_set_one_key: "[factor.indy]" => "[factor.jit]\na = { }\nb = { jruby = { \"compile.invokedynamic\" = true } }\n\n[factor.indy]",
        underlines ["\"compile.invokedynamic\"", "\"compile.invokedynamic\""], suggests "leave it to one";
    no_path: "get = \"/\"\n" => "",
        underlines ["\"front\""], suggests "add `get = \"/path\"`";
    two_methods: "get = \"/\"" => "get = \"/\"\npost = \"/\"",
        underlines ["\"/\"", "\"/\""], suggests "a `[[workload]]` for each";
    url_instead_of_path: "get = \"/\"" => "get = \"http://localhost/\"",
        underlines ["\"http://localhost/\""], suggests "path alone";
    space_in_path: "get = \"/\"" => "get = \"/a b\"",
        underlines ["\"/a b\""], suggests "%20";
    body_of_get: "get = \"/\"" => "get = \"/\"\nbody = \"x\"",
        underlines ["\"x\""], suggests "`post`";
    bad_header: "Accept = " => "\"Accept:\" = ",
        underlines ["\"Accept:\""], suggests "without colon";
    own_header: "Accept = " => "Content-Length = ",
        underlines ["Content-Length"], suggests "remove it";
    bad_status: "status = 200" => "status = 20",
        underlines ["20"], suggests "100 to 599";
    not_a_json_path: "status = 200" => "json = \"$.items[0\"",
        underlines ["\"$.items[0\""], suggests "`$.items[0].name`";
    plain_name_as_json_path: "status = 200" => "json = \"items\"",
        underlines ["\"items\""], suggests "begin with `$`";
    no_users: "concurrency = [1, 20]\n" => "",
        underlines ["\"front\""], suggests "concurrency = [1, 20]";
    too_many_users: "[1, 20]" => "[1, 20, 10001]",
        underlines ["10001"], suggests "concurrency = [1, 20]";
    users_twice: "[1, 20]" => "[20, 1, 20]",
        underlines ["20", "20"], suggests "each number once";
    two_kinds_of_load: "concurrency = [1, 20]" => "concurrency = [1, 20]\nrate = 300",
        underlines ["[1, 20]", "300"], suggests "a `[[workload]]` for each";
    thinking_in_an_open_loop: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "rate = 300\nthink = \"2s\"\n\n[decide]",
        underlines ["\"2s\""], suggests "write `concurrency` in place of";
    poisson_users: "concurrency = [1, 20]" => "concurrency = [1, 20]\npoisson = true",
        underlines ["true"], suggests "or write `rate`";
    cap_of_users: "concurrency = [1, 20]" => "concurrency = [1, 20]\nconnections = 100",
        underlines ["100"], suggests "each user has a connection";
    no_such_think: "concurrency = [1, 20]" => "concurrency = [1, 20]\nthink = 2",
        underlines ["2"], suggests "{ exponential = \"2s\" }";
    no_such_random_think: "concurrency = [1, 20]" => "concurrency = [1, 20]\nthink = { mean = \"2s\" }",
        underlines ["mean"], suggests "exponential";
    rate_of_nothing: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "rate = [300, 0]\n\n[decide]",
        underlines ["0"], suggests "rate = [100, 300]";
    rate_of_a_text: "concurrency = [1, 20]" => "rate = \"300/s\"",
        underlines ["\"300/s\""], suggests "a number such as 300";
    rate_twice: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "rate = [300, 300.0]\n\n[decide]",
        underlines ["300", "300.0"], suggests "each number once";
    too_many_connections: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "rate = 300\nconnections = 20000\n\n[decide]",
        underlines ["20000"], suggests "the default is 500";
    stages_too_short: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "stages = [{ to = 5, over = \"100ms\" }]\n\n[decide]",
        underlines ["[{ to = 5, over = \"100ms\" }]"], suggests "over = \"10s\"";
    stages_of_nothing: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "stages = [{ to = 0, over = \"10s\" }]\n\n[decide]",
        underlines ["[{ to = 0, over = \"10s\" }]"], suggests "to which rate";
    stages_below_nothing: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "stages = [{ to = -1, over = \"10s\" }, { to = 9, over = \"10s\" }]\n\n[decide]",
        underlines ["-1"], suggests "to which rate";
    stage_of_another_form: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "stages = [{ target = 200, duration = \"10s\" }]\n\n[decide]",
        underlines ["target"], suggests "`to`, `over`";
    limit_without_objective: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { errors = \"1%\" }\n\n[decide]",
        underlines ["{ errors = \"1%\" }"], suggests "find_limit = {";
    limit_of_two_objectives: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { p50 = \"1s\", p95 = \"2s\" }\n\n[decide]",
        underlines ["\"1s\"", "\"2s\""], suggests "within which time";
    limit_of_no_time: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { p95 = \"0s\" }\n\n[decide]",
        underlines ["\"0s\""], suggests "within which time";
    limit_between_no_rates: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { p95 = \"1s\", from = 100, to = 100 }\n\n[decide]",
        underlines ["100"], suggests "a `to` that it surely does not";
    limit_from_nothing: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { p95 = \"1s\", from = 0 }\n\n[decide]",
        underlines ["0"], suggests "from = 10, to = 10_000";
    limit_by_an_unknown_key: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { p95 = \"1s\", error = \"1%\" }\n\n[decide]",
        underlines ["error"], suggests "`errors`";
    limit_and_a_rate: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { p95 = \"1s\" }\nrate = 100\n\n[decide]",
        underlines ["100", "{ p95 = \"1s\" }"], suggests "a `[[workload]]` for each";
    limit_decides_a_latency: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "find_limit = { p95 = \"1s\" }\n\n[decide]\nprimary = \"p50\"",
        underlines ["\"p50\""], suggests "use `capacity`";
    capacity_of_no_limit: "primary = \"throughput\"" => "primary = \"capacity\"",
        underlines ["\"capacity\""], suggests "find_limit = {";
    rate_decides_throughput: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "rate = 300\n\n[decide]\nprimary = \"throughput\"",
        underlines ["\"throughput\""], suggests "use `p50`";
    too_few_for_a_tail: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "rate = 300\n\n[decide]\nprimary = \"p99\"",
        underlines ["\"p99\""], suggests "duration = \"35s\"";
    too_few_in_stages: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "stages = [{ to = 20, over = \"10s\" }]\n\n[decide]\nprimary = \"p50\"",
        underlines ["\"p50\""], suggests "longer stages";
    too_few_blocks: "min = 5" => "min = 2",
        underlines ["2"], suggests "fewer than 3";
    blocks_crossed: "min = 5, max = 30" => "min = 20, max = 10",
        underlines ["20", "10"], suggests "min = 3, max = 30";
    too_few_quick_blocks: "[decide]" => "[quick]\nblocks = 2\n\n[decide]",
        underlines ["2"], suggests "fewer than 3";
    too_short: "[decide]" => "[measure]\nduration = \"100ms\"\n\n[decide]",
        underlines ["\"100ms\""], suggests "at least \"1s\"";
    two_warm_ups: "[decide]" => "[warmup]\ncap = \"60s\"\nfixed = \"20s\"\n\n[decide]",
        underlines ["\"60s\"", "\"20s\""], suggests "remove `fixed`";
    warm_up_by_nobody: "[decide]" => "[warmup]\nconcurrency = 0\n\n[decide]",
        underlines ["0"], suggests "`concurrency = 2`";
    unknown_cell: "front@20" => "front@2",
        underlines ["\"front@2\""], suggests "did you mean `front@20`?";
    tail_decides: "primary = \"throughput\"" => "primary = \"p99\"",
        underlines ["\"p99\""], suggests "`throughput`, `p50`, `cpu-per-request`";
    warm_up_decides: "[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "[warmup]\nfixed = \"20s\"\n\n[decide]\nprimary = \"warm-up-requests\"",
        underlines ["\"warm-up-requests\"", "\"20s\""], suggests "bakeoff then finds out";
    unknown_secondary: "rope = \"2%\"" => "rope = \"2%\"\nsecondary = [\"p50\", \"memry\"]",
        underlines ["\"memry\""], suggests "did you mean `memory`?";
    secondary_of_another_form: "rope = \"2%\"" => "rope = \"2%\"\nsecondary = [50]",
        underlines ["50"], suggests "a metric such as \"p50\"";
    secondary_is_the_primary: "rope = \"2%\"" => "rope = \"2%\"\nsecondary = [\"p50\", \"throughput\"]",
        underlines ["\"throughput\"", "\"throughput\""], suggests "remove it from `secondary`";
    secondary_twice: "rope = \"2%\"" => "rope = \"2%\"\nsecondary = [\"p50\", { metric = \"p50\", cell = \"front@20\" }]",
        underlines ["\"p50\"", "{ metric = \"p50\", cell = \"front@20\" }"], suggests "remove number 2";
    secondary_tail_of_users: "rope = \"2%\"" => "rope = \"2%\"\nsecondary = [\"p99\"]",
        underlines ["\"p99\""], suggests "`throughput`, `p50`, `cpu-per-request`";
    secondary_cell_of_a_launch: "rope = \"2%\"" => "rope = \"2%\"\nsecondary = [{ metric = \"memory\", cell = \"front@1\" }]",
        underlines ["{ metric = \"memory\", cell = \"front@1\" }", "\"front@1\""], suggests "remove `cell`";
    secondary_unknown_cell: "rope = \"2%\"" => "rope = \"2%\"\nsecondary = [{ metric = \"p50\", cell = \"front@2\" }]",
        underlines ["\"front@2\""], suggests "did you mean `front@20`?";
    secondary_with_too_few_requests: "concurrency = [1, 20]\n\n[decide]\nprimary = \"throughput\"\ncell = \"front@20\"" => "rate = 300\n\n[decide]\nsecondary = [\"p99\"]",
        underlines ["\"p99\""], suggests "or a higher rate";
    cell_of_launch_metric: "primary = \"throughput\"" => "primary = \"start-up\"",
        underlines ["\"start-up\"", "\"front@20\""], suggests "remove `cell`";
}

#[test]
fn nothing_to_compare() {
    let factor = &GOOD[GOOD.find("[factor").unwrap()..GOOD.find("[[workload").unwrap()];
    shows("nothing_to_compare", &changed(factor, ""), &["[server]"], "[factor.NAME]");
}

#[test]
fn too_many_variants() {
    let factors = (1..=6).map(|n| format!("[factor.f{n}]\na = {{}}\nb = {{}}\n")).collect::<Vec<_>>().concat();
    let text = changed("[factor.indy]", &format!("{factors}\n[factor.indy]"));
    shows("too_many_variants", &text, &["indy"], "fewer factors");
}

#[test]
fn nothing_asked() {
    let text = &GOOD[..GOOD.find("[[workload").unwrap()];
    shows("nothing_asked", text, &["\"Threads\""], "[[workload]]");
}

#[test]
fn two_workloads_of_one_name() {
    let second = "[[workload]]\nname = \"front\"\nget = \"/2\"\nconcurrency = 1\n\n[decide]";
    shows("two_workloads_of_one_name", &changed("[decide]", second), &["\"front\"", "\"front\""], "a name of its own");
}

#[test]
fn two_services_of_one_name() {
    let second = "[[service]]\nname = \"db\"\ncommand = \"other {port.db}\"\n\n[factor.indy]";
    shows("two_services_of_one_name", &changed("[factor.indy]", second), &["\"db\"", "\"db\""], "a name of its own");
}

#[test]
fn processors_for_both_sides() {
    let text = changed("[decide]", "[host]\nserver_cpus = \"0-2\"\nclient_cpus = \"2\"\n\n[decide]");
    shows("processors_for_both_sides", &text, &["\"0-2\"", "\"2\""], "give each its own");
}

#[test]
fn limits_that_limit_nothing() {
    let text = changed("script = \"server.rb\"", "script = \"server.rb\"\nlimits = { memory = \"512\" }");
    shows("limits_that_limit_nothing", &text, &["memory", "\"512\""], "\"512m\"");
}

/// The good study with an assertion of these keys.
fn assertion(keys: &str) -> String {
    changed("[decide]", &format!("[[assertion]]\nname = \"pool\"\n{keys}\n\n[decide]"))
}

#[test]
fn a_misspelt_limit() {
    let text = changed("script = \"server.rb\"", "script = \"server.rb\"\nlimits = { cpu = \"1\" }");
    shows("a_misspelt_limit", &text, &["cpu", "\"1\""], "did you mean `cpus`?");
}

#[test]
fn assertions_that_cannot_hold() {
    let wrong = |keys: &str, underlined: &[&str], reported: &str| {
        let (text, error) = (assertion(keys), read(&assertion(keys)));
        let places = error.labels().into_iter().flatten();
        let places: Vec<&str> = places.map(|label| &text[label.offset()..label.offset() + label.len()]).collect();
        let shown = rendered(&error);
        assert_eq!(places, underlined, "\n{shown}");
        assert!(shown.contains(reported), "no `{reported}` in\n{shown}");
        assert_eq!(error.problems(), 1, "\n{shown}");
    };
    let both = "{ off = 1, on = 2, onn = 2 }";
    wrong(&format!("threads = \"^w\"\nexpect = {both}"), &[both], "no level and no variant is called `onn`");
    wrong("command = \"x\"\nexpect = \"ten\"\npool = true", &["\"ten\"", "true"], "no pool has a size of `ten`");
    wrong(
        "threads = \"^w\"\nexpect = { off = 1 }",
        &["{ off = 1 }"],
        "assertion `pool` expects nothing of variant `on`",
    );
    wrong("threads = \"(\"\nexpect = 1", &["\"(\""], "is not a regular expression");
    wrong("threads = \"\"\nexpect = 1", &["\"\""], "found everywhere");
    wrong("command = \"a\"\nregex = \"\"\nexpect = 1", &["\"\""], "found everywhere");
    wrong("threads = \"^w\"\nexpect = \">= many\"", &["\">= many\""], "is no comparison that there is");
    wrong("threads = \"^w\"\nexpect = \"> 8\"", &["\"> 8\""], "is no comparison that there is");
    wrong("threads = \"^w\"\nexpect = \"many\"", &["\"many\""], "no number of threads is `many`");
    wrong("threads = \"^w\"\nexpect = -1", &["-1"], "can never hold");
    wrong("threads = \"^w\"", &["\"pool\""], "one of `expect` and `answered` is needed");
    wrong(
        "command = \"x\"\nanswered = [\"on\"]\nwhen = \"after\"",
        &["\"on\""],
        "no step of a workload is called `on`",
    );
    wrong("expect = 1", &["\"pool\""], "one of `jmx`, `http`, `command` and `threads` is needed");
    wrong("threads = \"^w\"\ncommand = \"ask\"\nexpect = 1", &["\"ask\"", "\"^w\""], "leave one of them");
    wrong("http = { get = \"s\", json = \"$.a\" }\nexpect = 1", &["\"s\""], "`s` is not a path");
    wrong("http = { get = \"/{port}\", json = \"$.a\" }\nexpect = 1", &["\"/{port}\""], "unknown placeholder `{port}`");
    wrong("http = { get = \"/s\", json = \"a\" }\nexpect = 1", &["\"a\""], "is not a JSONPath");
    wrong("http = { get = \"/s\", json = \"$.a[\" }\nexpect = 1", &["\"$.a[\""], "is not a JSONPath");
    for bean in ["Pool", ":type=Pool", "a:", "a:type", "a:=Pool", "a:type=Pool,", "a:type=\"x,y\",z"] {
        let written = format!("'{bean}'");
        wrong(
            &format!("jmx = {{ bean = {written}, attribute = \"Size\" }}\nexpect = 1"),
            &[&written],
            "no name of a bean",
        );
    }
    wrong("jmx = { bean = \"a:b=c\", attribute = \"Heap.\" }\nexpect = 1", &["\"Heap.\""], "no attribute of a bean");
    wrong("command = \" \"\nexpect = 1", &["\" \""], "an empty command says nothing");
    wrong("command = \"ask {prot}\"\nexpect = 1", &["\"ask {prot}\""], "unknown placeholder `{prot}`");
    wrong("threads = \"^w\"\nregex = \"x\"\nexpect = 1", &["\"x\""], "`regex` reads what a command wrote");
    insta::assert_snapshot!(rendered(&read(&assertion(
        "jmx = { bean = \":type=Memory\", attribute = \"Heap\" }\nexpect = 1"
    ))));
}

#[test]
fn assertions_that_can_hold() {
    for keys in [
        "jmx = { bean = 'com.zaxxer.hikari:type=PoolConfig (main)', attribute = 'MaximumPoolSize' }\nexpect = 10",
        "jmx = { bean = 'a:name=\"x,y\",type=*', attribute = 'Heap.max' }\nexpect = '>= 1'",
        "jmx = { bean = 'a:*', attribute = 'B' }\nexpect = 'up'",
        "http = { get = '/s?key={env.KEY}', json = '$.a[0]' }\nexpect = '<none>'",
        "command = 'ask {port} $SERVER_PID'\nregex = 'is (\\d+)'\nexpect = ''",
        "threads = '.'\nexpect = '<= 8'",
    ] {
        study::parse(&assertion(keys), "study.toml", folder().path()).unwrap();
    }
}

#[test]
fn all_that_is_wrong_is_shown_together() {
    let text = GOOD.replace("server.rb", "sever.rb").replace("[1, 20]", "[0, 20]").replace("min = 5", "min = 1");
    let error = read(&text);
    assert_eq!(error.problems(), 3);
    insta::assert_snapshot!(rendered(&error));
}

#[test]
fn a_file_that_is_not_there() {
    let error = study::read(Path::new("/nowhere/study.toml")).expect_err("there is no such file");
    insta::assert_snapshot!(rendered(&error));
}

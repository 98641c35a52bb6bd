//! What differs between two sides, and what of it a study declares.

use model::LaunchFacts;
use model::imported::{Answer, ImportedRun, Requests};
use model::study::{RequestedSetting, Runtime};
use runtimes::{Given, RuntimePart, jvm};

use super::*;
use crate::audit::testing::{gravest, imported, in_pair, values};
use crate::{audit_imported, audit_pair, audit_settings, fixture};

fn change(record: &mut StudyRecord, variant: usize, change: impl Fn(&mut LaunchFacts)) {
    let trials = record.trials.iter_mut().filter(|trial| trial.variant == variant);
    trials.filter_map(|trial| trial.launch.as_mut()).for_each(change);
}

#[test]
fn the_declared_difference_is_explained() {
    let record = fixture::record(5, 0.0);
    assert_eq!(
        differences(&record),
        [EnvironmentDifference {
            aspect: Aspect::Command,
            values: vec![
                Some("-Djruby.compile.invokedynamic=false".to_owned()),
                Some("-Djruby.compile.invokedynamic=true".to_owned())
            ],
            factor: Some("invokedynamic".to_owned()),
        }]
    );
    assert_eq!(gravest(rule, &record), None);
}

#[test]
fn a_flag_a_library_a_variable_or_a_version_that_slipped_in() {
    let slips: [fn(&mut LaunchFacts); 4] = [
        |launch| launch.command.insert(1, "-Xmx2g".to_owned()),
        |launch| drop(launch.libraries.insert("json.jar".to_owned(), "cc".to_owned())),
        |launch| drop(launch.env.insert("MALLOC_ARENA_MAX".to_owned(), "2".to_owned())),
        |launch| drop(launch.versions.insert("jdk".to_owned(), "21".to_owned())),
    ];
    for slip in slips {
        let mut record = fixture::record(5, 0.0);
        change(&mut record, 1, slip);
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        assert_eq!(differences(&record).iter().filter(|d| d.factor.is_none()).count(), 1);
    }
}

#[test]
fn launches_that_nobody_looked_into_differ_in_nothing() {
    let mut record = fixture::record(5, 0.0);
    let failed = |record: &mut StudyRecord, count| {
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1).take(count) {
            fixture::fail(trial);
            trial.warm_up = None;
            let launch = trial.launch.as_mut().unwrap();
            launch.gems.clear();
            launch.build.insert("CFLAGS".to_owned(), "-O0".to_owned());
        }
    };
    failed(&mut record, 2);
    assert_eq!(gravest(rule, &record), None);
    failed(&mut record, usize::MAX);
    assert_eq!(gravest(rule, &record), None);
    assert_eq!(differences(&record), []);
    // Failed under load, it had been looked into.
    let mut record = fixture::record(5, 0.0);
    change(&mut record, 1, |launch| launch.gems.clear());
    record.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

/// A json gem slipped in once, and nine conclusions were drawn from what it did.
#[test]
fn a_gem_that_slipped_in() {
    let mut record = fixture::record(5, 0.0);
    change(&mut record, 1, |launch| drop(launch.gems.insert("json".to_owned(), "2.9.1".to_owned())));
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    let other = differences(&record).into_iter().find(|difference| difference.factor.is_none()).unwrap();
    assert_eq!(other.aspect, Aspect::Gem("json".to_owned()));
    assert_eq!(other.values, [Some("2.7.1".to_owned()), Some("2.9.1".to_owned())]);
}

#[test]
fn gems_that_a_busy_ruby_does_not_tell_are_no_difference() {
    let mut record = fixture::record(5, 0.0);
    for variant in [0, 1] {
        change(&mut record, variant, |launch| drop(launch.build.insert("CC".to_owned(), "gcc".to_owned())));
    }
    record.trials[0].launch.as_mut().unwrap().gems.clear();
    assert_eq!(gravest(rule, &record), None);
    change(&mut record, 1, |launch| launch.gems.clear());
    assert_eq!(gravest(rule, &record), None);
    assert!(!differences(&record).iter().any(|difference| matches!(difference.aspect, Aspect::Gem(_))));
    // Where no Ruby reports on itself there are none.
    for variant in [0, 1] {
        change(&mut record, variant, |launch| launch.build.clear());
    }
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

/// Loaded by the first request that needs it, which not every launch gets before it is looked into.
#[test]
fn a_gem_that_comes_late_is_no_difference_but_another_version_of_it_is() {
    let late = |record: &mut StudyRecord, index: usize, version: &str| {
        let launch = record.trials[index].launch.as_mut().unwrap();
        launch.gems.insert("late".to_owned(), version.to_owned());
    };
    let mut record = fixture::record(5, 0.0);
    let of = |variant| record.trials.iter().position(|trial| trial.variant == variant).unwrap();
    let (own, others) = (of(1), of(0));
    late(&mut record, own, "1.0");
    assert_eq!(gravest(rule, &record), None);
    assert!(!differences(&record).iter().any(|difference| matches!(difference.aspect, Aspect::Gem(_))));
    late(&mut record, others, "1.0");
    assert_eq!(gravest(rule, &record), None);
    late(&mut record, others, "2.0");
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

/// As class loaders do that unpack jars under names of their own.
#[test]
fn archives_of_temporary_names_are_no_difference() {
    let mut record = fixture::record(5, 0.0);
    for (index, trial) in record.trials.iter_mut().enumerate() {
        let launch = trial.launch.as_mut().unwrap();
        launch.opened.insert(format!("jruby{index}json.jar"), "ee".to_owned());
    }
    assert_eq!(gravest(rule, &record), None);
    change(&mut record, 1, |launch| drop(launch.opened.insert("puma.jar".to_owned(), "dd".to_owned())));
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

#[test]
fn a_gem_of_one_side_may_be_what_a_variable_brought() {
    let mut record = fixture::record(5, 0.0);
    change(&mut record, 1, |launch| drop(launch.gems.insert("puma".to_owned(), "6.4.0".to_owned())));
    change(&mut record, 1, |launch| drop(launch.opened.insert("puma.jar".to_owned(), "dd".to_owned())));
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    record.study.variants[1]
        .treatment
        .push(RequestedSetting::new("invokedynamic", Given::variable("HANDLER", "threads")));
    assert_eq!(gravest(rule, &record), Some(Severity::Warning));
}

#[test]
fn an_undeclared_option_beside_a_declared_one_in_the_same_variable() {
    let mut record = fixture::record(5, 0.0);
    for (variant, value) in [(0, "false"), (1, "true")] {
        change(&mut record, variant, |launch| {
            launch.env.insert("JRUBY_OPTS".to_owned(), format!("-Xcompile.invokedynamic={value} -J-Xmx1g"));
        });
    }
    assert_eq!(gravest(rule, &record), None);
    change(&mut record, 1, |launch| launch.env["JRUBY_OPTS"].push_str(" --dev"));
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

#[test]
fn a_shared_property_that_a_level_replaces_is_declared() {
    let mut record = fixture::record(5, 0.0);
    for (variant, delay) in ["100", "3000"].into_iter().enumerate() {
        change(&mut record, variant, |launch| launch.command.push(format!("-Dgateway.delay.ms={delay}")));
    }
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    let delay = |factor, ms| RequestedSetting::new(factor, jvm::given(&format!("-Dgateway.delay.ms={ms}")));
    record.study.variants[1].treatment.push(delay("delay", 3000));
    assert_eq!(gravest(rule, &record), Some(Severity::Warning), "nothing says where the other's comes from");
    record.study.variants[0].shared.push(delay("", 100));
    assert_eq!(gravest(rule, &record), None);
    let of_delay = |difference: &EnvironmentDifference| difference.factor.as_deref() == Some("delay");
    let declared = differences(&record).into_iter().find(of_delay).unwrap();
    assert_eq!(declared.values, ["100", "3000"].map(|ms| Some(format!("-Dgateway.delay.ms={ms}"))));
}

/// What a launcher makes of its variable, and where a variable has the program found.
#[test]
fn what_a_start_script_makes_of_a_variable() {
    let mut record = fixture::record(5, 0.0);
    let requested = |name: &str, value: &str| RequestedSetting::new("script", Given::variable(name, value));
    record.study.variants[1]
        .treatment
        .extend([requested("JRUBY_OPTS", "-J-Xmx1g -Xjit.threshold=30"), requested("JAVA_HOME", "/opt/jdk-21")]);
    let words = ["-Xmx1g", "-Djruby.jit.threshold=30", "/opt/jdk-21/bin/java"].map(str::to_owned);
    change(&mut record, 1, |launch| launch.command.extend(words.clone()));
    assert_eq!(gravest(rule, &record), None);
    change(&mut record, 1, |launch| drop(launch.versions.insert("jdk".to_owned(), "21".to_owned())));
    let mut of = |runtime: Runtime| {
        record.study.variants.iter_mut().for_each(|variant| variant.server.runtime = runtime.clone());
        gravest(rule, &record)
    };
    assert_eq!(of(Runtime::Command { command: "sh start.sh".to_owned() }), Some(Severity::Warning));
    let ruby = Runtime::Ruby { version: None, options: Vec::new(), script: "server.rb".to_owned() };
    assert_eq!(of(ruby), Some(Severity::Invalid));
}

#[test]
fn words_that_a_start_script_makes_of_a_variable_may_follow() {
    let mut record = fixture::record(5, 0.0);
    record.study.variants[1].treatment.push(RequestedSetting::new("heap", Given::variable("HEAP", "256")));
    for (variant, heap) in ["128", "256"].into_iter().enumerate() {
        change(&mut record, variant, |launch| launch.command.push(format!("-Xmx{heap}m")));
        change(&mut record, variant, |launch| {
            drop(launch.env.insert("OPTIONS".to_owned(), format!("-Xmx{heap}m")));
        });
    }
    let of = |record: &mut StudyRecord, runtime: Runtime| {
        record.study.variants.iter_mut().for_each(|variant| variant.server.runtime = runtime.clone());
        gravest(rule, record)
    };
    let ruby = Runtime::Ruby { version: None, options: Vec::new(), script: "server.rb".to_owned() };
    assert_eq!(of(&mut record, ruby), Some(Severity::Invalid));
    let command = Runtime::Command { command: "sh start.sh".to_owned() };
    assert_eq!(of(&mut record, command), Some(Severity::Warning));
    // What is installed is not made by a script.
    change(&mut record, 1, |launch| drop(launch.libraries.insert("json.jar".to_owned(), "cc".to_owned())));
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

#[test]
fn gems_and_archives_follow_from_where_they_are_looked_for() {
    let with = |name: &str, value: &str, slip: fn(&mut LaunchFacts, usize)| {
        let mut record = fixture::record(5, 0.0);
        record.study.variants[1].treatment.push(RequestedSetting::new("version", Given::variable(name, value)));
        (0..2).for_each(|variant| change(&mut record, variant, |launch| slip(launch, variant)));
        gravest(rule, &record)
    };
    let gem = |launch: &mut LaunchFacts, variant| drop(launch.gems.insert("widget".to_owned(), format!("{variant}.0")));
    let archive =
        |launch: &mut LaunchFacts, variant| drop(launch.opened.insert("app.jar".to_owned(), format!("{variant}a")));
    assert_eq!(with("GEM_PATH", "{dir}/g2", gem), Some(Severity::Warning));
    assert_eq!(with("MODE", "/fast", gem), Some(Severity::Invalid));
    assert_eq!(with("APP_HOME", "{dir}/v2", archive), Some(Severity::Warning));
    assert_eq!(with("MODE", "fast", archive), Some(Severity::Invalid));
    // By a name that says so, and by the value in a path.
    assert_eq!(with("APP_VERSION", "v2", archive), Some(Severity::Warning));
    assert_eq!(with("APP_VERSION", "v2", gem), Some(Severity::Warning));
    let below = |launch: &mut LaunchFacts, variant| {
        launch.opened.insert("app.jar".to_owned(), format!("{variant}a"));
        launch.command.push("releases/fast/app.jar".to_owned());
    };
    assert_eq!(with("MODE", "fast", below), Some(Severity::Warning));
    assert_eq!(with("MODE", "slow", below), Some(Severity::Invalid));
}

/// As by `-Dfeature=new`, and by an agent whose manifest names others.
#[test]
fn an_archive_of_one_side_may_be_what_an_option_of_the_jvm_brought() {
    let with = |option: &str| {
        let mut record = fixture::record(5, 0.0);
        record.study.variants[1].treatment.push(RequestedSetting::new("invokedynamic", jvm::given(option)));
        change(&mut record, 1, |launch| {
            launch.command.push(option.to_owned());
            launch.opened.insert("extra.jar".to_owned(), "dd".to_owned());
        });
        let boundaries = crate::boundaries::Boundaries::standard();
        let [found] = &rule(&record, &crate::assess(&record, &boundaries))[..] else { panic!("one finding") };
        (found.severity, found.meaning.clone())
    };
    assert_eq!(with("-Dfeature=new"), (Severity::Warning, BROUGHT_ALONG.to_owned()));
    assert_eq!(with("-javaagent:agent.jar"), (Severity::Warning, BROUGHT_ALONG.to_owned()));
    assert_eq!(with("-XX:+UseG1GC"), (Severity::Invalid, UNDECLARED.to_owned()));
}

#[test]
fn ports_folders_and_what_varies_by_itself_are_natural() {
    let mut record = fixture::record(5, 0.0);
    for (number, trial) in record.trials.iter_mut().enumerate() {
        let launch = trial.launch.as_mut().unwrap();
        launch.env.insert("DATABASE".to_owned(), format!("jdbc://127.0.0.1:{}/app", 50_000 + number));
        launch.env.insert("TOKEN".to_owned(), format!("random-{number}"));
        launch.command.push(format!("--pid={}", launch.pid));
    }
    assert_eq!(gravest(rule, &record), None);
}

/// A level's texts are compared with a launch that has their placeholders filled in.
#[test]
fn placeholders_and_large_numbers_of_a_level_are_recognised() {
    let mut record = fixture::record(5, 0.0);
    let requested = [
        (Given::argument("--config={dir}/on.toml"), "--config=/study/on.toml"),
        (Given::argument("--out={trial_dir}/x{y}"), "--out=TRIAL/x{y}"),
        (Given::argument("--db=127.0.0.1:{port.db}/a"), "--db=127.0.0.1:40123/a"),
        (Given::argument("--token={env.TOKEN}."), "--token=***."),
        (jvm::given("-XX:TimeLimit=50000"), "-XX:TimeLimit=50000"),
        (Given::property("cache.folder", "{dir}/cache"), "-Dcache.folder=/study/cache"),
        (Given::property("cache.size", "40000"), "-Dcache.size=40000"),
    ];
    change(&mut record, 1, |launch| {
        let trial = launch.log.parent().unwrap().display().to_string();
        launch.command.extend(requested.iter().map(|(_, word)| word.replace("TRIAL", &trial)));
    });
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    let asked = requested.map(|(given, _)| RequestedSetting::new("invokedynamic", given));
    record.study.variants[1].treatment.extend(asked);
    let unexplained: Vec<_> = differences(&record).into_iter().filter(|d| d.factor.is_none()).collect();
    assert_eq!(unexplained, []);
}

#[test]
fn a_library_that_changed_during_the_run() {
    let mut record = fixture::record(5, 0.0);
    record.trials[9].launch.as_mut().unwrap().libraries.insert("jruby.jar".to_owned(), "ee".to_owned());
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

/// A hook that puts another file there every so many launches: both variants have run both.
#[test]
fn a_library_that_changed_for_both_is_reported_and_vetoes_where_a_block_mixes_them() {
    let of = |change_at: usize| {
        let mut record = fixture::record(6, 0.0);
        let measured = record.trials.iter_mut().filter(|trial| !trial.key.pilot);
        for (_, trial) in measured.enumerate().filter(|(number, _)| number / change_at % 2 == 1) {
            trial.launch.as_mut().unwrap().libraries.insert("jruby.jar".to_owned(), "ee".to_owned());
        }
        gravest(rule, &record)
    };
    assert_eq!(of(4), Some(Severity::Warning));
    assert_eq!(of(3), Some(Severity::Invalid));
}

#[test]
fn another_runtime_brings_its_command_along() {
    let mut record = fixture::record(5, 0.0);
    for (variant, value) in record.study.variants.iter_mut().zip(["jruby", "ruby"]) {
        variant.treatment = vec![RequestedSetting::new("invokedynamic", Given::runtime(RuntimePart::Runtime, value))];
    }
    change(&mut record, 1, |launch| {
        launch.command = vec!["/usr/bin/ruby".to_owned(), "server.rb".to_owned()];
        launch.versions = [("ruby".to_owned(), "3.1".to_owned())].into();
        launch.libraries = [("server.rb".to_owned(), "bb".to_owned())].into();
        launch.env.insert("GEM_PATH".to_owned(), "/usr/share/gems".to_owned());
    });
    assert_eq!(gravest(rule, &record), None);
    change(&mut record, 1, |launch| drop(launch.env.insert("THREADS".to_owned(), "8".to_owned())));
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

#[test]
fn a_command_that_all_levels_write_out_explains_nothing() {
    let mut record = fixture::record(5, 0.0);
    for variant in &mut record.study.variants {
        variant
            .treatment
            .push(RequestedSetting::new("invokedynamic", Given::runtime(RuntimePart::Command, "ruby app.rb {port}")));
    }
    change(&mut record, 1, |launch| drop(launch.gems.insert("json".to_owned(), "2.9.1".to_owned())));
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    // Another command may bring another library along.
    record.study.variants[1].treatment.last_mut().unwrap().value = "ruby other.rb {port}".to_owned();
    assert_eq!(gravest(rule, &record), None);
}

/// What was launched is not what a start script made of it.
#[test]
fn what_a_title_hides_is_not_compared() {
    let scripts = |launch: &mut LaunchFacts| {
        launch.env.insert("APP_HOME".to_owned(), "/srv".to_owned());
        launch.command.push("--by-script".to_owned());
    };
    let hide = |launch: &mut LaunchFacts| (launch.hides_env, launch.hides_command) = (true, true);
    for hidden in [0, 1] {
        let mut record = fixture::record(5, 0.0);
        change(&mut record, 1 - hidden, scripts);
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        change(&mut record, hidden, hide);
        assert_eq!(gravest(rule, &record), None);
        assert_eq!(differences(&record), []);
        // All else is.
        change(&mut record, 1, |launch| drop(launch.gems.insert("json".to_owned(), "2.9.1".to_owned())));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }
    // One launch that shows it is enough.
    let mut record = fixture::record(5, 0.0);
    change(&mut record, 1, scripts);
    hide(record.trials[0].launch.as_mut().unwrap());
    assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
}

#[test]
fn with_one_launch_a_side_it_is_only_a_warning() {
    let mut record = fixture::record(0, 0.0);
    record.trials.truncate(2);
    change(&mut record, 1, |launch| drop(launch.env.insert("X".to_owned(), "1".to_owned())));
    assert_eq!(gravest(rule, &record), Some(Severity::Warning));
}

#[test]
fn settings_of_imported_runs_that_differ_in_several_options() {
    let of = |options: [&str; 2]| {
        let [first, second] = options.map(|options| {
            let mut audited = audit_imported(imported(100, 10), Vec::new());
            audited.settings = vec![audit_settings(fixture::settings(&[("JAVA_OPTS", 0, false, options)]))];
            audited
        });
        let pair = audit_pair([&first, &second]);
        let found = pair.findings.iter().find(|finding| finding.id == RULE.id);
        (pair.options.map(|all| all.len()), found.map(|found| (found.severity, values(found))))
    };
    assert_eq!(of(["-Xmx1g -Da=b", "-Da=b -Xmx1024m"]), (Some(0), None));
    assert_eq!(of(["-Xmx1g", "-Xmx2g"]), (Some(1), None));
    let facts = ["-Xmx1g | -Xmx2g", "not given | -Da=b"].map(str::to_owned).to_vec();
    assert_eq!(of(["-Xmx1g", "-Xmx2g -Da=b"]), (Some(2), Some((Severity::Warning, facts))));
}

#[test]
fn imported_runs_have_the_same_users_and_ask_for_the_same() {
    let facts = |users: [u32; 2], urls: [&str; 2]| {
        let run = |side: usize| {
            let mut run = imported(100, 10);
            (run.users, run.url) = (Some(users[side]), Some(urls[side].to_owned()));
            run
        };
        in_pair(&RULE, [run(0), run(1)]).iter().flat_map(values).collect::<Vec<_>>()
    };
    assert_eq!(facts([10, 10], ["http://a:1/page", "http://b:2/page"]), [""; 0]);
    assert_eq!(facts([10, 20], ["a:1/page", "a:1/other?x"]), ["10 | 20", "/page | /other?x"]);
    assert_eq!(facts([99, 100], ["a:1/", "a:1/"]), [""; 0], "one was never at work at once");
    assert_eq!(facts([94, 100], ["a:1/", "a:1/"]), ["94 | 100"]);
}

#[test]
fn users_that_were_counted_are_a_warning() {
    let severity = |are_counted: [bool; 2], urls: [&str; 2]| {
        let run = |side: usize| {
            let mut run = imported(100, 10);
            (run.users, run.url) = (Some([10, 40][side]), Some(urls[side].to_owned()));
            run.has_counted_users = are_counted[side];
            run
        };
        in_pair(&RULE, [run(0), run(1)]).map(|found| found.severity)
    };
    let same = ["a:1/page", "b:2/page"];
    assert_eq!(severity([false, false], same), Some(Severity::Invalid));
    assert_eq!(severity([true, true], same), Some(Severity::Warning));
    assert_eq!(severity([false, true], same), Some(Severity::Warning));
    assert_eq!(severity([true, true], ["a:1/page", "b:2/other"]), Some(Severity::Invalid));
}

/// Runs with so many good requests of each label.
fn mixed(sides: [&[(&str, u64)]; 2], tools: [&str; 2]) -> [ImportedRun; 2] {
    [0, 1].map(|side| {
        let requests = |good| Requests { good, ..Requests::default() };
        let labels = sides[side].iter().map(|(label, good)| ((*label).to_owned(), requests(*good))).collect();
        ImportedRun { labels, tool: tools[side].to_owned(), ..imported(100, 10) }
    })
}

#[test]
fn another_mix_of_requests_is_another_load() {
    let of = |sides: [&[(&str, u64)]; 2], tools: [&str; 2]| {
        in_pair(&RULE, mixed(sides, tools)).map(|found| (found.severity, values(&found)))
    };
    let facts = |first: &[(&str, u64)], second: &[(&str, u64)]| {
        of([first, second], ["JMeter"; 2]).map(|(severity, values)| (severity, values.join("; ")))
    };
    let invalid = |values: &str| Some((Severity::Invalid, values.to_owned()));
    assert_eq!(facts(&[("home", 100)], &[("cart", 900)]), invalid("0.0 % | 100.0 %; 100.0 % | 0.0 %"));
    assert_eq!(
        facts(&[("home", 70), ("cart", 30)], &[("home", 500), ("cart", 500)]),
        invalid("30.0 % | 50.0 %; 70.0 % | 50.0 %")
    );
    assert_eq!(facts(&[("home", 70), ("cart", 30)], &[("home", 65), ("cart", 35)]), None);
    // A tenth that the other lacks, in parts; and less than that.
    let parts = [("home", 90), ("a", 5), ("b", 5)];
    assert_eq!(facts(&parts, &[("home", 100)]), invalid("90.0 % | 100.0 %; 5.0 % | 0.0 %; 5.0 % | 0.0 %"));
    assert_eq!(facts(&[("home", 92), ("a", 4), ("b", 4)], &[("home", 100)]), None);
    // Names that are seldom do not count: a number in each makes them many.
    let many: Vec<String> = (0..400).map(|index| format!("user {index}")).collect();
    let numbered: Vec<(&str, u64)> = many.iter().map(|label| (label.as_str(), 1)).collect();
    assert_eq!(
        facts(&[&numbered[..200], &[("home", 100)]].concat(), &[&numbered[200..], &[("home", 100)]].concat()),
        None
    );
    assert_eq!(facts(&[], &[("home", 100)]), None, "one file has no labels");
    let of_hosts: [&[(&str, u64)]; 2] = [&[("GET http://a:1/page", 9)], &[("GET http://b:2/page", 7)]];
    assert_eq!(of(of_hosts, ["vegeta"; 2]), None);
    // Tools name the same request differently.
    let of_tools: [&[(&str, u64)]; 2] = [&[("home", 9)], &[("GET http://b:2/", 7)]];
    assert_eq!(of(of_tools, ["JMeter 5.6.3", "k6"]), None);
    assert!(of(of_tools, ["JMeter 5.6.3", "JMeter 2.12"]).is_some());
}

#[test]
fn a_claim_about_another_mix_is_not_supported() {
    let answer = |second: &[(&str, u64)]| {
        let runs = mixed([&[("home", 1_000)], second], ["JMeter"; 2]).map(|run| audit_imported(run, Vec::new()));
        let pair = audit_pair([&runs[0], &runs[1]]);
        crate::answer_claim("b is faster than a", &pair).unwrap().answer
    };
    assert_eq!(answer(&[("cart", 1_000)]), Answer::NotSupported);
    assert_ne!(answer(&[("home", 1_000)]), Answer::NotSupported);
}

//! The keys of a server as data: laid over one another, listed, turned into the treatment of a variant.

use indexmap::IndexMap;
use miette::SourceSpan;
use model::study::RequestedSetting;
use runtimes::{Given, Limit, RuntimePart, jvm};

use crate::file::{ReadyKeys, RuntimeName, ServerKeys, Table};
use crate::value::{At, Text};

impl RuntimeName {
    /// Every runtime.
    pub const ALL: [Self; 4] = [Self::Jruby, Self::Java, Self::Ruby, Self::Command];

    /// The name a study file uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jruby => "jruby",
            Self::Java => "java",
            Self::Ruby => "ruby",
            Self::Command => "command",
        }
    }

    /// Whether `key` means something to it.
    pub fn knows(self, key: &str) -> bool {
        let own: &[&str] = match self {
            Self::Jruby => &["version", "jdk", "script", "main", "jars", "jvm", "properties", "jruby"],
            Self::Java => &["jdk", "jar", "main", "jars", "jvm", "properties"],
            Self::Ruby => &["version", "script", "ruby"],
            Self::Command => &["command"],
        };
        own.contains(&key) || ["runtime", "args", "env", "limits", "dir", "ready", "stop_within"].contains(&key)
    }
}

/// One setting that is written in `[server]` or in a level.
pub(crate) struct Entry<'a> {
    /// The key.
    pub key: &'static str,
    /// The name within the key's table.
    pub name: Option<&'a str>,
    /// What is written; empty for lengths of time.
    pub value: &'a str,
    /// Where.
    pub place: SourceSpan,
    /// Whether it adds to a list rather than replacing what was there.
    pub appends: bool,
}

impl Entry<'_> {
    /// The key as people write it: `env.PORT`, `version`.
    pub fn path(&self) -> String {
        self.name.map_or_else(|| self.key.to_owned(), |name| format!("{}.{name}", self.key))
    }

    /// What it asks of the running process; nothing where it only says how to launch.
    fn requested(&self, factor: &str) -> Option<RequestedSetting> {
        let name = self.name.unwrap_or_default();
        let given = match self.key {
            "jruby" => Given::jruby(name, self.value),
            "jvm" => jvm::given(self.value),
            "properties" => Given::property(name, self.value),
            "env" => Given::variable(name, self.value),
            "limits" => Given::limit(Limit::named(name)?, self.value),
            "args" | "ruby" => Given::argument(self.value),
            key => Given::runtime(RuntimePart::named(key)?, self.value),
        };
        Some(RequestedSetting::new(factor, given))
    }
}

impl ServerKeys {
    /// These keys with those of a level laid over them.
    pub fn overlaid(&self, level: &Self) -> Self {
        Self {
            runtime: level.runtime.clone().or_else(|| self.runtime.clone()),
            version: replaced(self.version.as_ref(), level.version.as_ref()),
            jdk: replaced(self.jdk.as_ref(), level.jdk.as_ref()),
            command: replaced(self.command.as_ref(), level.command.as_ref()),
            script: replaced(self.script.as_ref(), level.script.as_ref()),
            main: replaced(self.main.as_ref(), level.main.as_ref()),
            jar: replaced(self.jar.as_ref(), level.jar.as_ref()),
            jars: [self.jars.as_slice(), &level.jars].concat(),
            jvm: [self.jvm.as_slice(), &level.jvm].concat(),
            properties: merged(&self.properties, &level.properties),
            jruby: merged(&self.jruby, &level.jruby),
            ruby: [self.ruby.as_slice(), &level.ruby].concat(),
            args: [self.args.as_slice(), &level.args].concat(),
            env: merged(&self.env, &level.env),
            limits: merged(&self.limits, &level.limits),
            dir: replaced(self.dir.as_ref(), level.dir.as_ref()),
            ready: self.ready.overlaid(&level.ready),
            stop_within: replaced(self.stop_within.as_ref(), level.stop_within.as_ref()),
        }
    }

    /// Everything written, in the order of the keys' declaration.
    pub fn entries(&self) -> Vec<Entry<'_>> {
        let texts = [
            ("version", &self.version),
            ("jdk", &self.jdk),
            ("command", &self.command),
            ("script", &self.script),
            ("main", &self.main),
            ("jar", &self.jar),
            ("dir", &self.dir),
        ];
        let lists = [("jars", &self.jars), ("jvm", &self.jvm), ("ruby", &self.ruby), ("args", &self.args)];
        let tables =
            [("properties", &self.properties), ("jruby", &self.jruby), ("env", &self.env), ("limits", &self.limits)];
        let ready = [("get", &self.ready.get), ("tcp", &self.ready.tcp)];
        let lengths = [("ready", Some("within"), &self.ready.within), ("stop_within", None, &self.stop_within)];

        let single = |key, name, value, place| Entry { key, name, value, place, appends: false };
        let mut entries = Vec::new();
        if let Some(runtime) = &self.runtime {
            entries.push(single("runtime", None, runtime.value.name(), runtime.place));
        }
        for (key, text) in texts {
            entries.extend(text.iter().map(|text| single(key, None, &***text, text.place)));
        }
        for (key, list) in lists {
            entries.extend(list.iter().map(|text| Entry { appends: true, ..single(key, None, &***text, text.place) }));
        }
        for (key, table) in tables {
            entries.extend(table.iter().map(|(name, text)| single(key, Some(&**name), &***text, name.place)));
        }
        for (name, text) in ready {
            entries.extend(text.iter().map(|text| single("ready", Some(name), &***text, text.place)));
        }
        for (key, name, length) in lengths {
            entries.extend(length.iter().map(|length| single(key, name, "", length.place)));
        }
        entries
    }

    /// What a level of `factor` with these keys asks of the running process.
    pub fn treatment(&self, factor: &str) -> impl Iterator<Item = RequestedSetting> {
        self.entries().into_iter().filter_map(move |entry| entry.requested(factor))
    }

    /// The texts that may hold placeholders.
    pub fn fillable(&self) -> impl Iterator<Item = &At<Text>> {
        let lists = [&self.jvm, &self.ruby, &self.args].into_iter().flatten();
        let tables = [&self.properties, &self.jruby, &self.env].into_iter().flat_map(IndexMap::values);
        self.command.iter().chain(lists).chain(tables)
    }
}

impl ReadyKeys {
    /// A sign replaces a sign, whichever of the two it is.
    fn overlaid(&self, level: &Self) -> Self {
        let sign = if level.get.is_some() || level.tcp.is_some() { level } else { self };
        Self {
            get: sign.get.clone(),
            tcp: sign.tcp.clone(),
            within: replaced(self.within.as_ref(), level.within.as_ref()),
        }
    }
}

fn replaced<T: Clone>(base: Option<&T>, level: Option<&T>) -> Option<T> {
    level.or(base).cloned()
}

fn merged(base: &Table, level: &Table) -> Table {
    let mut table = base.clone();
    for (name, text) in level {
        // Removed first: the key carries the place, and the newer place is the one to show.
        if let Some(index) = table.get_index_of(name) {
            table.shift_remove_index(index);
            table.shift_insert(index, name.clone(), text.clone());
        } else {
            table.insert(name.clone(), text.clone());
        }
    }
    table
}

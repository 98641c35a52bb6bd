//! The sources that settings are read from.

use std::cell::OnceCell;
use std::path::Path;

use indexmap::IndexMap;
use model::options::without_probe;
use model::study::RequestedSetting;
use runtimes::jvm::{Arguments, Flags};
use runtimes::{Given, variables};

use super::jvm;
use crate::runtime::Installed;
use crate::serving::{Inside, LiveJvm, NO_JVM, RuntimeKind, Serving};
use crate::site::Site;

/// The server to be asked, and how it was launched.
pub(crate) struct LaunchedServer<'a> {
    pub serving: &'a Serving,
    /// The process that bakeoff started: the words of its command line and its folder were asked of it, and of no other.
    pub launched: u32,
    pub installed: &'a Installed,
    pub site: &'a Site,
    pub inside: Option<&'a Inside>,
    /// What it has written.
    pub log: &'a Path,
    /// Processors that it is kept to, by number; any if there are none.
    pub cpus: &'a [usize],
}

/// Why it is not known what a process has of a variable.
pub(super) const NO_ENVIRONMENT: &str =
    "the process shows the environment no more that it was started with: a title of its own stands there";

/// Asks each source once, and only if something needs it.
pub(super) struct Reader<'a> {
    pub target: &'a LaunchedServer<'a>,
    /// What the study asks of this variant.
    pub requested: &'a [RequestedSetting],
    /// And of each other.
    pub others: &'a [Vec<RequestedSetting>],
    jvm: OnceCell<Result<LiveJvm, String>>,
    flags: OnceCell<Result<Flags, String>>,
    properties: OnceCell<Result<IndexMap<String, String>, String>>,
    jvm_arguments: OnceCell<Result<Arguments, String>>,
    environment: OnceCell<Result<IndexMap<String, String>, String>>,
}

impl<'a> Reader<'a> {
    pub fn new(
        target: &'a LaunchedServer<'a>,
        requested: &'a [RequestedSetting],
        others: &'a [Vec<RequestedSetting>],
    ) -> Self {
        Self {
            target,
            requested,
            others,
            jvm: OnceCell::new(),
            flags: OnceCell::new(),
            properties: OnceCell::new(),
            jvm_arguments: OnceCell::new(),
            environment: OnceCell::new(),
        }
    }

    /// As the launch has it.
    pub fn completed(&self, requested: &RequestedSetting) -> Result<Given, String> {
        requested.completed(|text| self.target.site.complete(text)).map_err(|error| error.to_string())
    }

    /// Which runtime serves.
    pub fn runtime_kind(&self) -> RuntimeKind {
        let has_property = |name: &str| self.properties().is_ok_and(|properties| properties.contains_key(name));
        self.target.serving.runtime(self.target.inside, has_property)
    }

    pub fn jvm(&self) -> Result<&LiveJvm, String> {
        let find = || self.target.serving.jvm()?.ok_or_else(|| NO_JVM.to_owned());
        self.jvm.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    pub fn flags(&self) -> Result<&Flags, String> {
        self.flags.get_or_init(|| jvm::live_flags(self.jvm()?)).as_ref().map_err(Clone::clone)
    }

    pub fn properties(&self) -> Result<&IndexMap<String, String>, String> {
        self.properties.get_or_init(|| jvm::properties(self.jvm()?)).as_ref().map_err(Clone::clone)
    }

    pub fn jvm_arguments(&self) -> Result<&Arguments, String> {
        self.jvm_arguments.get_or_init(|| jvm::arguments(self.jvm()?)).as_ref().map_err(Clone::clone)
    }

    /// As the process was started with it, without the probe.
    pub fn environment(&self) -> Result<&IndexMap<String, String>, String> {
        let read = || {
            let mut environment = self.target.serving.environment(self.target.inside).ok_or(NO_ENVIRONMENT)?;
            if let Some(options) = environment.get_mut(variables::OF_RUBY) {
                *options = without_probe(options);
            }
            Ok(environment)
        };
        self.environment.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

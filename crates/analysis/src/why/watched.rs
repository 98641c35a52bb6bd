//! A launch that was watched, and what it used per request.

use model::profiling::{CpuUse, Observation, Profile, ProfilingRun, Recording, Sums, ThrowableKind};

/// Requests, and samples, below which a launch says little.
pub(super) const FEW: u64 = 200;

/// Who took samples: each calls the same places by other names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sampler {
    Jfr,
    Stackprof,
}

/// Samples of what used the CPU.
#[derive(Clone, Copy)]
pub(super) struct Sampled<'a> {
    pub by: Sampler,
    pub packages: Option<&'a Sums>,
    /// By the method at the top: all samples there are.
    pub methods: &'a Sums,
    pub ruby_methods: &'a Sums,
}

/// A launch of which something was seen.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    pub observation: &'a Observation,
}

impl<'a> Watched<'a> {
    pub fn of(made: &'a ProfilingRun) -> Option<Self> {
        made.observation.as_ref().filter(|observation| observation.requests > 0).map(|observation| Self { observation })
    }

    pub fn per_request(self, amount: f64) -> f64 {
        amount / self.observation.requests as f64
    }

    /// CPU time per request, µs.
    pub fn cpu(self, part: impl Fn(&CpuUse) -> f64) -> Option<f64> {
        self.observation.cpu.as_ref().map(|cpu| self.per_request(part(cpu) * 1e6))
    }

    pub fn profile(self) -> Option<&'a Profile> {
        match &self.observation.recording {
            Recording::Jfr { profile, .. } => Some(profile),
            _ => None,
        }
    }

    /// Samples of what used the CPU, where there are enough of them to say anything.
    pub fn stack_samples(self) -> Option<Sampled<'a>> {
        let sampled = match &self.observation.recording {
            Recording::Jfr { profile, .. } => Sampled {
                by: Sampler::Jfr,
                packages: Some(&profile.packages),
                methods: &profile.stack_samples,
                ruby_methods: &profile.ruby_methods,
            },
            Recording::Stackprof { stack_samples, .. } => Sampled {
                by: Sampler::Stackprof,
                packages: None,
                methods: &stack_samples.methods,
                ruby_methods: &stack_samples.ruby_methods,
            },
            Recording::None { .. } => return None,
        };
        (sampled.methods.count >= FEW).then_some(sampled)
    }

    /// Throwables of a kind.
    pub fn throwables(self, kind: ThrowableKind) -> u64 {
        self.profile().map_or(0, |profile| profile.throwables_of(kind))
    }
}

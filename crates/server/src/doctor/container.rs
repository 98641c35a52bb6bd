//! Whether this is a container, and whose.

use super::host::Files;

/// What a runtime leaves where its containers can see it, from the most specific: an orchestrator before the runtime below it.
const MARKS: [(&str, Mark); 15] = [
    ("Kubernetes", Mark::File("run/secrets/kubernetes.io/serviceaccount")),
    ("Kubernetes", Mark::File("var/run/secrets/kubernetes.io/serviceaccount")),
    ("Kubernetes", Mark::Group("kubepods")),
    ("Kubernetes", Mark::Root("/kubelet/")),
    ("Podman", Mark::File("run/.containerenv")),
    ("Podman", Mark::Named("podman")),
    ("Podman", Mark::Group("/libpod")),
    ("Docker", Mark::File(".dockerenv")),
    ("Docker", Mark::Group("/docker")),
    ("LXC", Mark::Named("lxc")),
    ("LXC", Mark::Group("/lxc")),
    ("systemd-nspawn", Mark::Named("systemd-nspawn")),
    ("systemd-nspawn", Mark::Group("machine.slice/systemd-nspawn@")),
    ("containerd", Mark::Group("containerd")),
    ("containerd", Mark::Root("/io.containerd.")),
];

/// Where it is to be seen.
enum Mark {
    /// A file or folder.
    File(&'static str),
    /// The beginning of what the first process got by `container=`, which systemd writes down as well
    /// (<https://systemd.io/CONTAINER_INTERFACE/>).
    Named(&'static str),
    /// A part of the name of the first process's control group, where that is seen from outside.
    Group(&'static str),
    /// A part of what is mounted as the root.
    Root(&'static str),
}

/// The runtime whose container this is; `another runtime` where one calls itself something else.
pub(super) fn runtime(host: &Files) -> Option<&'static str> {
    let named = named(host);
    let groups = host.text("proc/1/cgroup").unwrap_or_default();
    let root = root(host);
    let is_seen = |mark: &Mark| match mark {
        Mark::File(file) => host.exists(file),
        Mark::Named(name) => named.starts_with(name),
        Mark::Group(part) => groups.contains(part),
        Mark::Root(part) => root.contains(part),
    };
    let known = MARKS.iter().find(|(_, mark)| is_seen(mark)).map(|(runtime, _)| *runtime);
    // A virtual machine's tools write theirs there, too.
    known.or((!named.is_empty() && named != "wsl").then_some("another runtime"))
}

/// What the container is called by its runtime; empty where there is none.
fn named(host: &Files) -> String {
    let environment = host.text("proc/1/environ").unwrap_or_default();
    let reported = environment.split('\0').find_map(|variable| variable.strip_prefix("container=")).map(str::to_owned);
    reported.or_else(|| host.text("run/systemd/container")).unwrap_or_default()
}

/// The line of what is mounted as the root (`proc_pid_mountinfo(5)`: the fifth field is the place).
fn root(host: &Files) -> String {
    let mounts = host.text("proc/self/mountinfo").unwrap_or_default();
    let is_root = |line: &&str| line.split(' ').nth(4) == Some("/");
    mounts.lines().find(is_root).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::host;
    use super::*;

    #[test]
    fn each_runtime_is_known_by_what_it_leaves() {
        let known = |path: &str, text: &str| runtime(&host(&[(path, text)]).1);
        assert_eq!(known(".dockerenv", ""), Some("Docker"));
        assert_eq!(known("proc/1/cgroup", "4:memory:/docker/3ad\n0::/docker/3ad\n"), Some("Docker"));
        assert_eq!(known("run/.containerenv", ""), Some("Podman"));
        assert_eq!(known("proc/1/cgroup", "0::/machine.slice/libpod-3ad.scope/container\n"), Some("Podman"));
        assert_eq!(known("run/secrets/kubernetes.io/serviceaccount/token", "x"), Some("Kubernetes"));
        let pod = "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-3ad.scope\n";
        assert_eq!(known("proc/1/cgroup", pod), Some("Kubernetes"));
        assert_eq!(known("proc/1/cgroup", "0::/system.slice/containerd.service/ctr-3ad\n"), Some("containerd"));
        let overlay = "573 531 0:62 / / rw,relatime - overlay overlay rw,lowerdir=/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/5/fs\n";
        assert_eq!(known("proc/self/mountinfo", overlay), Some("containerd"));
        assert_eq!(known("proc/1/environ", "TERM=linux\0container=lxc\0"), Some("LXC"));
        assert_eq!(known("proc/1/cgroup", "1:name=systemd:/lxc.payload.web/init.scope\n"), Some("LXC"));
        assert_eq!(known("run/systemd/container", "systemd-nspawn\n"), Some("systemd-nspawn"));
        assert_eq!(known("proc/1/environ", "container=oci\0"), Some("another runtime"));
    }

    #[test]
    fn a_host_of_containers_is_none_itself() {
        let mounts = "25 30 0:23 / /sys rw - sysfs sysfs rw\n30 1 259:1 / / rw,relatime - ext4 /dev/root rw\n\
                      91 30 0:50 / /var/lib/x rw - overlay overlay rw,lowerdir=/var/lib/containerd/io.containerd.snapshotter\n";
        let files = [
            ("proc/1/cgroup", "0::/init.scope\n"),
            ("proc/1/environ", "TERM=linux\0"),
            ("proc/self/mountinfo", mounts),
        ];
        assert_eq!(runtime(&host(&files).1), None);
    }
}

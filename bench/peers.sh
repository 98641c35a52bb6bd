#!/bin/sh
# Builds what Debian does not have, or not new enough, into bench/.work: `peers.sh [oha] [k6] [jmeter]`. What cannot be built is
# left out: the bench says so. The first time takes some minutes.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$here/.work
mkdir -p "$work/bin"

have() { [ -x "$work/bin/$1" ] || command -v "$1" >/dev/null; }

build_oha() {
  # It does not build without TLS.
  nice cargo install --quiet --locked -j2 --root "$work" oha@1.16.0
}

build_k6() {
  command -v go >/dev/null || { echo "k6 needs Go" >&2; return 1; }
  GOBIN=$work/bin nice go install go.k6.io/k6@v1.8.1
}

# Its parts are in Maven's repository; its home is what they make together.
build_jmeter() {
  command -v mvn >/dev/null || { echo "JMeter needs Maven" >&2; return 1; }
  home=$work/jmeter
  dependency=org.apache.maven.plugins:maven-dependency-plugin:2.8
  rm -rf "$home"
  nice mvn -B -q -f "$here/jmeter.xml" "$dependency:copy-dependencies" -DoutputDirectory="$home/lib" \
    -DexcludeArtifactIds=ApacheJMeter_config -DincludeScope=runtime || return 1
  nice mvn -B -q -f "$here/jmeter.xml" "$dependency:unpack-dependencies" -DoutputDirectory="$home" \
    -DmarkersDirectory="$home/markers" -DincludeArtifactIds=ApacheJMeter_config || return 1
  mkdir -p "$home/lib/ext" "$home/lib/junit"
  mv "$home"/lib/ApacheJMeter_*.jar "$home/lib/ext"
  mv "$home"/lib/ApacheJMeter-*.jar "$home/bin/ApacheJMeter.jar"
  cat > "$work/bin/jmeter" <<SCRIPT
#!/bin/sh
exec java \$HEAP -XX:MaxMetaspaceSize=256m -XX:+UseG1GC -Djava.awt.headless=true \\
  -Djmeter.home="$home" -jar "$home/bin/ApacheJMeter.jar" "\$@"
SCRIPT
  chmod +x "$work/bin/jmeter"
}

for peer in "$@"; do
  have "$peer" && continue
  echo "Building $peer" >&2
  "build_$peer" || echo "$peer could not be built: the bench goes on without it" >&2
done

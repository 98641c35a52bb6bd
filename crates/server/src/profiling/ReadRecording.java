import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** Adds up a recording of the JDK's Flight Recorder in one pass and prints what came of it as JSON. */
public class ReadRecording {
    /** Entries of a list that are kept, each summed over all of its events; the lists of kinds are whole. */
    private static final int LISTED = 100;

    private final Map<List<String>, double[]> throwables = new HashMap<>();
    private final Map<List<String>, double[]> thrown = new HashMap<>();
    private final Map<List<String>, double[]> compiled = new HashMap<>();
    private final Map<Long, Double> compileSeconds = new HashMap<>();
    private final Map<Long, String> failures = new HashMap<>();
    private final Map<List<String>, double[]> deoptimizations = new HashMap<>();
    private final Map<List<String>, double[]> allocations = new HashMap<>();
    private final Map<Long, Object[]> firstAllocations = new HashMap<>();
    private final Set<Long> startedThreads = new HashSet<>();
    private final Map<List<String>, double[]> locks = new HashMap<>();
    private final Map<List<String>, double[]> stackSamples = new HashMap<>();
    private final Map<List<String>, double[]> rubyMethods = new HashMap<>();
    private final Map<List<String>, double[]> packages = new HashMap<>();
    private final Map<List<String>, double[]> collections = new HashMap<>();
    private long lost;

    public static void main(String[] args) throws IOException {
        ReadRecording reader = new ReadRecording();
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            while (file.hasMoreEvents()) {
                reader.add(file.readEvent());
            }
        }
        System.out.println(reader.json());
    }

    private void add(RecordedEvent event) {
        if (ours(event.getThread())) {
            return;
        }
        switch (event.getEventType().getName()) {
            case "jdk.JavaExceptionThrow" -> {
                List<RecordedFrame> made = afterConstructors(event.getStackTrace());
                boolean walk = !made.isEmpty() && "java.lang.Thread.getStackTrace".equals(place(made.get(0)));
                String[] kind = { name(event.getClass("thrownClass")), walk ? "walk" : "" };
                add(thrown, 0, kind);
                add(throwables, 0, kind[0], kind[1], site(made));
            }
            case "jdk.Compilation" -> {
                double seconds = event.getDuration().toNanos() / 1e9;
                compileSeconds.merge(event.getLong("compileId"), seconds, Double::sum);
                add(compiled, seconds, method(event.getValue("method")));
            }
            case "jdk.CompilationFailure" -> failures.put(event.getLong("compileId"), event.getString("failureMessage"));
            case "jdk.Deoptimization" -> add(deoptimizations, 0, event.getString("reason"));
            case "jdk.ThreadStart" -> startedThreads.add(id(event.getThread("thread")));
            case "jdk.ObjectAllocationSample" -> allocated(event);
            case "jdk.JavaMonitorEnter" -> waited(event, event.getClass("monitorClass"));
            case "jdk.ThreadPark" -> {
                // Who parks on a lock waits for its owner; on anything else, for work.
                RecordedClass parked = event.getClass("parkedClass");
                if (parked != null && parked.getName().matches("java\\.util\\.concurrent\\.locks\\.\\w*Lock(\\$.*)?")) {
                    waited(event, parked);
                }
            }
            case "jdk.ExecutionSample" -> {
                List<RecordedFrame> frames = frames(event.getStackTrace());
                add(stackSamples, 0, frames.isEmpty() ? "" : place(frames.get(0)));
                String ruby = ruby(frames);
                if (!ruby.isEmpty()) {
                    add(rubyMethods, 0, ruby);
                }
                add(packages, 0, frames.isEmpty() ? "" : inPackage(frames.get(0).getMethod()));
            }
            case "jdk.GarbageCollection" ->
                add(collections, event.getDuration("sumOfPauses").toNanos() / 1e9, event.getString("name"));
            case "jdk.DataLoss" -> lost += event.getLong("amount");
            default -> { }
        }
    }

    /** Whether the thread is there to record, or to be asked about the recording. */
    private static boolean ours(RecordedThread thread) {
        String name = thread == null ? null : thread.getJavaName();
        return name != null && (name.startsWith("JFR ") || name.equals("Attach Listener"));
    }

    /** The first sample of a thread weighs all that it ever allocated: it counts only where the thread is new. */
    private void allocated(RecordedEvent event) {
        String[] what = { name(event.getClass("objectClass")), site(frames(event.getStackTrace())) };
        double bytes = event.getLong("weight");
        if (firstAllocations.putIfAbsent(id(event.getThread()), new Object[] { what, bytes }) != null) {
            add(allocations, bytes, what);
        }
    }

    private void waited(RecordedEvent event, RecordedClass lock) {
        List<RecordedFrame> frames = frames(event.getStackTrace());
        int first = 0;
        while (first < frames.size() - 1 && place(frames.get(first)).matches("(jdk\\.internal\\.misc\\.Unsafe|java\\.util\\.concurrent\\.locks)\\..*")) {
            first++;
        }
        if (!name(lock).startsWith("jdk.jfr.")) {
            add(locks, event.getDuration().toNanos() / 1e9, name(lock), site(frames.subList(first, frames.size())));
        }
    }

    private static void add(Map<List<String>, double[]> sums, double amount, String... key) {
        double[] sum = sums.computeIfAbsent(List.of(key), unused -> new double[2]);
        sum[0] += 1;
        sum[1] += amount;
    }

    private static long id(RecordedThread thread) {
        return thread == null ? -1 : thread.getId();
    }

    private static List<RecordedFrame> frames(RecordedStackTrace trace) {
        List<RecordedFrame> java = new ArrayList<>();
        if (trace != null) {
            for (RecordedFrame frame : trace.getFrames()) {
                if (frame.isJavaFrame() && frame.getMethod() != null) {
                    java.add(frame);
                }
            }
        }
        return java;
    }

    private static List<RecordedFrame> afterConstructors(RecordedStackTrace trace) {
        List<RecordedFrame> frames = frames(trace);
        int first = 0;
        while (first < frames.size() && "<init>".equals(frames.get(first).getMethod().getName())) {
            first++;
        }
        return frames.subList(first, frames.size());
    }

    /** Where in the program: its own line of Ruby if there is one, else the method at the top. */
    private static String site(List<RecordedFrame> frames) {
        String ruby = ruby(frames);
        return !ruby.isEmpty() || frames.isEmpty() ? ruby : place(frames.get(0));
    }

    /** The Ruby method nearest to the top that JRuby compiled; empty where there is none. */
    private static String ruby(List<RecordedFrame> frames) {
        for (RecordedFrame frame : frames) {
            String name = rubyName(frame.getMethod().getName());
            if (name != null) {
                return name + " (" + file(frame.getMethod()) + ":" + frame.getLineNumber() + ")";
            }
        }
        return "";
    }

    /** JRuby 9.4 writes RUBY$method$name$4; 10.1 a heart and "def name #4", parted by spaces that do not break. */
    private static String rubyName(String method) {
        if (method.startsWith("RUBY$")) {
            String[] parts = method.split("\\$");
            return parts.length < 3 ? null : kind(parts[1]) + plain(parts[2]);
        }
        String[] parts = method.split("\u00a0");
        return parts.length < 3 || parts[0].indexOf('\u2764') < 0 ? null : kind(parts[1]) + plain(parts[2]);
    }

    /** The last two parts of the path from which JRuby made the class's name. */
    private static String file(RecordedMethod method) {
        String path = plain(method.getType().getName()).replace("_minus_", "-");
        int last = path.lastIndexOf('.');
        int before = last < 0 ? -1 : path.lastIndexOf('.', last - 1);
        return path.substring(before + 1).replace('.', '/').replace("$_dot_", ".").replace("_dot_", ".");
    }

    private static String kind(String word) {
        return word.equals("block") || word.equals("{}") ? "block in " : "";
    }

    /** Undoes the mangling of names that the JVM would not take. */
    private static String plain(String mangled) {
        StringBuilder plain = new StringBuilder();
        for (int at = 0; at < mangled.length(); at++) {
            char c = mangled.charAt(at);
            int known = c == '\\' && at + 1 < mangled.length() ? "-|,?!%{}^_".indexOf(mangled.charAt(at + 1)) : -1;
            if (known >= 0) {
                plain.append("\\/.;:$[]<>".charAt(known));
                at++;
            } else if (c == '\\' && at + 1 < mangled.length() && mangled.charAt(at + 1) == '=') {
                at++;
            } else {
                plain.append(c);
            }
        }
        return plain.toString();
    }

    private static String place(RecordedFrame frame) {
        return method(frame.getMethod());
    }

    /** A class or method made at run time has an address in its name, which no two launches share. */
    private static String method(RecordedMethod method) {
        if (method == null) {
            return "";
        }
        String ruby = rubyName(method.getName());
        String type = method.getType().getName();
        return ruby == null ? generic(type + "." + method.getName()) : ruby + " (" + file(method) + ")";
    }

    private static String inPackage(RecordedMethod method) {
        if (rubyName(method.getName()) != null) {
            return "compiled Ruby";
        }
        String type = method.getType().getName();
        return type.substring(0, Math.max(0, type.lastIndexOf('.')));
    }

    private static String name(RecordedClass type) {
        if (type == null) {
            return "";
        }
        String name = type.getName();
        int depth = 0;
        while (name.startsWith("[", depth)) {
            depth++;
        }
        if (depth > 0) {
            name = element(name.substring(depth)) + "[]".repeat(depth);
        }
        return generic(name);
    }

    /** What an array holds, which its class says in one letter. */
    private static String element(String code) {
        return switch (code.charAt(0)) {
            case 'B' -> "byte";
            case 'C' -> "char";
            case 'D' -> "double";
            case 'F' -> "float";
            case 'I' -> "int";
            case 'J' -> "long";
            case 'S' -> "short";
            case 'Z' -> "boolean";
            default -> code.substring(1, code.length() - 1);
        };
    }

    private static String generic(String name) {
        return name.replaceAll("(/|\\+|\\.)?0x[0-9a-f]{8,}", "").replaceAll("\\$\\$Lambda(\\$|/)?\\d*", "\\$\\$Lambda");
    }

    private String json() {
        firstAllocations.forEach((thread, first) -> {
            if (startedThreads.contains(thread)) {
                add(allocations, (Double) first[1], (String[]) first[0]);
            }
        });
        Map<List<String>, double[]> failed = new HashMap<>();
        failures.forEach((id, reason) -> add(failed, compileSeconds.getOrDefault(id, 0.0), reason));
        StringBuilder out = new StringBuilder("{");
        list(out, "throwables", throwables, LISTED);
        list(out, "thrown", thrown, thrown.size());
        list(out, "compiled", compiled, LISTED);
        list(out, "failed", failed, failed.size());
        list(out, "deoptimizations", deoptimizations, deoptimizations.size());
        list(out, "allocations", allocations, LISTED);
        list(out, "locks", locks, LISTED);
        list(out, "stack_samples", stackSamples, LISTED);
        list(out, "ruby_methods", rubyMethods, LISTED);
        list(out, "packages", packages, LISTED);
        list(out, "collections", collections, LISTED);
        return out.append("\"threads_started\":").append(startedThreads.size()).append(",\"lost_bytes\":").append(lost).append('}').toString();
    }

    /** The largest entries, and the sums of all. */
    private static void list(StringBuilder out, String name, Map<List<String>, double[]> sums, int most) {
        double[] whole = new double[2];
        sums.values().forEach(sum -> {
            whole[0] += sum[0];
            whole[1] += sum[1];
        });
        int by = whole[1] > 0 ? 1 : 0;
        out.append('"').append(name).append("\":{\"count\":").append((long) whole[0]).append(",\"amount\":").append(whole[1]).append(",\"top\":[");
        List<Map.Entry<List<String>, double[]>> top = new ArrayList<>(sums.entrySet());
        top.sort((a, b) -> Double.compare(b.getValue()[by], a.getValue()[by]));
        for (int at = 0; at < Math.min(most, top.size()); at++) {
            double[] sum = top.get(at).getValue();
            out.append(at == 0 ? "{\"key\":[" : ",{\"key\":[");
            List<String> key = top.get(at).getKey();
            for (int part = 0; part < key.size(); part++) {
                out.append(part == 0 ? "" : ",");
                quoted(out, key.get(part));
            }
            out.append("],\"count\":").append((long) sum[0]).append(",\"amount\":").append(sum[1]).append('}');
        }
        out.append("]},");
    }

    private static void quoted(StringBuilder out, String text) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.Wrapper;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;

/**
 * Runs the Rack application of this folder in an embedded Tomcat, by jruby-rack, on 127.0.0.1 and the port in PORT, with
 * as many threads as THREADS says (50).
 *
 * <p>Only Tomcat's own classes are named, and jruby-rack's by their names in strings: Tomcat 9 has the servlet API
 * under javax, Tomcat 10.1 under jakarta, and this file compiles against both.
 *
 * <p>studies/cloud-controller serves its application by this class, too.
 *
 * <p>GoCD ran jruby-rack's servlet (not its filter) with one shared JRuby runtime; so does this.
 */
public class Server {
    public static void main(String[] args) {
        try {
            start();
        } catch (Throwable e) {
            System.err.println("Server: start failed: " + e);
            e.printStackTrace();
            // Tomcat's threads would keep the JVM alive.
            System.exit(1);
        }
    }

    private static void start() throws Exception {
        int port = port();
        Path app = applicationFolder();
        Path base = baseFolder();
        Tomcat tomcat = new Tomcat();
        // Before the start, so that a failed start leaves nothing behind either.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(tomcat, base), "shutdown"));

        tomcat.setBaseDir(base.toString());
        tomcat.setConnector(connector(port));
        Context context = rackContext(tomcat, app);
        tomcat.start();

        // A listener that fails leaves Tomcat running without its application.
        if (context.getState() != LifecycleState.STARTED) {
            throw new IllegalStateException("the application did not start (see above)");
        }
        System.err.println("Server: listening on 127.0.0.1:" + port);
        tomcat.getServer().await();
    }

    private static Connector connector(int port) {
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(port);
        connector.setThrowOnFailure(true);
        set(connector, "address", "127.0.0.1");
        String threads = System.getenv().getOrDefault("THREADS", "50");
        set(connector, "maxThreads", threads);
        set(connector, "minSpareThreads", threads);
        // Connections stay open: connecting again is no part of what is compared.
        set(connector, "maxKeepAliveRequests", "-1");
        set(connector, "keepAliveTimeout", "-1");
        return connector;
    }

    private static void set(Connector connector, String name, String value) {
        if (!connector.setProperty(name, value)) {
            throw new IllegalStateException("Tomcat has no connector property " + name);
        }
    }

    // addServletMappingDecoded is marked as deprecated, and is there in both versions.
    @SuppressWarnings("deprecation")
    private static Context rackContext(Tomcat tomcat, Path app) {
        StandardContext context = (StandardContext) tomcat.addContext("", app.toString());
        // The process ends with the application: looking for leaks at the stop would only fill the log.
        context.setClearReferencesThreadLocals(false);
        context.setClearReferencesRmiTargets(false);
        context.setClearReferencesObjectStreamClassCaches(false);
        // jruby-rack reads these before system properties of the same name.
        context.addParameter("app.root", "/");
        context.addParameter("rackup.path", "/config.ru");
        context.addParameter("rack.env", "production");
        // Explicit, so that RUBYOPT of the environment counts whatever the version's default is.
        context.addParameter("jruby.runtime.env.rubyopt", "true");
        // Our few lines of Rack stand before any copy of the gem.
        context.addParameter("jruby.runtime.arguments", "-I" + app.resolve("rack"));
        // No error application of jruby-rack's: the application has its own error pages, and a failed start is to be an
        // exception here, not a server that answers 500. (2.0 does so unless jruby.rack.exception is true, 1.2 only so.)
        context.addParameter("jruby.rack.error", "false");
        // The application never sends chunks of its own; unset, jruby-rack would patch a part of Rack that is not here.
        context.addParameter("jruby.rack.response.dechunk", "false");
        context.addParameter("jruby.rack.logging", "stderr");
        context.addApplicationListener("org.jruby.rack.RackServletContextListener");

        Wrapper servlet = Tomcat.addServlet(context, "rack", "org.jruby.rack.RackServlet");
        servlet.setLoadOnStartup(1);
        context.addServletMappingDecoded("/*", "rack");
        return context;
    }

    private static int port() {
        String port = System.getenv("PORT");
        if (port == null || !port.matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException("PORT must be set to a port number, and is " + port);
        }
        return Integer.parseInt(port);
    }

    /** app/ of the working directory (the study's folder), or what the system property study.app says. */
    private static Path applicationFolder() {
        Path app = Paths.get(System.getProperty("study.app", "app")).toAbsolutePath().normalize();
        if (!Files.isRegularFile(app.resolve("config.ru"))) {
            throw new IllegalArgumentException("no config.ru in " + app + ": start in the study's folder");
        }
        // jruby-rack splits its runtime arguments at blanks.
        if (app.toString().matches(".*\\s.*")) {
            throw new IllegalArgumentException("the path " + app + " must not contain blanks");
        }
        return app;
    }

    /** Tomcat wants a folder to work in: in the trial's when there is one, else a temporary one. */
    private static Path baseFolder() throws IOException {
        String trial = System.getenv("BAKEOFF_TRIAL_DIR");
        Path parent = trial == null || trial.isEmpty() ? Paths.get(System.getProperty("java.io.tmpdir")) : Paths.get(trial);
        return Files.createTempDirectory(parent.toAbsolutePath(), "tomcat-");
    }

    private static void stop(Tomcat tomcat, Path base) {
        try {
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            System.err.println("Server: stop failed: " + e);
        } finally {
            delete(base);
        }
    }

    private static void delete(Path path) {
        try {
            if (Files.isDirectory(path)) {
                try (DirectoryStream<Path> children = Files.newDirectoryStream(path)) {
                    children.forEach(Server::delete);
                }
            }
            Files.deleteIfExists(path);
        } catch (IOException e) {
            System.err.println("Server: cannot delete " + path + ": " + e.getMessage());
        }
    }
}

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Pattern;

import org.apache.catalina.Context;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.LifecycleState;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/**
 * Runs Kill Bill's war in an embedded Tomcat on 127.0.0.1 and the port in PORT.
 *
 * <p>Whoever is let in finds a tenant: before the port listens, a connector of our own, on a port that nobody knows, waits
 * for the health check and asks for the tenant. So its secret is hashed as this launch's settings say, and no load can come
 * in between.
 *
 * <p>System properties: {@code study.war}, the war's unpacked folder; {@code study.healthy.within.s} (150), how long the
 * health check may stay red; {@code tomcat.NAME}, a property of the connector, such as {@code tomcat.maxThreads} and
 * {@code tomcat.acceptCount}.
 */
public class Server {
    private static final Duration HEALTHY_WITHIN = Duration.ofSeconds(Long.getLong("study.healthy.within.s", 150));
    private static final String TENANT = "{\"apiKey\":\"bakeoff\",\"apiSecret\":\"bakeoff-secret\"}";
    private static final String CONNECTOR_PROPERTY = "tomcat.";
    private static final Logger TOMCATS_LOG = Logger.getLogger("org.apache.catalina");
    private static final Pattern UNHEALTHY = Pattern.compile("\"([^\"]+)\":\\{\"healthy\":false");

    /** Why the server did not start. */
    private static volatile Throwable failure;
    /** The last fault that Tomcat has logged: those of an application's listener it tells nobody else. */
    private static volatile Throwable logged;

    public static void main(String[] args) {
        try {
            start();
        } catch (Throwable e) {
            failure = e;
            e.printStackTrace();
            // Tomcat's threads would keep the JVM alive.
            System.exit(1);
        }
    }

    private static void start() throws Exception {
        Path war = Paths.get(System.getProperty("study.war", "")).toAbsolutePath();
        if (!Files.isRegularFile(war.resolve("WEB-INF/web.xml"))) {
            throw new IllegalArgumentException("no WEB-INF/web.xml in " + war + ": study.war names the unpacked war");
        }
        Path base = Files.createTempDirectory(Paths.get(System.getenv("BAKEOFF_TRIAL_DIR")).toAbsolutePath(), "tomcat-");
        Tomcat tomcat = new Tomcat();
        TOMCATS_LOG.addHandler(new FaultHandler());
        // Before the start, so that a failed start leaves nothing behind either.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(tomcat, base), "shutdown"));

        tomcat.setBaseDir(base.toString());
        Connector own = connector(0);
        tomcat.setConnector(own);
        // Without the one that compiles JSP pages, of which Kill Bill has none.
        tomcat.setAddDefaultWebXmlToWebapp(false);
        Context context = tomcat.addWebapp("", war.toString());
        Tomcat.addServlet(context, "default", "org.apache.catalina.servlets.DefaultServlet");
        tomcat.start();
        // A listener that fails leaves Tomcat running without its application.
        if (context.getState() != LifecycleState.STARTED) {
            throw new IllegalStateException("the application did not start" + (logged == null ? "" : ": " + root(logged)));
        }
        awaitHealth(own.getLocalPort());
        createTenant(own.getLocalPort());
        tomcat.getService().removeConnector(own);
        own.destroy();

        Connector open = connector(port());
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith(CONNECTOR_PROPERTY))
                .forEach(name -> set(open, name.substring(CONNECTOR_PROPERTY.length()), System.getProperty(name)));
        tomcat.getService().addConnector(open);
        if (open.getState() != LifecycleState.STARTED) {
            throw new IllegalStateException("port " + port() + " cannot be listened on (see above)");
        }
        System.err.println("Server: listening on 127.0.0.1:" + port());
        tomcat.getServer().await();
    }

    /** What began it. */
    private static Throwable root(Throwable fault) {
        return fault.getCause() == null ? fault : root(fault.getCause());
    }

    private static Connector connector(int port) {
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(port);
        connector.setThrowOnFailure(true);
        set(connector, "address", "127.0.0.1");
        return connector;
    }

    private static void set(Connector connector, String name, String value) {
        if (!connector.setProperty(name, value)) {
            throw new IllegalStateException("Tomcat has no connector property " + name);
        }
    }

    private static void awaitHealth(int port) throws Exception {
        Instant deadline = Instant.now().plus(HEALTHY_WITHIN);
        while (true) {
            HttpURLConnection asked = request(port, "/1.0/healthcheck");
            if (asked.getResponseCode() == 200) {
                asked.getInputStream().readAllBytes();
                return;
            }
            String said = new String(asked.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            if (Instant.now().isAfter(deadline)) {
                System.err.println("Server: the health check says " + said);
                String unhealthy = UNHEALTHY.matcher(said).results().map(check -> check.group(1)).collect(joining(", "));
                throw new IllegalStateException(
                        "not healthy within " + HEALTHY_WITHIN.getSeconds() + " s: " + unhealthy);
            }
            Thread.sleep(100);
        }
    }

    private static void createTenant(int port) throws Exception {
        HttpURLConnection asked = request(port, "/1.0/kb/tenants");
        asked.setRequestMethod("POST");
        asked.setDoOutput(true);
        asked.setRequestProperty("Content-Type", "application/json");
        asked.setRequestProperty("X-Killbill-CreatedBy", "bakeoff");
        asked.getOutputStream().write(TENANT.getBytes(StandardCharsets.UTF_8));
        if (asked.getResponseCode() != 201) {
            throw new IllegalStateException("no tenant: status " + asked.getResponseCode());
        }
    }

    private static HttpURLConnection request(int port, String path) throws IOException {
        URL url = URI.create("http://127.0.0.1:" + port + path).toURL();
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        String user = Base64.getEncoder().encodeToString("admin:password".getBytes(StandardCharsets.UTF_8));
        connection.setRequestProperty("Authorization", "Basic " + user);
        return connection;
    }

    private static int port() {
        String port = System.getenv("PORT");
        if (port == null || !port.matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException("PORT must be set to a port number, and is " + port);
        }
        return Integer.parseInt(port);
    }

    private static void stop(Tomcat tomcat, Path base) {
        try {
            tomcat.stop();
            tomcat.destroy();
        } catch (LifecycleException e) {
            System.err.println("Server: stop failed: " + e);
        } finally {
            delete(base);
            // Said last: the shutdown has written a long log.
            if (failure != null) {
                System.err.println("Server: start failed: " + failure);
            }
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

    /** Keeps the last fault of what is logged. */
    private static final class FaultHandler extends Handler {
        @Override
        public void publish(LogRecord entry) {
            if (entry.getThrown() != null) {
                logged = entry.getThrown();
            }
        }

        @Override
        public void flush() {
            // Nothing is held back.
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.asciidoctor.Asciidoctor;
import org.asciidoctor.Options;
import org.asciidoctor.SafeMode;

/**
 * Answers every request with a manual, converted from AsciiDoc to HTML for that request by Asciidoctor (Ruby, on JRuby in this JVM), on
 * 127.0.0.1 and the port in PORT. One request at a time: one JRuby runtime converts.
 */
public class Server {
    private static final int CHAPTERS = 40;

    public static void main(String[] args) throws IOException {
        Asciidoctor asciidoctor = Asciidoctor.Factory.create();
        Options options = Options.builder().safe(SafeMode.SECURE).build();
        String manual = manual();
        HttpServer server =
            HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
        server.createContext("/", exchange -> answer(exchange, asciidoctor.convert(manual, options)));
        server.start();
        System.err.println("Server: a manual of " + manual.length() + " characters");
    }

    private static void answer(HttpExchange exchange, String html) throws IOException {
        byte[] body = html.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** A manual such as projects write: chapters of prose with references, lists, notes, listings and tables. */
    private static String manual() {
        StringBuilder text = new StringBuilder("= The manual\n:toc:\n:sectnums:\n:product: the server\n\n");
        for (int chapter = 1; chapter <= CHAPTERS; chapter++) {
            text.append(chapter(chapter));
        }
        return text.toString();
    }

    private static String chapter(int number) {
        String head = String.join("\n",
            "[#chapter-%1$d]", "== Part %1$d of {product}", "",
            "This part says what _part %1$d_ of {product} does, and how it is *configured*. It builds on <<chapter-%2$d>>.",
            "Read https://example.org/parts/%1$d[its page] first; the file is `config/part-%1$d.yml`.", "",
            "NOTE: A change takes effect after a restart of {product}.", "",
            "=== Settings", "",
            "* `part%1$d.enabled` turns it on;", "** _default:_ `true`", "* `part%1$d.threads` says how many work at once:",
            ". one for each processor,", ". and never more than %3$d.", "",
            "Term %1$d:: What it means, in one sentence -- and with an em dash.", "",
            "[source,ruby]", "----", "Server.configure do |part|", "  part.number = %1$d # <1>", "end", "----", "<1> The number.", "",
            "");
        StringBuilder table = new StringBuilder("|===\n| Setting | Unit | Default\n\n");
        for (int row = 1; row <= 5; row++) {
            table.append(String.format("| `part%d.limit%d` | requests | %d%n", number, row, number * row));
        }
        return String.format(head, number, Math.max(1, number - 1), number + 8) + table + "|===\n\n";
    }
}

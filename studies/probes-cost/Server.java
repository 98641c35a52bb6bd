import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;

/**
 * A page put together from a map, as pages are: some 200 KiB of garbage each, a collection every few of a hundred. `Server PORT` serves it,
 * `Server --pages N` makes it so many times and ends.
 */
public class Server {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("--pages")) {
            long length = 0;
            for (int made = 0; made < Integer.parseInt(args[1]); made++) {
                length += page().length();
            }
            System.out.println(length);
            return;
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/", exchange -> {
            byte[] page = page().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
        });
        server.start();
    }

    private static String page() {
        Map<String, String> rows = new TreeMap<>();
        for (int row = 0; row < 500; row++) {
            rows.put("row " + row * 7919 % 500, Integer.toString(row, 36));
        }
        StringBuilder page = new StringBuilder();
        rows.forEach((name, value) -> page.append("<tr><td>").append(name).append("</td><td>").append(value).append("</td></tr>\n"));
        return page.toString();
    }
}

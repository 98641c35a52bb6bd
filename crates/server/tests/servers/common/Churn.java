package known;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

/** Allocates as many KiB as the path says, in pieces of one, keeps a few of them for a while, and answers "ok". */
public class Churn {
    static final byte[][] kept = new byte[4096][];
    static volatile int at;

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            int pieces = path.length() > 1 ? Integer.parseInt(path.substring(1)) : 0;
            for (int piece = 0; piece < pieces; piece++) {
                kept[at++ & 4095] = new byte[1000];
            }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }
}

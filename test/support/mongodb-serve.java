/**
 * Runs mongo-java-server with its data in an H2 file, on loopback. Arguments: PORT (0: a free one) FILE plain|durable [--bind_ip_all].
 * Prints "ready PORT". Stops in order at SIGTERM, and when its standard input ends, so that it never outlives its parent process.
 * With --bind_ip_all, an option like mongod's for containers, it listens on all addresses and stops only at SIGTERM.
 */

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.net.InetSocketAddress;
import java.util.List;

class MongodbServe {
  /** Versions of MongoDB 5.0, because current drivers refuse those that the server itself announces. */
  static final class Version implements MongoVersion {
    @Override
    public List<Integer> getVersionArray() {
      return List.of(5, 0, 0);
    }

    @Override
    public int getWireVersion() {
      return 13;
    }
  }

  /**
   * Copies each reply before the next message is handled. Otherwise, replies refer to the documents in memory: a reply that is not written yet
   * would contain the changes of another client.
   */
  static class WholeBackend extends H2Backend {
    WholeBackend(String file) {
      super(file);
    }

    @Override
    public Document handleMessage(MongoMessage message) {
      synchronized (this) {
        return super.handleMessage(message).cloneDeeply();
      }
    }
  }

  /** Writes to disk before each answer. The plain backend writes about once a second, and loses the rest at a kill -9. */
  static final class DurableBackend extends WholeBackend {
    DurableBackend(String file) {
      super(file);
    }

    @Override
    public Document handleMessage(MongoMessage message) {
      Document reply = super.handleMessage(message);
      commit();
      return reply;
    }
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    boolean bindAll = args.length > 3 && args[3].equals("--bind_ip_all");
    H2Backend backend = args[2].equals("durable") ? new DurableBackend(args[1]) : new WholeBackend(args[1]);
    backend.version(new Version());
    MongoServer server = new MongoServer(backend);
    try {
      server.bind(bindAll ? new InetSocketAddress(port) : new InetSocketAddress("127.0.0.1", port));
    } catch (Exception error) {
      // Exit, because threads of the server would keep the process alive.
      System.err.println(error);
      System.exit(1);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    System.out.println("ready " + server.getLocalAddress().getPort());
    if (bindAll) return;
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}

/**
 * mongo-java-server with its data in one H2 file, on loopback: PORT (0 = a free one) FILE plain|durable [--bind_ip_all].
 * Prints "ready PORT". Ends orderly by SIGTERM, and when its standard input ends, so that it never outlives who started it.
 * With --bind_ip_all, as mongod has it, it listens on all addresses and ends by SIGTERM only: in a container.
 */

import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.net.InetSocketAddress;
import java.util.List;

class MongodbServe {
  /** What drivers ask of a MongoDB 5.0: the server itself announces less than current drivers accept. */
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
   * Its documents in memory are those that replies refer to: one that another client changes before its reply is written would be read as
   * changed. A reply is a copy, made before the next message is handled.
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

  /** Writes to the disk before it answers. The plain backend does so about once a second, and loses the rest on kill -9. */
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
      // Threads of the server would keep a process alive that serves nothing.
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

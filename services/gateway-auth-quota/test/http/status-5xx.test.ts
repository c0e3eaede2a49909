/** 500, 502, 503, 504: what fails on our side, told without saying anything of our inside. */

import { afterEach, describe, expect, test } from "@jest/globals";
import type { OperationName } from "@netfacts/contracts";
import { createInProcessMessaging, type Messaging, problemReply } from "@netfacts/messaging";
import type { Store } from "@netfacts/storage";
import { exampleReply, type GatewayOptions, type Harness, type HttpAnswer, startGateway } from "../support/gateway.ts";
import { provokes } from "../support/provokes.ts";
import { openSocket, readAnswers } from "../support/raw.ts";

const url = "/api/v1/ip/193.0.6.139";
const reverseDnsUrl = "/api/v1/reverse-dns/193.0.6.139";

const running: Harness[] = [];
afterEach(async () => {
  for (const harness of running.splice(0)) await harness.stop();
});

async function start(options: GatewayOptions = {}): Promise<Harness> {
  const harness = await startGateway(options);
  running.push(harness);
  return harness;
}

describe("500", () => {
  provokes("internal_error", "when a service fails at one question, which costs no month", async () => {
    const harness = await start();
    harness.answers.set("ip", () => {
      throw new Error("secret cause");
    });
    const answer = await harness.get(url);
    expect(answer.body).not.toContain("secret cause");
    expect(answer.headers["x-quota-remaining"]).toBe("100000");
    return answer;
  });

  provokes("internal_error", "when the gateway itself fails, with the cause in the log only", async () => {
    const messaging: Messaging = {
      ...bound(createInProcessMessaging()),
      request: () => Promise.reject(new TypeError("secret cause")),
    };
    const harness = await start({ messaging });
    const answer = await harness.get(url);
    expect(answer.body).not.toContain("secret cause");
    expect(harness.log.find(({ level }) => level === "error")?.fields).toMatchObject({
      code: "internal_error",
      err: { message: "secret cause" },
    });
    return answer;
  });

  provokes("internal_error", "when the store fails as nobody expected, with the cause in the log only", async () => {
    const fails = () => Promise.reject(new TypeError("secret cause"));
    const harness = await start({ storeSeen: (store) => ({ ...store, keys: { ...store.keys, find: fails } }) });
    const answer = await harness.get(url);
    expect(answer.body).not.toContain("secret cause");
    expect(harness.log.find(({ level }) => level === "error")?.fields).toMatchObject({ err: { message: "secret cause" } });
    return answer;
  });
});

describe("502", () => {
  provokes("upstream_error", "when a service fails as a whole", async () => {
    const harness = await start({ services: ["asn-prefix"] });
    await harness.messaging.serve("ip-routing", () => {
      throw new Error("secret cause");
    });
    const answer = await harness.get(url);
    expect(answer.body).not.toContain("secret cause");
    return answer;
  });

  const unreadable = ["{", '{"code":"no_such_code","detail":"x"}', '{"code":"toString","detail":"x"}'];
  for (const body of unreadable) {
    provokes("upstream_error", `when a service answers the problem ${body}`, async () => {
      const harness = await start();
      harness.answers.set("ip", () => ({ ...problemReply({ code: "internal_error" }), body: Buffer.from(body) }));
      return harness.get(url);
    });
  }
});

describe("503", () => {
  provokes("data_not_ready", "while no service has data", async () => (await start({ services: [] })).get(url));

  provokes("data_not_ready", "when the service says so", async () => {
    const harness = await start();
    harness.answers.set("ip", () => problemReply({ code: "data_not_ready" }));
    return harness.get(url);
  });

  provokes("upstream_unavailable", "when a service that was there is away", async () => {
    const harness = await start({ services: [] });
    const subscription = await harness.messaging.serve("ip-routing", (_frame, answer) => answer(0, exampleReply("ip")));
    expect((await harness.get(url)).status).toBe(200);
    await subscription.stop();
    return harness.get(url);
  });

  provokes("upstream_unavailable", "when reverse DNS, which needs no data, is away", async () =>
    (await start({ services: [] })).get(reverseDnsUrl),
  );

  provokes("resolver_unavailable", "when no resolver answers, and everything else works", async () => {
    const harness = await start();
    harness.answers.set("reverse_dns", () => problemReply({ code: "resolver_unavailable" }));
    expect((await harness.get(url)).status).toBe(200);
    return harness.get(reverseDnsUrl);
  });

  provokes("limits_unavailable", "when the store of limits is away", async () => {
    const harness = await start({ storeSeen: withoutLimits });
    return harness.get(url);
  });

  provokes("temporarily_overloaded", "when too much waits", async () => {
    const messaging = createInProcessMessaging({ queuedItemsMax: 1 });
    const harness = await start({ messaging, config: { LOOKUP_BUDGET_MS: 200 } });
    harness.answers.set("ip", () => new Promise(() => {}));
    const answers = await Promise.all([harness.get(url), harness.get(url)]);
    return answers.find(({ status }) => status === 503) as HttpAnswer;
  });

  provokes("shutting_down", "when messaging has closed", async () => {
    const harness = await start();
    await harness.messaging.close();
    return harness.get(url);
  });

  test("shutting_down: what is in flight is answered, with the end of its connection, and what comes after it is not", async () => {
    const harness = await start();
    let release = () => {};
    const asked = new Promise<void>((resolve) => {
      harness.answers.set("ip", () => {
        resolve();
        return new Promise((done) => {
          release = () => done(exampleReply("ip"));
        });
      });
    });
    const key = await harness.key();
    const socket = await openSocket(await harness.gateway.listen());
    const request = `GET ${url} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    socket.write(request);
    await asked;
    const stopped = harness.gateway.stop();
    socket.write(request);
    setTimeout(release, 100);
    const answers = await readAnswers(socket);
    await stopped;
    expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[200, "close"]]);
  });
});

describe("504", () => {
  for (const [op, path] of [
    ["ip", url],
    ["reverse_dns", reverseDnsUrl],
  ] as [OperationName, string][]) {
    provokes("upstream_timeout", `when ${op} does not answer within its budget, which costs no month`, async () => {
      const harness = await start({ config: { LOOKUP_BUDGET_MS: 30, REVERSE_DNS_BUDGET_MS: 60 } });
      harness.answers.set(op, () => new Promise(() => {}));
      const answer = await harness.get(path);
      expect(answer.headers["x-quota-remaining"]).toBe("100000");
      return answer;
    });
  }
});

/** The methods of a bus as own members, so that some can be replaced. */
function bound(messaging: Messaging): Messaging {
  return {
    request: messaging.request.bind(messaging),
    serve: messaging.serve.bind(messaging),
    publish: messaging.publish.bind(messaging),
    subscribe: messaging.subscribe.bind(messaging),
    watchConnection: messaging.watchConnection.bind(messaging),
    probe: messaging.probe.bind(messaging),
    close: messaging.close.bind(messaging),
  };
}

function withoutLimits(store: Store): Store {
  const away = () => Promise.reject(new Error("the disk is gone"));
  return { ...store, limits: { take: away, giveBack: away, recover: away, read: away, time: away } };
}

describe("a question about the past", () => {
  const past = `${url}?as_of=2026-01-01`;

  provokes(
    "history_unavailable",
    "when pods of an earlier version are asked, which are not asked by the name that they serve",
    async () => {
      const harness = await start({ past: false });
      let asked = 0;
      harness.answers.set("ip", () => {
        asked += 1;
        return exampleReply("ip");
      });
      const answer = await harness.get(past);
      expect(asked).toBe(0);
      expect((await harness.get(url)).status).toBe(200);
      return answer;
    },
  );

  provokes("history_loading", "when the snapshot is not loaded in time", async () => {
    const harness = await start();
    harness.answers.set("ip", () => problemReply({ code: "history_loading" }));
    return harness.get(past);
  });

  provokes("snapshot_unreadable", "when the snapshot is damaged", async () => {
    const harness = await start();
    harness.answers.set("ip", () => problemReply({ code: "snapshot_unreadable" }));
    return harness.get(past);
  });
});

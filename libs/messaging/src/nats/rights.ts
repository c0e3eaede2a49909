/** The rights of each service at NATS, and the users of `nats.conf` that follow from them: the only definition. */

import {
  changesServiceOf,
  keysChangedSubject,
  pastServiceOf,
  reloadSubjects,
  type ServiceName,
  sharedAnswersStream,
  sharedAnswersSubject,
} from "@netfacts/contracts";
import { callSubject, requestSubject, servedLanes } from "../frames/subjects.ts";
import { inboxPrefix } from "./inbox.ts";

export interface NatsRights {
  /** Its purpose, in a few words. */
  readonly task: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** It may answer on the reply subject of a message, and on no other subject of that kind. */
  readonly answers: boolean;
}

/** The services, and the command line. Each is a user of this name. */
export const natsUsers = ["gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest", "netfacts-cli"] as const;
export type NatsUser = (typeof natsUsers)[number];

/** Services that the gateway asks. */
const responders = [
  "ip-routing",
  "asn-prefix",
  "rdns-resolver",
  pastServiceOf("ip-routing"),
  pastServiceOf("asn-prefix"),
  changesServiceOf("asn-prefix"),
] as const;

/** @param bucket  `SNAPSHOT_BUCKET`. */
export function natsRights(bucket = "netfacts-snapshots"): Readonly<Record<NatsUser, NatsRights>> {
  const inboxes = (...names: string[]) => names.map((name) => `${inboxPrefix(name)}.>`);
  const [pointer, ...streams] = [`$KV.${bucket}.current`, `KV_${bucket}`, `OBJ_${bucket}`];
  const readsSnapshots = [
    ...streams.flatMap((stream) => [`$JS.API.STREAM.INFO.${stream}`, `$JS.API.STREAM.MSG.GET.${stream}`]),
    `$JS.API.CONSUMER.CREATE.OBJ_${bucket}`,
    `$JS.API.CONSUMER.CREATE.OBJ_${bucket}.>`,
    `$JS.API.CONSUMER.DELETE.OBJ_${bucket}.>`,
    "$JS.FC.>",
  ];
  const writesSnapshots = [
    "$JS.API.INFO",
    ...streams.flatMap((stream) => [`$JS.API.STREAM.CREATE.${stream}`, `$JS.API.STREAM.PURGE.${stream}`]),
    `$KV.${bucket}.>`,
    `$O.${bucket}.>`,
  ];
  const served = (service: string) =>
    servedLanes.flatMap(({ lane, version }) => [requestSubject(service, lane, version), requestSubject(service, lane, version, "*")]);
  const answers = (service: string) => [...served(service), callSubject(service)];
  const pod = (service: ServiceName, task: string, others: readonly string[] = []): NatsRights => ({
    task,
    publish: [reloadSubjects.loaded, ...readsSnapshots],
    subscribe: [
      ...answers(service),
      ...[pastServiceOf(service), ...others].flatMap(answers),
      reloadSubjects.published,
      reloadSubjects.activate,
      pointer,
      ...inboxes(service, `${service}-snapshots`),
    ],
    answers: true,
  });
  const publishesSnapshots = [reloadSubjects.published, reloadSubjects.activate, ...readsSnapshots, ...writesSnapshots];
  return {
    "gateway-auth-quota": {
      task: "sends requests to the lookup services, and announces changes of keys",
      publish: [...responders.flatMap(answers), keysChangedSubject],
      subscribe: [keysChangedSubject, ...inboxes("gateway-auth-quota")],
      answers: false,
    },
    "ip-routing": pod("ip-routing", "answers requests, reads snapshots"),
    "asn-prefix": pod("asn-prefix", "answers requests, reads snapshots", [changesServiceOf("asn-prefix")]),
    "rdns-resolver": {
      task: "answers requests, shares the answers of DNS",
      publish: [
        ...["INFO", "CREATE", "UPDATE"].map((call) => `$JS.API.STREAM.${call}.${sharedAnswersStream}`),
        `$JS.API.DIRECT.GET.${sharedAnswersStream}.>`,
        `${sharedAnswersSubject}.>`,
      ],
      subscribe: [...answers("rdns-resolver"), ...inboxes("rdns-resolver", "rdns-resolver-cache")],
      answers: true,
    },
    ingest: {
      task: "publishes and activates snapshots",
      publish: publishesSnapshots,
      subscribe: [reloadSubjects.loaded, pointer, ...inboxes("ingest", "ingest-snapshots")],
      answers: false,
    },
    "netfacts-cli": {
      task: "the command `netfacts`: `keys`, `plans`, `snapshot`",
      publish: [keysChangedSubject, ...publishesSnapshots],
      subscribe: [reloadSubjects.loaded, pointer, ...inboxes("netfacts-cli")],
      answers: false,
    },
  };
}

export interface NatsUsersOptions {
  readonly bucket?: string;
  /** The text after `password:`: a quoted text, or a variable such as `$INGEST_PASSWORD`. */
  passwordOf(user: NatsUser): string;
}

/** The `authorization` block of nats-server's configuration file. */
export function natsAuthorization({ bucket, passwordOf }: NatsUsersOptions): string {
  const rights = natsRights(bucket);
  const list = (subjects: readonly string[]) => `[\n${subjects.map((subject) => `          "${subject}"\n`).join("")}        ]`;
  const users = natsUsers.map((user) => {
    const { task, publish, subscribe, answers } = rights[user];
    return `    # ${task}
    {
      user: "${user}"
      password: ${passwordOf(user)}
      permissions: {
        publish: ${publish.length === 0 ? '{ deny: ">" }' : list(publish)}
        subscribe: ${list(subscribe)}
${answers ? '        # Any number of messages, as an answer may be long; none after a minute.\n        allow_responses: { max: -1, expires: "1m" }\n' : ""}      }
    }`;
  });
  return `authorization {\n  users: [\n${users.join("\n")}\n  ]\n}\n`;
}

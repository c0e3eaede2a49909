/** `netfacts keys rotate`: replaces a key by a successor, which is shown only once. */

import { CliError } from "../../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printLines, timeText } from "../../output.ts";
import { withAdministration } from "../control-store.ts";
import { keyIdOf, keyNotFound } from "./key-id.ts";
import { nullFor, orWord, parseExpiry, parseSpan } from "./key-options.ts";
import { revokedIsFinal } from "./key-outcome.ts";
import { printSecretKey } from "./key-view.ts";

interface RotateOptions {
  readonly overlap?: number;
  readonly expires?: number | "never";
}

export const rotateCommand: RegisterCommand = (keys, context) => {
  keys
    .command("rotate")
    .description("replace a key by a successor with the same scopes, limits and usage, and print it; the old key keeps working for a while")
    .argument("<id>", "key id, as in `keys list`")
    .option("--overlap <span>", "time for which the old key still works, 0 to 30d (default: 1d)", parseSpan)
    .option(
      "--expires <when>",
      "expiry time of the successor, as of `keys create`, or never (default: expiry time of the old key)",
      (text: string) => orWord("never", text, (when) => parseExpiry(when, context.now())),
    )
    .action(async (text: string, { overlap, expires }: RotateOptions, command) => {
      const id = keyIdOf(text);
      const settings = sharedSettings(command);
      const options = {
        ...(overlap !== undefined && { overlapMs: overlap }),
        ...(expires !== undefined && { expiresAt: nullFor("never", expires) }),
      };
      const rotated = await withAdministration({ command, context, create: false }, (administration, by) =>
        administration.rotateKey(by, id, options),
      );
      switch (rotated.outcome) {
        case "rotated": {
          const { old, successor, secret } = rotated;
          const validUntil = old.validUntil ?? context.now();
          const replaces = { id: old.id, valid_until: new Date(validUntil).toISOString() };
          printSecretKey(context, settings, successor, secret, { replaces });
          if (!settings.json) printLines(context, [`Key ${old.id} (${old.label}) works until ${timeText(validUntil)}.`]);
          return;
        }
        case "absent":
          throw keyNotFound(id);
        case "revoked":
          throw revokedIsFinal(id);
        case "replaced":
          throw new CliError(exitCodes.refused, `key ${id} was already replaced by ${rotated.key.replacedBy}: rotate that key instead`);
        case "unusable":
          throw new CliError(exitCodes.refused, `key ${id} is disabled or expired: first enable it, or set a later expiry`);
      }
    });
};

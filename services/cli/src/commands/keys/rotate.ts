/** `netfacts keys rotate`: replaces a key by a successor, which is shown this once. */

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
    .description("replace a key: print a successor with the same scopes, limits and usage; the old key works on for a time")
    .argument("<id>", "the key's id, as `keys list` shows it")
    .option("--overlap <span>", "how long the old key works on, 0 to 30d (default: 1d)", parseSpan)
    .option("--expires <when>", "when the successor expires, or never (default: when the old key would)", (text: string) =>
      orWord("never", text, (when) => parseExpiry(when, context.now())),
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
          throw new CliError(exitCodes.refused, `key ${id} was replaced by ${rotated.key.replacedBy} before: rotate that one`);
        case "unusable":
          throw new CliError(exitCodes.refused, `key ${id} is disabled or has expired: enable it, or give it a later expiry, first`);
      }
    });
};

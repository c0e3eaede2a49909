/**
 * fast-check as our tests use it: lists, texts and bytes are as long as their arbitrary says they may be. By itself it makes some ten items
 * more than `minLength`, whatever `maxLength` says.
 */

import fc from "fast-check";

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });

export default fc;

/**
 * fast-check with a setting for our tests: lists, texts and bytes may be as long as `maxLength`. By default, it makes at most some ten items more
 * than `minLength`, even if `maxLength` is larger.
 */

import fc from "fast-check";

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });

export default fc;

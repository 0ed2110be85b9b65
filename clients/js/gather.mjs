/** Before a package is packed: what it ships and the repository has elsewhere. In git there is one of each. */

import { copyFile } from "node:fs/promises";
import { basename } from "node:path";

const ROOT = new URL("../../", import.meta.url);
const WEB = "functions/inbox_api/web";
const GATHERED = {
  "@tocsin/client": ["LICENSE"],
  "@tocsin/inbox": ["LICENSE", `${WEB}/tocsin-inbox.js`, `${WEB}/tocsin-inbox-core.js`, `${WEB}/tocsin-inbox-look.js`],
};

for (const path of GATHERED[process.env.npm_package_name]) await copyFile(new URL(path, ROOT), basename(path));

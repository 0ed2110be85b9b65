/**
 * Before a package is packed: what it ships and the repository has elsewhere. In git there is one of each.
 * Only the `?v=` of the bell's imports is left out: it is for caches of the service, and a bundler may take it for a part of the name.
 */

import { readFile, readdir, writeFile } from "node:fs/promises";
import { basename } from "node:path";

const ROOT = new URL("../../", import.meta.url);
const WEB = "functions/inbox_api/web";
const bell = (await readdir(new URL(WEB, ROOT))).filter((name) => /^tocsin-inbox.*\.js$/.test(name));
const GATHERED = {
  "@tocsin/client": ["LICENSE"],
  "@tocsin/inbox": ["LICENSE", ...bell.map((name) => `${WEB}/${name}`)],
};

for (const path of GATHERED[process.env.npm_package_name]) {
  const text = await readFile(new URL(path, ROOT), "utf8");
  await writeFile(basename(path), text.replace(/("\.\/[\w-]+\.js)\?v=\w+"/g, '$1"'));
}

// Every page: where it stands in the menu, which scope of a key it needs, and the module that draws it.
import { can, isInstallation } from "./session.js";

export const GROUPS = ["Watch", "People", "Content", "Automation", "Upkeep", "Administration"];

export const PAGES = [
  { name: "", title: "Now", icon: "now", group: "Watch", keys: "n", module: "page-now.js" },
  { name: "live", title: "Live decisions", icon: "live", group: "Watch", scope: "read", keys: "l", module: "page-live.js" },
  { name: "notifications", title: "Notifications", icon: "bell", group: "Watch", scope: "read", keys: "i", module: "page-notifications.js" },
  { name: "dead-letters", title: "Dead letters", icon: "skull", group: "Watch", scope: "operate", keys: "d", module: "page-dead-letters.js" },
  { name: "system-events", title: "System events", icon: "alert", group: "Watch", scope: "operate", keys: "e", module: "page-system-events.js" },
  { name: "users", title: "Users", icon: "users", group: "People", scope: "manage", keys: "u", module: "page-users.js" },
  { name: "suppressions", title: "Suppressions", icon: "block", group: "People", scope: "manage", module: "page-suppressions.js" },
  { name: "templates", title: "Templates", icon: "template", group: "Content", scope: "manage", keys: "t", module: "page-templates.js" },
  { name: "types", title: "Types", icon: "type", group: "Content", scope: "manage", module: "page-types.js" },
  { name: "routing", title: "Event routing", icon: "route", group: "Content", scope: "manage", module: "page-routing.js" },
  { name: "webhooks", title: "Webhooks", icon: "hook", group: "Automation", scope: "manage", keys: "w", module: "page-webhooks.js" },
  { name: "triggers", title: "Triggers", icon: "trigger", group: "Automation", scope: "manage", module: "page-triggers.js" },
  { name: "values", title: "Values", icon: "kv", group: "Automation", scope: "data", module: "page-values.js" },
  { name: "jobs", title: "Jobs", icon: "jobs", group: "Upkeep", scope: "operate", module: "page-jobs.js" },
  { name: "malformed", title: "Malformed intents", icon: "broken", group: "Upkeep", scope: "operate", module: "page-malformed.js" },
  { name: "retention", title: "Retention", icon: "clock", group: "Upkeep", scope: "operate", module: "page-retention.js" },
  { name: "diagnostics", title: "Diagnostics", icon: "doctor", group: "Upkeep", scope: "operate", module: "page-diagnostics.js" },
  { name: "keys", title: "API keys", icon: "key", group: "Administration", scope: "admin", keys: "k", module: "page-keys.js" },
  { name: "providers", title: "Providers", icon: "provider", group: "Administration", scope: "admin", module: "page-providers.js" },
  { name: "tenants", title: "Tenants", icon: "tenant", group: "Administration", scope: "admin", installation: true, module: "page-tenants.js" },
  { name: "audit", title: "Audit log", icon: "audit", group: "Administration", scope: "admin", keys: "a", module: "page-audit.js" },
  { name: "search", title: "Search", hidden: true, scope: "read", module: "page-search.js" },
  { name: "demo", title: "Demo", hidden: true, scope: "send", module: "page-demo.js" },
];

/** What a key may not do is not offered. */
export const isOffered = (page) => (!page.scope || can(page.scope)) && (!page.installation || isInstallation());

/** The page's component. Its files are fetched with patience first (boot.js), so that importing them finds them in the cache. */
export async function load(page) {
  await globalThis.tocsinFiles.fetched(page.module);
  const module = await import(`./${page.module}`).catch((error) => {
    throw error instanceof TypeError ? new Error(`${page.title} cannot be loaded just now. Is the network up?`) : error;
  });
  return module.default;
}

/** Once there is time, the files of all pages, so that the next one opens at once. */
export async function loadAhead() {
  for (const page of PAGES.filter(isOffered)) await globalThis.tocsinFiles.fetched(page.module);
}

// Every page: where it stands in the menu, which scope of a key it needs, and the module that draws it, loaded when it is first opened.
import { can, isInstallation } from "./session.js";

export const GROUPS = ["Watch", "People", "Content", "Automation", "Upkeep", "Administration"];

export const PAGES = [
  { name: "", title: "Now", icon: "now", group: "Watch", keys: "n", load: () => import("./page-now.js") },
  { name: "live", title: "Live decisions", icon: "live", group: "Watch", scope: "read", keys: "l", load: () => import("./page-live.js") },
  { name: "notifications", title: "Notifications", icon: "bell", group: "Watch", scope: "read", keys: "i", load: () => import("./page-notifications.js") },
  { name: "dead-letters", title: "Dead letters", icon: "skull", group: "Watch", scope: "operate", keys: "d", load: () => import("./page-dead-letters.js") },
  { name: "system-events", title: "System events", icon: "alert", group: "Watch", scope: "operate", keys: "e", load: () => import("./page-system-events.js") },
  { name: "users", title: "Users", icon: "users", group: "People", scope: "manage", keys: "u", load: () => import("./page-users.js") },
  { name: "suppressions", title: "Suppressions", icon: "block", group: "People", scope: "manage", load: () => import("./page-suppressions.js") },
  { name: "templates", title: "Templates", icon: "template", group: "Content", scope: "manage", keys: "t", load: () => import("./page-templates.js") },
  { name: "types", title: "Types", icon: "type", group: "Content", scope: "manage", load: () => import("./page-types.js") },
  { name: "routing", title: "Event routing", icon: "route", group: "Content", scope: "manage", load: () => import("./page-routing.js") },
  { name: "webhooks", title: "Webhooks", icon: "hook", group: "Automation", scope: "manage", keys: "w", load: () => import("./page-webhooks.js") },
  { name: "triggers", title: "Triggers", icon: "trigger", group: "Automation", scope: "manage", load: () => import("./page-triggers.js") },
  { name: "values", title: "Values", icon: "kv", group: "Automation", scope: "data", load: () => import("./page-values.js") },
  { name: "jobs", title: "Jobs", icon: "jobs", group: "Upkeep", scope: "operate", load: () => import("./page-jobs.js") },
  { name: "malformed", title: "Malformed intents", icon: "broken", group: "Upkeep", scope: "operate", load: () => import("./page-malformed.js") },
  { name: "retention", title: "Retention", icon: "clock", group: "Upkeep", scope: "operate", load: () => import("./page-retention.js") },
  { name: "diagnostics", title: "Diagnostics", icon: "doctor", group: "Upkeep", scope: "operate", load: () => import("./page-diagnostics.js") },
  { name: "keys", title: "API keys", icon: "key", group: "Administration", scope: "admin", keys: "k", load: () => import("./page-keys.js") },
  { name: "providers", title: "Providers", icon: "provider", group: "Administration", scope: "admin", load: () => import("./page-providers.js") },
  { name: "tenants", title: "Tenants", icon: "tenant", group: "Administration", scope: "admin", installation: true, load: () => import("./page-tenants.js") },
  { name: "audit", title: "Audit log", icon: "audit", group: "Administration", scope: "admin", keys: "a", load: () => import("./page-audit.js") },
  { name: "search", title: "Search", hidden: true, scope: "read", load: () => import("./page-search.js") },
  { name: "demo", title: "Demo", hidden: true, scope: "send", load: () => import("./page-demo.js") },
];

/** What a key may not do is not offered. */
export const isOffered = (page) => (!page.scope || can(page.scope)) && (!page.installation || isInstallation());

// Icons, drawn for 20 by 20, in the colour of the words beside them.
import { html } from "./view.js";

const PATHS = {
  now: "M3 11h3l2-6 4 11 2-5h3",
  live: "M4 5h12M4 10h8M4 15h10",
  bell: "M10 3a5 5 0 0 0-5 5v3l-1.500 3h13L15 11V8a5 5 0 0 0-5-5zM8 16a2 2 0 0 0 4 0",
  skull: "M4 5h12v9H4zM4 6l6 5 6-5M7 17h6",
  alert: "M10 3l8 14H2zM10 8v4M10 14.500v.1",
  users: "M7.500 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.500 16.500c0-3 2-5 5-5s5 2 5 5M13 4a3 3 0 0 1 0 5.500M14 11.700c2.200.5 3.500 2.300 3.500 4.800",
  block: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM5 5l10 10",
  template: "M4 3h12v14H4zM7 7h6M7 10h6M7 13h3",
  type: "M3 9l6-6h7v7l-6 6zM13 7v.1",
  route: "M4 5h5l3 10h4M4 15h4l1-3M13 5h3M14 3l2 2-2 2M14 13l2 2-2 2",
  hook: "M7 7a3 3 0 1 1 5 2l2.500 4.500M13 13a3 3 0 1 1-3 3.500H6M6 16a3 3 0 1 1-1-5.500L8 6",
  trigger: "M11 2L4 11h5l-1 7 7-9h-5z",
  kv: "M3 5c0-1.100 3-2 7-2s7 .9 7 2-3 2-7 2-7-.9-7-2zM3 5v10c0 1.100 3 2 7 2s7-.9 7-2V5M3 10c0 1.100 3 2 7 2s7-.9 7-2",
  jobs: "M10 6v4l3 2M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14z",
  broken: "M11 2L4 11h5l-1 7M13 9l3 3M16 9l-3 3",
  clock: "M4 4h12v3H4zM5 7v9h10V7M8 10h4",
  doctor: "M10 4v12M4 10h12",
  key: "M12.500 7.500a3.500 3.500 0 1 0-3.300 3.500L11 12.500h2V15h2v2h2.500v-3l-5.300-5.300a3.500 3.500 0 0 0 .3-1.200zM8 7v.1",
  provider: "M3 6h14v4H3zM3 12h14v4H3zM6 8v.1M6 14v.1",
  tenant: "M4 17V4h7v13M11 8h5v9M7 7v.1M7 10v.1M7 13v.1M13.500 11v.1M13.500 14v.1M2 17h16",
  audit: "M5 3h10v14l-2.500-1.500L10 17l-2.500-1.500L5 17zM8 7h4M8 10h4",
  search: "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.500 13.500L17 17",
  copy: "M7 7h9v9H7zM4 13V4h9",
  check: "M4 10.500l4 4 8-9",
  close: "M5 5l10 10M15 5L5 15",
  menu: "M3 5h14M3 10h14M3 15h14",
  sun: "M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM10 2v2M10 16v2M2 10h2M16 10h2M4.500 4.500l1.400 1.400M14.100 14.100l1.400 1.400M4.500 15.500l1.400-1.400M14.100 5.900l1.400-1.400",
  moon: "M16 12A7 7 0 0 1 8 4a7 7 0 1 0 8 8z",
  out: "M8 4H4v12h4M12 7l3 3-3 3M15 10H8",
  replay: "M5 8a6 6 0 1 1-1 4M5 3v5h5",
  eye: "M2 10s3-5.500 8-5.500 8 5.500 8 5.500-3 5.500-8 5.500S2 10 2 10zM10 12.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  plus: "M10 4v12M4 10h12",
  play: "M6 4l10 6-10 6z",
  mail: "M3 5h14v10H3zM3 6l7 5 7-5",
  sms: "M4 4h12v9H9l-3.500 3v-3H4zM7 7.500h6M7 10h4",
  inbox: "M4 4h12v12H4zM4 11h4l1 2h2l1-2h4",
  pause: "M7 5v10M13 5v10",
  log: "M4 3h9l3 3v11H4zM7 9h6M7 12h6M7 6h3",
  right: "M8 5l5 5-5 5",
  down: "M5 8l5 5 5-5",
};

export function Icon({ name, label }) {
  return html`<svg class="icon" viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.6"
    stroke-linecap="round" stroke-linejoin="round" role=${label ? "img" : undefined} aria-label=${label} aria-hidden=${label ? undefined : "true"}>
    <path d=${PATHS[name] ?? PATHS.right} /></svg>`;
}

// What is being decided right now, over all notifications: newest on top, each with its reason, until one presses Pause.
import { get } from "./api.js";
import { nothing, taken } from "./decisions.js";
import { localTime, many, number, utcTime } from "./format.js";
import { Icon } from "./icons.js";
import { Filters } from "./list.js";
import { ROUTE_STATUSES } from "./notification-parts.js";
import { channelTitle } from "./reasons.js";
import { href } from "./router.js";
import { tell } from "./sentences.js";
import { Badge, Empty, PageHead, Sketch, Trouble } from "./ui.js";
import { html, useEffect, useRef, useState } from "./view.js";

const EVERY = 2_000;
const PAGE = 200;

const FILTERS = [
  { name: "user_id", label: "User", placeholder: "exact id" },
  { name: "type", label: "Type", placeholder: "exact name" },
  { name: "channel", label: "Channel", options: ["email", "sms", "push", "in_app"].map((each) => [each, channelTitle(each)]) },
  { name: "status", label: "Route is", options: ROUTE_STATUSES },
  { name: "producer", label: "Producer", placeholder: "exact name" },
];

export default function Live({ route }) {
  const wanted = Object.fromEntries(FILTERS.map(({ name }) => [name, route.query[name]]));
  const live = useDecisions(wanted);
  const toolbar = html`<button type="button" class=${`button${live.isPaused ? " primary" : ""}`} aria-pressed=${live.isPaused} onClick=${live.pause}>
    <${Icon} name=${live.isPaused ? "play" : "pause"} />${live.isPaused ? "Go on" : "Pause"}</button>`;
  return html`<${PageHead} title="Live decisions">What the service decides, as it decides it, with the reason. The newest stand on top; each opens its notification.<//>
    <${Filters} filters=${FILTERS} query=${route.query} toolbar=${toolbar} />
    ${live.error && html`<${Trouble} error=${live.error} retry=${live.again} />`}
    <${Standing} live=${live} />
    ${live.rows.length > 0 && html`<ol class="live" aria-label="Decisions, newest first">${live.rows.map((row) => html`<${Row} key=${row.id} row=${row} />`)}</ol>`}
    ${!live.rows.length && !live.error && (live.hasAnswered ? html`<${Quiet} isFiltered=${FILTERS.some(({ name }) => route.query[name])} />` : html`<${Sketch} />`)}`;
}

function Standing({ live }) {
  if (live.isPaused) return html`<p class="live-standing" role="status"><${Badge} tone="warn">paused<//> ${live.waiting ? `${many(live.waiting, "new decision waits", "new decisions wait")} for you to go on.` : "Nothing new since."}</p>`;
  if (!live.rows.length) return null;
  return html`<p class="live-standing mute"><span class="pulse" aria-hidden="true"></span>Looking every two seconds. ${number(live.rows.length)} shown, the last 500 are kept.</p>`;
}

const Quiet = ({ isFiltered }) => html`<${Empty} title=${isFiltered ? "Nothing of this was decided in the last minute." : "Nothing was decided in the last minute."}>
  This page fills as soon as something happens. For what happened before, see the <a href=${href(["notifications"])}>notifications</a>.<//>`;

function Row({ row }) {
  const told = tell(row, row);
  return html`<li class=${told.tone === "mute" ? "" : told.tone}><time datetime=${row.at} title=${utcTime(row.at)}>${localTime(row.at)}</time><span class="dot" aria-hidden="true"></span>
    <div class="grow" dir="auto"><a href=${href(["notifications", row.notification_id], { route: row.route_id })} title=${told.code}>${told.says}</a>${told.why && html` <span class="why">${told.why}</span>`}</div>
    <div class="live-about"><span dir="auto">${row.type}</span>${row.mode === "test" && html` <${Badge} tone="warn">test<//>`}<span class="mute"> ${row.producer}</span></div></li>`;
}

/** Asks again and again from where the last answer ended; while paused it goes on asking, and keeps what it hears for later. */
function useDecisions(wanted) {
  const key = JSON.stringify(wanted);
  const heard = useRef(nothing());
  const [shown, setShown] = useState({ rows: [], hasAnswered: false, error: null });
  const [waiting, setWaiting] = useState(0);
  const [isPaused, setPaused] = useState(false);
  const paused = useRef(false);
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    const abort = new AbortController();
    let timer;
    heard.current = nothing();
    setShown({ rows: [], hasAnswered: false, error: null });
    setWaiting(0);
    const look = async () => {
      let next = EVERY;
      try {
        if (!document.hidden) {
          const page = await get(["decisions"], { ...JSON.parse(key), since: heard.current.since, limit: PAGE }, { signal: abort.signal });
          heard.current = taken(heard.current, page);
          if (page.more) next = 0;
          const { rows, added } = heard.current;
          if (paused.current) setWaiting((count) => count + added);
          else setShown((old) => (added || !old.hasAnswered || old.error ? { rows, hasAnswered: true, error: null } : old));
        }
      } catch (error) {
        if (error.name === "AbortError") return;
        if (error.status === 422 && heard.current.since) heard.current.since = undefined; // hidden for longer than decisions are kept in order
        else setShown((old) => ({ ...old, error }));
      }
      timer = setTimeout(look, next);
    };
    look();
    return () => (abort.abort(), clearTimeout(timer));
  }, [key, turn]);

  const pause = () => {
    paused.current = !isPaused;
    setPaused(!isPaused);
    setWaiting(0);
    if (isPaused) setShown({ rows: heard.current.rows, hasAnswered: true, error: null });
  };
  return { ...shown, waiting, isPaused, pause, again: () => setTurn(turn + 1) };
}

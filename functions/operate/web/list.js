// A list with its filters in the address, refreshed by itself, more on demand.
import { get } from "./api.js";
import { Icon } from "./icons.js";
import { useLoaded } from "./poll.js";
import { setQuery, useRoute } from "./router.js";
import { pushedOut } from "./rows.js";
import { Empty, Loaded, Table, Trouble } from "./ui.js";
import { html, useEffect, useRef, useState } from "./view.js";

const WAIT = 350;

/**
 * `path` of the API, `filters` [{name, label, options?, placeholder?, wide?, local?}], `columns` as of Table. What the API's filters take stands in the
 * address under the same names; a `local` one is `take`'s to apply, the API does not hear of it. `fixed` are filters that are not shown. `seconds`: how often the newest page is asked for again;
 * `again`: a number that grows when that should happen at once, because something was done to the rows.
 */
export function List({ path, filters = [], columns, to, keyOf, label, empty, fixed = {}, seconds = 15, again = 0, toolbar, selected, toggle, toggleAll, take = (page) => page.data }) {
  const { query } = useRoute();
  const asked = filters.filter(({ local }) => !local).map(({ name, initial }) => [name, query[name] ?? initial ?? fixed[name]]);
  const wanted = { ...fixed, ...Object.fromEntries(asked) };
  const key = JSON.stringify([path, wanted]);
  const [further, setFurther] = useState({ key, rows: [], cursor: undefined, isBusy: false });
  const first = useLoaded((signal) => get(path, wanted, { signal }), [key], { seconds });
  const more = further.key === key ? further : { key, rows: [], cursor: undefined };
  useEffect(() => setFurther({ key, rows: [], cursor: undefined }), [key, again]);
  useEffect(() => {
    if (again) first.refresh();
  }, [again]);

  const idOf = keyOf ?? ((one) => one.id);
  const loadMore = async (cursor, shown) => {
    setFurther({ ...more, isBusy: true, error: null });
    try {
      const page = await get(path, { ...wanted, cursor });
      setFurther({ key, first: more.first ?? shown, rows: [...more.rows, ...take(page)], cursor: page.next_cursor, isBusy: false });
    } catch (error) {
      setFurther({ ...more, isBusy: false, error });
    }
  };

  return html`<div class="list">
    ${(filters.length > 0 || toolbar) && html`<${Filters} filters=${filters} query=${query} toolbar=${toolbar} isBusy=${first.isLoading && first.data !== undefined} />`}
    <${Loaded} of=${first}>${(page) => {
      const shown = take(page);
      const known = new Set(shown.map(idOf));
      const rows = [...shown, ...[...pushedOut(more.first ?? [], shown, idOf), ...more.rows].filter((row) => !known.has(idOf(row)))];
      const cursor = more.cursor === undefined ? page.next_cursor : more.cursor;
      const isFiltered = filters.some(({ name }) => query[name]);
      if (!rows.length) {
        return html`<${Empty} title=${isFiltered ? "Nothing matches these filters." : (empty?.title ?? "Nothing here yet.")}>
          ${isFiltered ? html`<button type="button" class="button small" onClick=${() => clear(filters)}>Clear the filters</button>` : empty?.text}<//>`;
      }
      return html`<${Table} columns=${columns} rows=${rows} to=${to} keyOf=${keyOf} label=${label} selected=${selected} toggle=${toggle} toggleAll=${toggleAll} />
        ${more.error && html`<${Trouble} error=${more.error} />`}
        ${cursor && html`<div class="more"><button type="button" class="button" aria-busy=${more.isBusy} disabled=${more.isBusy} onClick=${() => loadMore(cursor, shown)}>Show more</button></div>`}`;
    }}<//></div>`;
}

const clear = (filters) => setQuery(Object.fromEntries(filters.map(({ name }) => [name, undefined])));

/** The filters of a list by themselves, for a page that draws its rows in a way of its own. */
export function Filters({ filters, query, toolbar, isBusy }) {
  return html`<div class="filters" role="search" aria-label="Filters">
    ${filters.map((filter) => html`<${Filter} key=${filter.name} filter=${filter} value=${query[filter.name] ?? filter.initial ?? ""} />`)}
    ${filters.some(({ name }) => query[name]) && html`<button type="button" class="button small ghost" onClick=${() => clear(filters)}><${Icon} name="close" />Clear</button>`}
    <span class=${`spinner${isBusy ? " on" : ""}`} aria-hidden="true"></span>
    <div class="grow"></div>${toolbar}</div>`;
}

function Filter({ filter, value }) {
  const [typed, setTyped] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    if (value !== told.current) setTyped(value); // the address was changed by something else than typing here
    told.current = value;
  }, [value]);
  useEffect(() => {
    if (typed.trim() === value || filter.options || filter.type === "datetime-local") return undefined;
    const timer = setTimeout(() => {
      told.current = typed.trim();
      setQuery({ [filter.name]: told.current });
    }, WAIT);
    return () => clearTimeout(timer);
  }, [typed]);
  const choose = (event) => setQuery({ [filter.name]: event.currentTarget.value }, { push: true });
  if (filter.options) {
    return html`<label class="filter"><span>${filter.label}</span><select value=${value} onChange=${choose}>
      ${filter.initial === undefined && html`<option value="" selected=${!value}>any</option>`}
      ${filter.options.map(([each, title]) => html`<option key=${each} value=${each} selected=${each === value}>${title ?? each}</option>`)}</select></label>`;
  }
  if (filter.type === "datetime-local") return html`<${Moment} filter=${filter} value=${value} />`;
  return html`<label class=${`filter${filter.wide ? " wide" : ""}`}><span>${filter.label}</span>
    <input type="search" value=${typed} placeholder=${filter.placeholder} onInput=${(event) => setTyped(event.currentTarget.value)} /></label>`;
}

/** Chosen in local time, kept in the address in UTC, so that a colleague elsewhere sees the same rows. */
function Moment({ filter, value }) {
  const moment = value ? new Date(value) : null;
  const local = moment && !Number.isNaN(moment.getTime()) ? new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : "";
  const choose = (event) => setQuery({ [filter.name]: event.currentTarget.value ? new Date(event.currentTarget.value).toISOString() : "" });
  return html`<label class="filter"><span>${filter.label}</span><input type="datetime-local" value=${local} onChange=${choose} /></label>`;
}

export const SINCE_UNTIL = [
  { name: "since", label: "Since", type: "datetime-local" },
  { name: "until", label: "Until", type: "datetime-local" },
];

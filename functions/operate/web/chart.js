// Charts over time, by uPlot: quiet axes, the console's colours, and a line of words for those who cannot see them.
import { number } from "./format.js";
import { html, useEffect, useRef } from "./view.js";

const COLOURS = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5"];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colourOf = (series, index) => (series.bad ? "--chart-bad" : COLOURS[index % COLOURS.length]);

/** `times` in seconds; `series`: [{label, values, bad?, bars?}]. New values are drawn into the same chart: nothing flickers. */
export function Chart({ times, series, label, unit = "" }) {
  const box = useRef(null);
  const chart = useRef(null);
  const shape = series.map((one) => `${one.label}${one.bad}`).join("|");

  useEffect(() => {
    const draw = () => {
      chart.current?.destroy();
      chart.current = new globalThis.uPlot(options(box.current, series, unit), [times, ...series.map((one) => one.values)], box.current);
    };
    draw();
    const sized = new ResizeObserver(() => chart.current?.setSize({ width: box.current.clientWidth, height: box.current.clientHeight }));
    sized.observe(box.current);
    addEventListener("themechange", draw);
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", draw);
    return () => {
      sized.disconnect();
      removeEventListener("themechange", draw);
      system.removeEventListener("change", draw);
      chart.current?.destroy();
      chart.current = null;
    };
  }, [shape]);
  useEffect(() => chart.current?.setData([times, ...series.map((one) => one.values)]), [times, series]);

  const told = series.map((one) => `${one.label}: ${number(sum(one.values))}${unit}`).join("; ");
  return html`<div class="chart" ref=${box} role="img" aria-label=${`${label}. In all: ${told}`}></div>
    <div class="legend" aria-hidden="true">${series.map((one, index) => html`<span key=${one.label}><i class=${colourOf(one, index).replace("--chart-", "c")}></i>${one.label}</span>`)}</div>`;
}

const sum = (values) => values.reduce((total, each) => total + (each ?? 0), 0);

function options(box, series, unit) {
  const grid = { stroke: colour("--line"), width: 1 };
  const axis = { stroke: colour("--ink-3"), grid, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  return {
    width: box.clientWidth,
    height: box.clientHeight,
    padding: [10, 12, 0, 0],
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, low, high) => [0, Math.max(4, high * 1.15)] } },
    axes: [
      { ...axis, size: 24, space: 70, grid: { show: false }, values: (_, ticks) => ticks.map((at) => new Date(at * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hour12: false })) },
      { ...axis, size: 42, values: (_, ticks) => ticks.map((value) => (Number.isInteger(value) ? `${number(value)}${unit}` : "")) },
    ],
    series: [{}, ...series.map((one, index) => ({
      label: one.label,
      stroke: colour(colourOf(one, index)),
      width: 2,
      fill: index === 0 || one.bad ? `${colour(colourOf(one, index))}22` : undefined,
      points: { show: false },
      spanGaps: true,
    }))],
    plugins: [tooltip(series, unit)],
  };
}

/** What the pointer is over, in words. */
function tooltip(series, unit) {
  let tip;
  return {
    hooks: {
      init: (chart) => {
        tip = document.createElement("div");
        tip.className = "chart-tip";
        chart.over.append(tip);
      },
      setCursor: (chart) => {
        const index = chart.cursor.idx;
        tip.hidden = index === null || index === undefined || chart.cursor.left < 0;
        if (tip.hidden) return;
        const at = new Date(chart.data[0][index] * 1000).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
        tip.textContent = [at, ...series.map((one, place) => `${one.label} ${number(chart.data[place + 1][index] ?? 0)}${unit}`)].join("\n");
        const isRight = chart.cursor.left > chart.over.clientWidth / 2;
        tip.style.left = isRight ? "" : `${chart.cursor.left + 12}px`;
        tip.style.right = isRight ? `${chart.over.clientWidth - chart.cursor.left + 12}px` : "";
      },
    },
  };
}

// A small chart over time with its table; the chart library is loaded on demand.
import { useEffect, useRef } from "../../vendor/hooks.js";
import { html } from "../html.js";
import { language, t } from "../i18n.js";
import * as beliefList from "./belief_list.js";
import { findLocale, formatDate } from "./labels.js";

const HEIGHT = 140;

/** How strong something was, each time words for or against it were said. */
export function StrengthChart({ course }) {
  const points = course.map((each) => ({ at: each.at, value: each.strength, told: each.strength.toFixed(1) }));
  return html`<${Chart} points=${points} name=${t("memory_strength")} ink="--pattern" from=${0} />`;
}

/** How talks have left the companion. */
export function MoodChart() {
  const points = beliefList.moods.value.map((each) => ({ at: each.at, value: each.energy, told: [each.energy, each.phrase].filter(String).join(" · ") }));
  return html`<h3 id="panel-title">${t("memory_moods")}</h3><p class="meta">${t("memory_moods_told")}</p>
    <${Chart} points=${points} name=${t("memory_energy")} ink="--thought" from=${0} to=${10} />`;
}

function Chart({ points, name, ink, from, to }) {
  const place = useRef(null);
  const [first, last] = [points[0], points.at(-1)];
  const told = t("memory_chart_told", { name, from: first.told, when: formatDate(first.at), to: last.told, then: formatDate(last.at) });
  useEffect(() => {
    let drawn;
    let isGone = false;
    const draw = async () => {
      const { default: Plot } = await import("../../vendor/uplot.js");
      if (isGone) return;
      drawn?.destroy();
      drawn = new Plot(optionsOf(place.current.clientWidth, { ink, from, to, name }), [points.map((each) => Date.parse(each.at) / 1000), points.map((each) => each.value)], place.current);
    };
    draw();
    const theme = matchMedia("(prefers-color-scheme: dark)");
    theme.addEventListener("change", draw);
    const sizes = new ResizeObserver(() => place.current && drawn?.setSize({ width: place.current.clientWidth, height: HEIGHT }));
    sizes.observe(place.current);
    return () => {
      isGone = true;
      theme.removeEventListener("change", draw);
      sizes.disconnect();
      drawn?.destroy();
    };
  }, [points.length, language.value]);
  return html`<figure class="chart"><div class="chart-place" ref=${place} role="img" aria-label=${told}></div>
    <figcaption><details><summary>${t("memory_as_table")}</summary>
      <table><thead><tr><th>${t("memory_day")}</th><th>${name}</th></tr></thead>
        <tbody>${points.slice(-30).map((each) => html`<tr key=${each.at}><td>${formatDate(each.at)}</td><td>${each.told}</td></tr>`)}</tbody></table></details></figcaption></figure>`;
}

function optionsOf(width, { ink, from, to, name }) {
  const style = getComputedStyle(document.documentElement);
  const colour = (token) => style.getPropertyValue(token).trim();
  const axis = { stroke: colour("--ink-2"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "12px sans-serif" };
  const days = new Intl.DateTimeFormat(findLocale(), { day: "numeric", month: "short" });
  return {
    width, height: HEIGHT, legend: { show: false }, cursor: { show: false }, select: { show: false },
    scales: { y: { range: (_, low, high) => [from ?? low, to ?? Math.max(high * 1.1, (from ?? 0) + 2)] } },
    axes: [{ ...axis, values: (_, stamps) => stamps.map((stamp) => days.format(stamp * 1000)), space: 70 }, { ...axis, size: 34 }],
    series: [{}, { label: name, stroke: colour(ink), width: 2, points: { show: true, size: 6, fill: colour("--paper"), stroke: colour(ink) } }],
  };
}

// Who is tied to whom, drawn: the person in the middle; the same can be read as a list below.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../../vendor/d3-force.js";
import { html } from "../html.js";
import { go } from "../places.js";
import * as store from "../store.js";
import { t } from "../words.js";
import { house } from "./house.js";
import { KINDS } from "./kinds.js";

const WIDE = { width: 900, height: 620, letters: 1 };
const NARROW = { width: 440, height: 640, letters: 1.25 }; // on a phone, where names are drawn larger
const EDGE = 36;
const STEPS = 300;
const ROOM_PX = 34; // each wants around itself
const ME = "";
const NEAR_PX = 96, FAR_PX = 170; // of a tie, and of one that is named
const NAME_HIGH = 34; // what the name of a tie wants above and below its middle
const MARGIN = 64, LEAST_WIDE = 560; // around what is drawn, and how narrow it may be at least
const MOST_NAMED = 24; // ties whose names fit beside each other; of more, those of whoever is looked at

export function Graph() {
  const [drawn, setDrawn] = useState(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let isStill = true;
    setDrawn(null);
    house.graph().then((found) => isStill && setDrawn(laidOut(found, matchMedia("(max-width: 720px)").matches ? NARROW : WIDE)), (problem) => isStill && setTrouble(problem.message || t("lost")));
    return () => (isStill = false);
  }, [store.rewritten.value]);
  if (trouble) return html`<p class="bad" role="alert">${trouble}</p>`;
  if (!drawn) return html`<p class="empty" role="status">${t("loading")}</p>`;
  if (!drawn.bonds.length) return html`<p class="empty">${t("people_no_ties")}</p>`;
  const kinds = Object.keys(KINDS).filter((kind) => drawn.nodes.some((each) => each.kind === kind));
  return html`<${Drawing} drawn=${drawn} />
    <ul role="list" class="graph-legend" aria-label=${t("people_legend")}>${kinds.map((kind) => html`<li key=${kind}><svg class=${`node node-${kind}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><circle cx="6" cy="6" r="5" /></svg>${t(KINDS[kind])}</li>`)}</ul>
    ${drawn.leftOut > 0 && html`<p class="meta">${t("people_left_out", { count: drawn.leftOut })}</p>`}
    <details><summary>${t("people_ties_read", { count: drawn.bonds.length })}</summary>
      <ul>${drawn.bonds.slice(0, 200).map((each) => html`<li key=${each.memory}>${each.text}</li>`)}</ul></details>`;
}

/** Everybody with a place, as far from each other as there is room. */
function laidOut({ nodes, bonds, left_out: leftOut }, { width, height, letters }) {
  const all = [{ id: ME, name: t("you"), kind: "me", known: 0, fx: width / 2, fy: height / 2 }, ...nodes.map((each) => ({ ...each }))];
  const links = bonds.map((each) => ({ ...each, source: each.first, target: each.second }));
  const apart = forceSimulation(all)
    .force("ties", forceLink(links).id((each) => each.id).distance(bonds.length <= MOST_NAMED ? FAR_PX : NEAR_PX).strength(0.6))
    .force("apart", forceManyBody().strength(-320))
    .force("room", forceCollide((each) => Math.max(ROOM_PX, 0.8 * halfOf(each.name))))
    .force("names", /** @type {any} */ (bonds.length <= MOST_NAMED ? () => keepClear(all, links) : null))
    .force("across", forceX(width / 2).strength(0.04))
    .force("down", forceY(height / 2).strength(0.07))
    .stop();
  for (let step = 0; step < STEPS; step++) {
    apart.tick();
    for (const each of all) {
      const edge = Math.min(width / 2, Math.max(EDGE, letters * halfOf(each.name)));
      each.x = Math.min(width - edge, Math.max(edge, each.x));
      each.y = Math.min(height - EDGE, Math.max(EDGE, each.y));
    }
  }
  return { nodes: all, bonds: links, leftOut, width, height };
}

const tieOf = ({ tie }) => t(`tie_${tie}`, {}, tie.replaceAll("_", " "));

/** The names of ties, in the middle of each, are kept clear of circles and of each other. @param {any[]} all @param {any[]} links */
function keepClear(all, links) {
  const names = links.map((each) => ({ each, half: halfOf(tieOf(each)), x: (each.source.x + each.target.x) / 2, y: (each.source.y + each.target.y) / 2 }));
  /** How to go from one towards the other, where the first stands in the way: none where it does not. */
  const away = (from, to, wide) => {
    const [across, down] = [(to.x - from.x) / wide, (to.y - from.y) / NAME_HIGH];
    const far = Math.hypot(across, down) || 0.01;
    return far < 1 ? { x: ((across / far) * (1 - far) * wide) / 6, y: ((down / far) * (1 - far) * NAME_HIGH) / 6 } : null;
  };
  const push = (one, by, sign) => (one.vx += sign * by.x, one.vy += sign * by.y);
  for (const [place, name] of names.entries()) {
    for (const one of all) {
      const by = one !== name.each.source && one !== name.each.target && away(name, one, name.half + ROOM_PX / 2);
      if (by) push(one, by, 2);
    }
    for (const other of names.slice(place + 1)) {
      const by = away(name, other, name.half + other.half);
      if (by) for (const end of ["source", "target"]) push(other.each[end], by, 1), push(name.each[end], by, -1);
    }
  }
}

/** The part of the room in which anything is drawn, in its shape. @param {{nodes: any[], width: number, height: number}} drawn */
function frameOf({ nodes, width, height }) {
  const [left, right] = [Math.min(...nodes.map(({ x }) => x)) - MARGIN, Math.max(...nodes.map(({ x }) => x)) + MARGIN];
  const [top, bottom] = [Math.min(...nodes.map(({ y }) => y)) - MARGIN, Math.max(...nodes.map(({ y }) => y)) + MARGIN];
  const wide = Math.min(width, Math.max(Math.min(LEAST_WIDE, width), right - left, ((bottom - top) * width) / height));
  const high = (wide * height) / width;
  const within = (middle, size, whole) => Math.min(Math.max(0, middle - size / 2), whole - size);
  return `${within((left + right) / 2, wide, width)} ${within((top + bottom) / 2, high, height)} ${wide} ${high}`;
}

/** About half of what a name takes below its circle, so that none is cut at the edge. @param {string} name */
const halfOf = (name) => [...name].reduce((sum, each) => sum + (each > "\u2e80" ? 8 : 4.4), 6);

/** How much the ties of somebody go downwards: where they do, their name stands above, out of the way. */
const fall = (one, bonds) => bonds.reduce((sum, { source, target }) => {
  const other = source === one ? target : target === one ? source : one;
  return sum + (other.y - one.y) / (Math.hypot(other.x - one.x, other.y - one.y) || 1);
}, 0);

function Drawing({ drawn }) {
  const [meant, setMeant] = useState(null);
  const figure = useRef(null);
  const near = new Set(drawn.bonds.flatMap((each) => (each.first === meant || each.second === meant ? [each.first, each.second] : [])));
  const isFaint = (...ids) => meant !== null && !ids.every((id) => near.has(id));
  const open = (id) => id !== ME && go(`/people/${id}`);
  const onKey = (event, id) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), open(id));
  return html`<svg class="graph" ref=${figure} viewBox=${frameOf(drawn)} role="group" aria-label=${t("people_graph")} onMouseLeave=${() => setMeant(null)}>
    ${drawn.bonds.map((each) => html`<line key=${each.memory} class=${`bond ${isFaint(each.first, each.second) ? "is-faint" : ""}`}
      x1=${each.source.x} y1=${each.source.y} x2=${each.target.x} y2=${each.target.y}><title>${each.text}</title></line>`)}
    ${drawn.bonds.filter((each) => drawn.bonds.length <= MOST_NAMED || (meant !== null && (each.first === meant || each.second === meant))).map((each) => html`<text key=${each.memory} aria-hidden="true"
      class=${`bond-name ${isFaint(each.first, each.second) ? "is-faint" : ""}`} x=${(each.source.x + each.target.x) / 2} y=${(each.source.y + each.target.y) / 2 + 4} text-anchor="middle">${tieOf(each)}</text>`)}
    ${drawn.nodes.map((each) => html`<g key=${each.id} class=${`node node-${each.kind} ${isFaint(each.id) && each.id !== meant ? "is-faint" : ""}`}
      transform=${`translate(${each.x} ${each.y})`} tabindex=${each.id === ME ? -1 : 0} role=${each.id === ME ? null : "link"}
      aria-label=${each.name} onClick=${() => open(each.id)} onKeyDown=${(event) => onKey(event, each.id)}
      onMouseEnter=${() => setMeant(each.id)} onFocus=${each.id === ME ? null : () => setMeant(each.id)} onBlur=${each.id === ME ? null : () => setMeant(null)}>
      <circle r=${each.id === ME ? 15 : 7 + Math.min(7, Math.sqrt(each.known))} /><text y=${each.id === ME ? 32 : fall(each, drawn.bonds) > 0 ? -18 : 28} text-anchor="middle">${each.name}</text></g>`)}
  </svg>`;
}

// The graph of relations, with the person in the middle.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../../vendor/d3-force.js";
import { html } from "../html.js";
import { navigate } from "../router.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import { peopleApi } from "./api.js";
import { KINDS } from "./kinds.js";

const WIDE = { width: 900, height: 620, letters: 1, across: 0.04, down: 0.07 };
const NARROW = { width: 440, height: 640, letters: 1.25, across: 0.09, down: 0.03 }; // on a phone, where names are drawn larger
const EDGE = 36;
const STEPS = 300;
const TRIES = 12; // arrangements of which the clearest is drawn
const ROOM_PX = 34; // each wants around itself
const ME = "";
const PHONE = "(max-width: 720px)";
const NEAR_PX = 96, FAR_PX = 170; // of a tie, and of one that is named
const NAME_HIGH = 34; // what the name of a tie wants above and below its middle
const MARGIN = 28, LEAST_WIDE = 560, LEAST_HIGH = 280; // around what is drawn, and how small that may be at least
const MOST_NAMED = 24; // ties whose names fit beside each other; of more, those of whoever is looked at

export function Graph() {
  const [drawn, setDrawn] = useState(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let isStill = true;
    setDrawn(null);
    peopleApi.graph().then((found) => isStill && setDrawn(laidOut(found, matchMedia(PHONE).matches ? NARROW : WIDE)), (problem) => isStill && setTrouble(problem.message || t("lost")));
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

/** Everybody with a place, as far from each other as there is room; of several arrangements the one that is read best. */
function laidOut(found, room) {
  const tries = found.bonds.length <= MOST_NAMED ? TRIES : 1;
  return Array.from({ length: tries }, (_, turn) => named(arranged(found, room, turn), room)).reduce((best, each) => (each.muddle < best.muddle ? each : best));
}

/** @param {any} found @param {typeof WIDE} room @param {number} turn from where on they stand in a circle at first */
function arranged({ nodes, bonds, left_out: leftOut }, { width, height, letters, across, down }, turn) {
  const around = (place) => {
    const angle = (2 * Math.PI * (place * (1 + (turn % 3)) + turn / TRIES)) / nodes.length;
    return { x: width / 2 + FAR_PX * Math.cos(angle), y: height / 2 + FAR_PX * Math.sin(angle) };
  };
  const all = [{ id: ME, name: t("you"), kind: "me", known: 0, fx: width / 2, fy: height / 2 }, ...nodes.map((each, place) => ({ ...each, ...around(place) }))];
  const links = bonds.map((each) => ({ ...each, source: each.first, target: each.second }));
  const apart = forceSimulation(all)
    .force("ties", forceLink(links).id((each) => each.id).distance(bonds.length <= MOST_NAMED ? FAR_PX : NEAR_PX).strength(0.6))
    .force("apart", forceManyBody().strength(-320))
    .force("room", forceCollide((each) => Math.max(ROOM_PX, 0.8 * letters * halfOf(each.name))))
    .force("names", /** @type {any} */ (bonds.length <= MOST_NAMED ? () => keepClear(all, links) : null))
    .force("across", forceX(width / 2).strength(across))
    .force("down", forceY(height / 2).strength(down))
    .stop();
  for (let step = 0; step < STEPS; step++) {
    apart.tick();
    for (const each of all) {
      const edge = Math.min(width / 2, Math.max(EDGE, letters * halfOf(each.name)));
      each.x = Math.min(width - edge, Math.max(edge, each.x));
      each.y = Math.min(height - EDGE, Math.max(EDGE, each.y));
    }
  }
  return { nodes: all, bonds: links, leftOut };
}

const ALONG = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73]; // of a tie, where its name may stand
const ROUNDS = 3; // of finding a better place for each name, as the others stand
const LINE_HIGH = 18; // of a name, in letters of 13 px
const CROSSED = 60; // a line through a name, in units of area of names upon each other
const sizeOf = ({ id, known }) => (id === ME ? 15 : 7 + Math.min(7, Math.sqrt(known)));

/** Where the names stand: those of people above or below, those of ties along them, so that few lie upon each other or
 * upon lines; and how much of a muddle is left. @param {any} drawn @param {typeof WIDE} room */
function named({ nodes, bonds, leftOut }, { letters }) {
  const boxOf = (text, x, y, scale) => ({ left: x - scale * halfOf(text), right: x + scale * halfOf(text), top: y - 0.8 * scale * LINE_HIGH, bottom: y + 0.3 * scale * LINE_HIGH });
  const circles = nodes.map((one) => ({ left: one.x - sizeOf(one), right: one.x + sizeOf(one), top: one.y - sizeOf(one), bottom: one.y + sizeOf(one) }));
  const names = nodes.map((one) => {
    const spots = [one.id === ME ? 32 : 28, -18].map((down) => ({ x: one.x, y: one.y + down * (letters > 1 ? 1.1 : 1) }));
    return { one, spots, spot: spots[0], box: boxOf(one.name, spots[0].x, spots[0].y, letters), measure: (spot) => boxOf(one.name, spot.x, spot.y, letters) };
  });
  const ties = bonds.length > MOST_NAMED ? [] : bonds.map((bond) => {
    const { source, target } = bond;
    const spots = ALONG.map((share) => ({ x: source.x + share * (target.x - source.x), y: source.y + share * (target.y - source.y) + 4 }));
    return { one: bond, spots, spot: spots[0], box: boxOf(tieOf(bond), spots[0].x, spots[0].y, 1), measure: (spot) => boxOf(tieOf(bond), spot.x, spot.y, 1) };
  });
  const all = [...names, ...ties];
  const muddleOf = (label, box) => {
    const upon = all.reduce((sum, other) => sum + (other === label ? 0 : shared(box, other.box)), 0) + circles.reduce((sum, each) => sum + shared(box, each), 0);
    return upon + CROSSED * bonds.filter((bond) => bond !== label.one && crosses(bond, box)).length * (ties.includes(label) ? 0.5 : 1);
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const label of all) {
      const tried = label.spots.map((spot, place) => ({ spot, muddle: muddleOf(label, label.measure(spot)) + place }));
      label.spot = tried.reduce((best, each) => (each.muddle < best.muddle ? each : best)).spot;
      label.box = label.measure(label.spot);
    }
  }
  for (const { one, spot } of all) Object.assign(one, { nameX: spot.x, nameY: spot.y });
  for (const bond of bonds) bond.nameX ??= (bond.source.x + bond.target.x) / 2, bond.nameY ??= (bond.source.y + bond.target.y) / 2 + 4;
  const boxes = [...circles, ...all.map(({ box }) => box)];
  return { nodes, bonds, leftOut, boxes, muddle: all.reduce((sum, label) => sum + muddleOf(label, label.box), 0) };
}

/** How much two boxes have in common. */
const shared = (one, other) =>
  Math.max(0, Math.min(one.right, other.right) - Math.max(one.left, other.left)) * Math.max(0, Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));

/** Whether a tie runs through a box: it is cut down to what lies inside. */
function crosses({ source, target }, { left, right, top, bottom }) {
  let [from, to] = [0, 1];
  for (const [start, move, least, most] of [[source.x, target.x - source.x, left, right], [source.y, target.y - source.y, top, bottom]]) {
    if (!move && (start < least || start > most)) return false;
    const [enters, leaves] = [(least - start) / move, (most - start) / move].sort((one, other) => one - other);
    if (move) [from, to] = [Math.max(from, enters), Math.min(to, leaves)];
  }
  return from < to;
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

/** The part of the room in which anything is drawn. @param {{boxes: any[]}} drawn */
function frameOf({ boxes }) {
  const isNarrow = matchMedia(PHONE).matches;
  const reach = (least, most, room) => {
    const [from, to] = [Math.min(...boxes.map(least)) - MARGIN, Math.max(...boxes.map(most)) + MARGIN];
    const more = Math.max(0, room - (to - from)) / 2;
    return [from - more, to - from + 2 * more];
  };
  const [left, wide] = reach((each) => each.left, (each) => each.right, isNarrow ? NARROW.width : LEAST_WIDE);
  const [top, high] = reach((each) => each.top, (each) => each.bottom, LEAST_HIGH);
  return `${left} ${top} ${wide} ${high}`;
}

/** About half of what a name takes below its circle, so that none is cut at the edge. @param {string} name */
const halfOf = (name) => [...name].reduce((sum, each) => sum + (each > "\u2e80" ? 8 : 4.4), 6);

function Drawing({ drawn }) {
  const [meant, setMeant] = useState(null);
  const figure = useRef(null);
  const near = new Set(drawn.bonds.flatMap((each) => (each.first === meant || each.second === meant ? [each.first, each.second] : [])));
  const isFaint = (...ids) => meant !== null && !ids.every((id) => near.has(id));
  const open = (id) => id !== ME && navigate(`/people/${id}`);
  const onKey = (event, id) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), open(id));
  return html`<svg class="graph" ref=${figure} viewBox=${frameOf(drawn)} role="group" aria-label=${t("people_graph")} onMouseLeave=${() => setMeant(null)}>
    ${drawn.bonds.map((each) => html`<line key=${each.memory} class=${`bond ${isFaint(each.first, each.second) ? "is-faint" : ""}`}
      x1=${each.source.x} y1=${each.source.y} x2=${each.target.x} y2=${each.target.y}><title>${each.text}</title></line>`)}
    ${drawn.bonds.filter((each) => drawn.bonds.length <= MOST_NAMED || (meant !== null && (each.first === meant || each.second === meant))).map((each) => html`<text key=${each.memory} aria-hidden="true"
      class=${`bond-name ${isFaint(each.first, each.second) ? "is-faint" : ""}`} x=${each.nameX} y=${each.nameY} text-anchor="middle">${tieOf(each)}</text>`)}
    ${drawn.nodes.map((each) => html`<g key=${each.id} class=${`node node-${each.kind} ${isFaint(each.id) && each.id !== meant ? "is-faint" : ""}`}
      transform=${`translate(${each.x} ${each.y})`} tabindex=${each.id === ME ? -1 : 0} role=${each.id === ME ? null : "link"}
      aria-label=${each.name} onClick=${() => open(each.id)} onKeyDown=${(event) => onKey(event, each.id)}
      onMouseEnter=${() => setMeant(each.id)} onFocus=${each.id === ME ? null : () => setMeant(each.id)} onBlur=${each.id === ME ? null : () => setMeant(null)}>
      <circle r=${sizeOf(each)} /><text y=${each.nameY - each.y} text-anchor="middle">${each.name}</text></g>`)}
  </svg>`;
}

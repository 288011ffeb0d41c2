// The graph of relations, with the person in the middle, laid out by a force simulation.
import { useEffect, useRef, useState } from "../../vendor/hooks.js";
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "../../vendor/d3-force.js";
import { html } from "../html.js";
import { navigate } from "../router.js";
import * as store from "../store.js";
import { t } from "../i18n.js";
import { peopleApi } from "./api.js";
import { KINDS } from "./kinds.js";

const DESKTOP = { width: 900, height: 620, fontScale: 1, xStrength: 0.04, yStrength: 0.07 };
const PHONE = { width: 440, height: 640, fontScale: 1.25, xStrength: 0.09, yStrength: 0.03 };
const EDGE = 36;
const SIMULATION_STEPS = 300;
const MAX_LAYOUTS = 12; // layouts that are computed, to draw the one with the fewest overlaps
const NODE_SPACE_PX = 34; // minimum distance around a node
const PERSON_ID = "";
const PHONE_QUERY = "(max-width: 720px)";
const SHORT_LINK_PX = 96, LONG_LINK_PX = 170; // length of a link without and with a label
const LINK_LABEL_HEIGHT = 34; // space kept free around the middle of a link's label
const MARGIN = 28, MIN_WIDTH = 560, MIN_HEIGHT = 280; // of the view box, in units of the SVG
const MAX_LABELED_LINKS = 24; // with more links, only those of the highlighted node are labeled

export function Graph() {
  const [layout, setLayout] = useState(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let isCurrent = true;
    setLayout(null);
    peopleApi.graph().then((graph) => isCurrent && setLayout(computeLayout(graph, matchMedia(PHONE_QUERY).matches ? PHONE : DESKTOP)), (failure) => isCurrent && setError(failure.message || t("lost")));
    return () => (isCurrent = false);
  }, [store.rewriteCount.value]);
  if (error) return html`<p class="bad" role="alert">${error}</p>`;
  if (!layout) return html`<p class="empty" role="status">${t("loading")}</p>`;
  if (!layout.bonds.length) return html`<p class="empty">${t("people_no_ties")}</p>`;
  const kinds = Object.keys(KINDS).filter((kind) => layout.nodes.some((each) => each.kind === kind));
  return html`<ul role="list" class="graph-legend" aria-label=${t("people_legend")}>${kinds.map((kind) => html`<li key=${kind}><svg class=${`node node-${kind}`} viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><circle cx="6" cy="6" r="5" /></svg>${t(KINDS[kind])}</li>`)}</ul>
    <${GraphSvg} layout=${layout} />
    ${layout.leftOut > 0 && html`<p class="meta">${t("people_left_out", { count: layout.leftOut })}</p>`}
    <details><summary>${t("people_ties_read", { count: layout.bonds.length })}</summary>
      <ul>${layout.bonds.slice(0, 200).map((each) => html`<li key=${each.memory}>${each.text}</li>`)}</ul></details>`;
}

/** Nodes and links with coordinates and label positions: of several layouts, the one with the lowest cost. */
function computeLayout(graph, canvas) {
  const layouts = graph.edges.length <= MAX_LABELED_LINKS ? MAX_LAYOUTS : 1;
  return Array.from({ length: layouts }, (_, variant) => placeLabels(simulate(graph, canvas, variant), canvas)).reduce((best, each) => (each.cost < best.cost ? each : best));
}

/** Coordinates from a force simulation. @param {any} graph @param {typeof DESKTOP} canvas @param {number} variant varies the start positions on a circle */
function simulate({ nodes, edges: bonds, left_out: leftOut }, { width, height, fontScale, xStrength, yStrength }, variant) {
  const startPosition = (index) => {
    const angle = (2 * Math.PI * (index * (1 + (variant % 3)) + variant / MAX_LAYOUTS)) / nodes.length;
    return { x: width / 2 + LONG_LINK_PX * Math.cos(angle), y: height / 2 + LONG_LINK_PX * Math.sin(angle) };
  };
  const allNodes = [{ id: PERSON_ID, name: t("you"), kind: "me", known: 0, fx: width / 2, fy: height / 2 }, ...nodes.map((each, index) => ({ ...each, ...startPosition(index) }))];
  const links = bonds.map((each) => ({ ...each, source: each.first, target: each.second }));
  const simulation = forceSimulation(allNodes)
    .force("ties", forceLink(links).id((each) => each.id).distance(bonds.length <= MAX_LABELED_LINKS ? LONG_LINK_PX : SHORT_LINK_PX).strength(0.6))
    .force("apart", forceManyBody().strength(-320))
    .force("room", forceCollide((each) => Math.max(NODE_SPACE_PX, 0.8 * fontScale * halfWidth(each.name))))
    .force("names", /** @type {any} */ (bonds.length <= MAX_LABELED_LINKS ? () => pushFromLabels(allNodes, links) : null))
    .force("across", forceX(width / 2).strength(xStrength))
    .force("down", forceY(height / 2).strength(yStrength))
    .stop();
  for (let step = 0; step < SIMULATION_STEPS; step++) {
    simulation.tick();
    for (const each of allNodes) {
      const edge = Math.min(width / 2, Math.max(EDGE, fontScale * halfWidth(each.name)));
      each.x = Math.min(width - edge, Math.max(edge, each.x));
      each.y = Math.min(height - EDGE, Math.max(EDGE, each.y));
    }
  }
  return { nodes: allNodes, bonds: links, leftOut };
}

const LABEL_POSITIONS = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73]; // fractions of a link's length at which its label may be placed
const JOINT_POSITION = 0.35; // fraction of the way from the middle of two parents to their child at which their lines meet
const MIN_JOINT_PX = 96; // least length of that way; with less, each line is named on its own
const PLACEMENT_ROUNDS = 3; // passes over all labels, each moved where it costs least
const LINE_HEIGHT = 18; // of a label, at 13 px font size
const CROSSING_PENALTY = 60; // cost of a link that crosses a label, in units of overlapping area
const radiusOf = ({ id, known }) => (id === PERSON_ID ? 15 : 7 + Math.min(7, Math.sqrt(known)));

/** Add label positions (nameX, nameY) to nodes and links: those of nodes above or below, those of links along them, with few
 * overlaps and crossings. Returns the layout with the boxes of all it contains and the cost that is left. @param {any} layout @param {typeof DESKTOP} canvas */
function placeLabels({ nodes, bonds, leftOut }, { fontScale }) {
  const boxOf = (text, x, y, scale) => ({ left: x - scale * halfWidth(text), right: x + scale * halfWidth(text), top: y - 0.8 * scale * LINE_HEIGHT, bottom: y + 0.3 * scale * LINE_HEIGHT });
  const circles = nodes.map((node) => ({ left: node.x - radiusOf(node), right: node.x + radiusOf(node), top: node.y - radiusOf(node), bottom: node.y + radiusOf(node) }));
  const nodeLabels = nodes.map((node) => {
    const positions = [node.id === PERSON_ID ? 32 : 28, -18].map((down) => ({ x: node.x, y: node.y + down * (fontScale > 1 ? 1.1 : 1) }));
    return { owner: node, positions, position: positions[0], box: boxOf(node.name, positions[0].x, positions[0].y, fontScale), measure: (position) => boxOf(node.name, position.x, position.y, fontScale) };
  });
  for (const bond of bonds) bond.sharedWith = findShared(bond, bonds);
  for (const bond of bonds) bond.joint = bond.sharedWith.length ? along(midpoint([bond, ...bond.sharedWith].map(({ source }) => source)), bond.target, JOINT_POSITION) : null;
  const linkLabels = bonds.length > MAX_LABELED_LINKS ? [] : bonds.filter(isLabelOwner).map((bond) => {
    const positions = LABEL_POSITIONS.map((fraction) => along(bond.joint ?? bond.source, bond.target, fraction)).map(({ x, y }) => ({ x, y: y + 4 }));
    return { owner: bond, positions, position: positions[0], box: boxOf(formatLink(bond), positions[0].x, positions[0].y, fontScale), measure: (position) => boxOf(formatLink(bond), position.x, position.y, fontScale) };
  });
  const labels = [...nodeLabels, ...linkLabels];
  const costOf = (label, box) => {
    const overlap = labels.reduce((sum, other) => sum + (other === label ? 0 : overlapArea(box, other.box)), 0) + circles.reduce((sum, each) => sum + overlapArea(box, each), 0);
    return overlap + CROSSING_PENALTY * bonds.filter((bond) => bond !== label.owner && !label.owner.sharedWith?.includes(bond) && crosses(bond, box)).length * (linkLabels.includes(label) ? 0.5 : 1);
  };
  for (let round = 0; round < PLACEMENT_ROUNDS; round++) {
    for (const label of labels) {
      const candidates = label.positions.map((position, index) => ({ position, cost: costOf(label, label.measure(position)) + index }));
      label.position = candidates.reduce((best, each) => (each.cost < best.cost ? each : best)).position;
      label.box = label.measure(label.position);
    }
  }
  for (const { owner, position } of labels) Object.assign(owner, { nameX: position.x, nameY: position.y });
  for (const bond of bonds) {
    const middle = along(bond.joint ?? bond.source, bond.target, 0.5);
    bond.nameX ??= middle.x, bond.nameY ??= middle.y + 4;
  }
  const boxes = [...circles, ...labels.map(({ box }) => box)];
  return { nodes, bonds, leftOut, boxes, cost: labels.reduce((sum, label) => sum + costOf(label, label.box), 0) };
}

/** The other link of the same name to the same node, if there is one and both come from the same side: they are drawn as two
 * lines that meet, and one line to the node, which is named. @param {any} bond @param {any[]} bonds */
function findShared(bond, bonds) {
  const others = bonds.filter((each) => each !== bond && each.tie === bond.tie && each.second === bond.second);
  if (others.length !== 1) return [];
  const between = midpoint([bond.source, others[0].source]);
  return Math.hypot(bond.target.x - between.x, bond.target.y - between.y) >= MIN_JOINT_PX ? others : [];
}

/** The corners of a link's line. @param {any} bond */
const cornersOf = ({ source, joint, target }) => [source, ...(joint ? [joint] : []), target];

/** The point at a fraction of the way between two. @param {{x: number, y: number}} from @param {{x: number, y: number}} to @param {number} fraction */
const along = (from, to, fraction) => ({ x: from.x + fraction * (to.x - from.x), y: from.y + fraction * (to.y - from.y) });

const isLabelOwner = ({ memory, sharedWith: [other] }) => !other || memory < other.memory;

/** @param {{x: number, y: number}[]} points */
const midpoint = (points) => ({ x: points.reduce((sum, each) => sum + each.x, 0) / points.length, y: points.reduce((sum, each) => sum + each.y, 0) / points.length });

/** The area in which two boxes overlap. */
const overlapArea = (a, b) =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

/** Whether a link runs through a box. @param {any} bond @param {any} box */
const crosses = (bond, box) => cornersOf(bond).some((corner, index, all) => index > 0 && isCutBy(all[index - 1], corner, box));

/** Whether a line runs through a box, by clipping it to each pair of edges. */
function isCutBy(source, target, { left, right, top, bottom }) {
  let [from, to] = [0, 1];
  for (const [start, delta, low, high] of [[source.x, target.x - source.x, left, right], [source.y, target.y - source.y, top, bottom]]) {
    if (!delta && (start < low || start > high)) return false;
    const [entry, exit] = [(low - start) / delta, (high - start) / delta].sort((a, b) => a - b);
    if (delta) [from, to] = [Math.max(from, entry), Math.min(to, exit)];
  }
  return from < to;
}

const formatLink = ({ tie }) => t(`tie_${tie}`, {}, tie.replaceAll("_", " "));

/** A force that keeps link labels, at the middle of each link, away from nodes and from each other. @param {any[]} allNodes @param {any[]} links */
function pushFromLabels(allNodes, links) {
  const labels = links.map((each) => ({ link: each, halfWidth: halfWidth(formatLink(each)), x: (each.source.x + each.target.x) / 2, y: (each.source.y + each.target.y) / 2 }));
  /** The force away from a label; null beyond its reach. */
  const repulsion = (from, to, width) => {
    const [across, down] = [(to.x - from.x) / width, (to.y - from.y) / LINK_LABEL_HEIGHT];
    const distance = Math.hypot(across, down) || 0.01;
    return distance < 1 ? { x: ((across / distance) * (1 - distance) * width) / 6, y: ((down / distance) * (1 - distance) * LINK_LABEL_HEIGHT) / 6 } : null;
  };
  const push = (node, force, sign) => (node.vx += sign * force.x, node.vy += sign * force.y);
  for (const [index, label] of labels.entries()) {
    for (const node of allNodes) {
      const force = node !== label.link.source && node !== label.link.target && repulsion(label, node, label.halfWidth + NODE_SPACE_PX / 2);
      if (force) push(node, force, 2);
    }
    for (const otherLabel of labels.slice(index + 1)) {
      const force = repulsion(label, otherLabel, label.halfWidth + otherLabel.halfWidth);
      if (force) for (const end of ["source", "target"]) push(otherLabel.link[end], force, 1), push(label.link[end], force, -1);
    }
  }
}

/** The view box of the SVG: all boxes with a margin, at least MIN_WIDTH and MIN_HEIGHT. @param {{boxes: any[]}} drawn */
function computeViewBox({ boxes }) {
  const isNarrow = matchMedia(PHONE_QUERY).matches;
  const extent = (lowOf, highOf, minimum) => {
    const [from, to] = [Math.min(...boxes.map(lowOf)) - MARGIN, Math.max(...boxes.map(highOf)) + MARGIN];
    const padding = Math.max(0, minimum - (to - from)) / 2;
    return [from - padding, to - from + 2 * padding];
  };
  const [left, width] = extent((each) => each.left, (each) => each.right, isNarrow ? PHONE.width : MIN_WIDTH);
  const [top, height] = extent((each) => each.top, (each) => each.bottom, MIN_HEIGHT);
  return `${left} ${top} ${width} ${height}`;
}

/** About half the width of a name in px, counting CJK characters wider. @param {string} name */
const halfWidth = (name) => [...name].reduce((sum, each) => sum + (each > "\u2e80" ? 8 : 4.4), 6);

function GraphSvg({ layout }) {
  const [highlighted, setHighlighted] = useState(null);
  const figure = useRef(null);
  const connected = new Set(layout.bonds.flatMap((each) => (each.first === highlighted || each.second === highlighted ? [each.first, each.second] : [])));
  const isFaint = (...ids) => highlighted !== null && !ids.every((id) => connected.has(id));
  const open = (id) => id !== PERSON_ID && navigate(`/people/${id}`);
  const onKey = (event, id) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), open(id));
  return html`<svg class="graph" ref=${figure} viewBox=${computeViewBox(layout)} role="group" aria-label=${t("people_graph")} onMouseLeave=${() => setHighlighted(null)}>
    ${layout.bonds.map((each) => html`<polyline key=${each.memory} class=${`bond ${isFaint(each.first, each.second) ? "is-faint" : ""}`}
      points=${(isLabelOwner(each) ? cornersOf(each) : [each.source, each.joint]).map(({ x, y }) => `${x},${y}`).join(" ")}><title lang=${each.text_language}>${each.text}</title></polyline>`)}
    ${layout.bonds.filter((each) => layout.bonds.length <= MAX_LABELED_LINKS ? isLabelOwner(each) : (highlighted !== null && (each.first === highlighted || each.second === highlighted))).map((each) => html`<text key=${each.memory} aria-hidden="true"
      class=${`bond-name ${isFaint(each.first, each.second) ? "is-faint" : ""}`} x=${each.nameX} y=${each.nameY} text-anchor="middle">${formatLink(each)}</text>`)}
    ${layout.nodes.map((each) => html`<g key=${each.id} class=${`node node-${each.kind} ${isFaint(each.id) && each.id !== highlighted ? "is-faint" : ""}`}
      transform=${`translate(${each.x} ${each.y})`} tabindex=${each.id === PERSON_ID ? -1 : 0} role=${each.id === PERSON_ID ? null : "link"}
      aria-label=${each.name} onClick=${() => open(each.id)} onKeyDown=${(event) => onKey(event, each.id)}
      onMouseEnter=${() => setHighlighted(each.id)} onFocus=${each.id === PERSON_ID ? null : () => setHighlighted(each.id)} onBlur=${each.id === PERSON_ID ? null : () => setHighlighted(null)}>
      <circle r=${radiusOf(each)} /><text y=${each.nameY - each.y} text-anchor="middle">${each.name}</text></g>`)}
  </svg>`;
}

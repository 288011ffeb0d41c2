// Markdown of a reply rendered as elements; text never becomes HTML:
// what is HTML in a reply is shown as it stands, so that nothing has to be cleaned.
import { html } from "../html.js";
import { CopyButton } from "./copy_button.js";
import { lexMarkdown } from "./markdown_lexer.js";

const OPENED = /^(?:https?:\/\/[^\s/\\]|mailto:[^\s/\\])/i; // by a link; anything else stays text
const LABEL_LIKE = /^(?:https?:\/\/|mailto:)|\/$/gi; // of an address, what its label may leave out
const LONGEST = 80; // characters of an address that are shown beside a label
const BIDI = /[\u202a-\u202e\u2066-\u2069]/g; // turn around what is read
const DEEPEST = 12; // elements within each other; what is nested deeper is shown as it stands
const HIGHEST = 3; // the headings of the page stand above those of a reply

/** The elements of a reply. @param {string} text */
export const renderMarkdown = (text) => drawAll(lexMarkdown(text), 0);

/** @param {any[]} tokens @param {number} depth */
const drawAll = (tokens, depth) => tokens.map((each) => draw(each, depth));

/** @param {any} token @param {number} depth */
function draw(token, depth) {
  if (depth > DEEPEST) return token.raw;
  const within = () => (token.tokens ? drawAll(token.tokens, depth + 1) : token.text);
  switch (token.type) {
    case "space": case "def": return null;
    case "hr": return html`<hr />`;
    case "br": return html`<br />`;
    case "heading": return html`<${`h${Math.min(6, token.depth + HIGHEST)}`} class="headed">${within()}<//>`;
    case "paragraph": return html`<p>${within()}</p>`;
    case "blockquote": return html`<blockquote>${within()}</blockquote>`;
    case "strong": return html`<strong>${within()}</strong>`;
    case "em": return html`<em>${within()}</em>`;
    case "del": return html`<del>${within()}</del>`;
    case "codespan": return html`<code>${token.text}</code>`;
    case "code": return html`<div class="code"><pre tabindex="0"><code>${token.text}</code></pre><${CopyButton} text=${token.text} /></div>`;
    case "list": return drawList(token, depth);
    case "table": return drawTable(token, depth);
    case "link": return drawLink(token.href, token, depth);
    case "image": return drawLink(token.href, { type: "text", text: token.text || token.href }, depth);
    case "plain": return html`<p class="as-written">${token.raw}</p>`;
    case "text": case "escape": return within();
    default: return token.raw;
  }
}

function drawList({ ordered, start, items }, depth) {
  const drawn = items.map((each) => html`<li>${each.task && html`<input type="checkbox" disabled checked=${each.checked} /> `}${drawAll(each.tokens, depth + 2)}</li>`);
  return ordered ? html`<ol start=${start || 1}>${drawn}</ol>` : html`<ul>${drawn}</ul>`;
}

function drawTable({ header, rows }, depth) {
  const cells = (row, name) => row.map((each) => html`<${name} scope=${name === "th" ? "col" : null} style=${{ textAlign: each.align ?? "start" }}>${drawAll(each.tokens, depth + 3)}<//>`);
  return html`<div class="wide" tabindex="0"><table><thead><tr>${cells(header, "th")}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${cells(row, "td")}</tr>`)}</tbody></table></div>`;
}

/** A link that opens beside the page and tells nothing of where it was; only where it leads somewhere,
 * which is shown beside a label that does not say it. @param {string} address @param {any} label @param {number} depth */
function drawLink(address, label, depth) {
  const shown = calm(label);
  const inside = shown.tokens ? drawAll(shown.tokens, depth + 1) : shown.text;
  const place = OPENED.test(address) && URL.canParse(address) ? new URL(address) : null;
  if (!place) return inside;
  const isAddress = likeLabel(wordsOf(shown)) === likeLabel(address);
  const link = html`<a href=${place.href} target="_blank" rel="noopener noreferrer nofollow">${inside}</a>`;
  return html`<bdi>${link}${!isAddress && html` <bdi dir="ltr" class="address">(${whereOf(place)})</bdi>`}</bdi>`;
}

/** A token whose words stand in the order in which they are read. @param {any} token */
const calm = (token) => ({
  ...token, text: token.text?.replace(BIDI, "\ufffd"), raw: token.raw?.replace(BIDI, "\ufffd"), tokens: token.tokens?.map(calm),
});

/** @param {any} token @returns {string} */
const wordsOf = (token) => (token.tokens ? token.tokens.map(wordsOf).join("") : token.text ?? "");

/** @param {string} text */
const likeLabel = (text) => text.trim().replace(LABEL_LIKE, "");

/** Where an address leads, its host first. @param {URL} place */
function whereOf({ host, pathname, search, hash }) {
  const whole = `${host}${pathname === "/" ? "" : pathname}${search}${hash}`;
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST)}…` : whole;
}

// Markdown of a reply rendered as elements; HTML in a reply is shown as plain text,
// so nothing has to be sanitized.
import { html } from "../html.js";
import { CopyButton } from "./copy_button.js";
import { lexMarkdown } from "./markdown_lexer.js";

const LINKABLE = /^(?:https?:\/\/[^\s/\\]|mailto:[^\s/\\])/i; // addresses that become links; anything else stays text
const OPTIONAL_ADDRESS_PARTS = /^(?:https?:\/\/|mailto:)|\/$/gi; // parts of an address that its label may omit
const MAX_ADDRESS_CHARS = 80; // of an address shown beside a label
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g; // control characters that change the reading direction
const MAX_DEPTH = 12; // nested elements; deeper ones are shown as raw text
const HEADING_OFFSET = 3; // added to heading levels: the page's own headings rank above those of a reply

/** Renders a reply's Markdown as elements. @param {string} text */
export const renderMarkdown = (text) => renderTokens(lexMarkdown(text), 0);

/** @param {any[]} tokens @param {number} depth */
const renderTokens = (tokens, depth) => tokens.map((each) => renderToken(each, depth));

/** @param {any} token @param {number} depth */
function renderToken(token, depth) {
  if (depth > MAX_DEPTH) return token.raw;
  const renderChildren = () => (token.tokens ? renderTokens(token.tokens, depth + 1) : token.text);
  switch (token.type) {
    case "space": case "def": return null;
    case "hr": return html`<hr />`;
    case "br": return html`<br />`;
    case "heading": return html`<${`h${Math.min(6, token.depth + HEADING_OFFSET)}`} class="headed">${renderChildren()}<//>`;
    case "paragraph": return html`<p>${renderChildren()}</p>`;
    case "blockquote": return html`<blockquote>${renderChildren()}</blockquote>`;
    case "strong": return html`<strong>${renderChildren()}</strong>`;
    case "em": return html`<em>${renderChildren()}</em>`;
    case "del": return html`<del>${renderChildren()}</del>`;
    case "codespan": return html`<code>${token.text}</code>`;
    case "code": return html`<div class="code"><pre tabindex="0"><code>${token.text}</code></pre><${CopyButton} isOnHover text=${token.text} /></div>`;
    case "list": return renderList(token, depth);
    case "table": return renderTable(token, depth);
    case "link": return renderLink(token.href, token, depth);
    case "image": return renderLink(token.href, { type: "text", text: token.text || token.href }, depth);
    case "plain": return html`<p class="as-written">${token.raw}</p>`;
    case "text": case "escape": return renderChildren();
    default: return token.raw;
  }
}

function renderList({ ordered, start, items }, depth) {
  const rendered = items.map((each) => html`<li>${each.task && html`<input type="checkbox" disabled checked=${each.checked} /> `}${renderTokens(each.tokens, depth + 2)}</li>`);
  return ordered ? html`<ol start=${start || 1}>${rendered}</ol>` : html`<ul>${rendered}</ul>`;
}

function renderTable({ header, rows }, depth) {
  const cells = (row, name) => row.map((each) => html`<${name} scope=${name === "th" ? "col" : null} style=${{ textAlign: each.align ?? "start" }}>${renderTokens(each.tokens, depth + 3)}<//>`);
  return html`<div class="wide" tabindex="0"><table><thead><tr>${cells(header, "th")}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${cells(row, "td")}</tr>`)}</tbody></table></div>`;
}

/** A link that opens in a new tab without a referrer; plain text unless it is http, https or mailto. The address is
 * shown beside a label that differs from it.
 * @param {string} address @param {any} label @param {number} depth */
function renderLink(address, label, depth) {
  const safeLabel = stripBidiControls(label);
  const content = safeLabel.tokens ? renderTokens(safeLabel.tokens, depth + 1) : safeLabel.text;
  const url = LINKABLE.test(address) && URL.canParse(address) ? new URL(address) : null;
  if (!url) return content;
  const isLabelAddress = normalizeAddress(textOf(safeLabel)) === normalizeAddress(address);
  const link = html`<a href=${url.href} target="_blank" rel="noopener noreferrer nofollow">${content}</a>`;
  return html`<bdi>${link}${!isLabelAddress && html` <bdi dir="ltr" class="address">(${formatAddress(url)})</bdi>`}</bdi>`;
}

/** Returns the token with bidirectional control characters replaced. @param {any} token */
const stripBidiControls = (token) => ({
  ...token, text: token.text?.replace(BIDI_CONTROLS, "\ufffd"), raw: token.raw?.replace(BIDI_CONTROLS, "\ufffd"), tokens: token.tokens?.map(stripBidiControls),
});

/** @param {any} token @returns {string} */
const textOf = (token) => (token.tokens ? token.tokens.map(textOf).join("") : token.text ?? "");

/** @param {string} text */
const normalizeAddress = (text) => text.trim().replace(OPTIONAL_ADDRESS_PARTS, "");

/** Formats an address for display, host first, shortened to MAX_ADDRESS_CHARS. @param {URL} url */
function formatAddress({ host, pathname, search, hash }) {
  const full = `${host}${pathname === "/" ? "" : pathname}${search}${hash}`;
  return full.length > MAX_ADDRESS_CHARS ? `${full.slice(0, MAX_ADDRESS_CHARS)}…` : full;
}

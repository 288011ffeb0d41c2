// Markdown lexed by marked in small slices, so that the page stays responsive.
import { marked } from "../../vendor/marked.js";

const OPTIONS = { gfm: true, breaks: true };
const AT_ONCE = 2_500; // characters: the time that marked needs grows faster than the text
const MOST = 30_000; // characters; what comes after them is shown as it stands
const PIECE = AT_ONCE - 4; // characters of a piece of a long list or table, without the line behind it
const MOST_OF_DELIMITERS = 500; // characters
const ITEM = /^( {0,3})(?:[-*+]|\d{1,9}[.)])[ \t]/;
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*){0,40}\|?[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}(?![^\n]*`)|~{3,})/;
const KEPT = 200; // texts that were read, the last ones

/** @type {Map<string, any[]>} */
const known = new Map();

/** What a text consists of; what is too long or nested too deep is plain. @param {string} text @returns {any[]} */
export const lexMarkdown = (text) => cut(text).flatMap(read);

/** @param {string} part */
function read(part) {
  const tokens = known.get(part) ?? readAnew(part);
  known.delete(part);
  known.set(part, tokens);
  if (known.size > KEPT) known.delete(known.keys().next().value ?? "");
  return tokens;
}

/** @param {string} part @returns {any[]} */
function readAnew(part) {
  if (part.length <= AT_ONCE) {
    try {
      return marked.lexer(part, OPTIONS);
    } catch {
      // nested too deep: as it was written
    }
  }
  return [codeOf(part) ?? { type: "plain", raw: part }];
}

/** Long code, which marked need not read. @param {string} part */
function codeOf(part) {
  const lines = part.trimEnd().split("\n");
  const fence = FENCE.exec(lines[0])?.[1];
  if (!fence) return null;
  const isClosed = lines.length > 1 && lines[lines.length - 1].trim() === fence;
  return { type: "code", text: lines.slice(1, isClosed ? -1 : undefined).join("\n") };
}

/** A reply in parts that are read quickly; long ones are cut between blocks, and long blocks within. @param {string} text */
function cut(text) {
  if (text.length <= AT_ONCE) return [text];
  const parts = [""];
  let length = 0;
  for (const block of blocks(text).flatMap((each) => (each.length > AT_ONCE && !FENCE.test(each) ? pieces(each) : [each]))) {
    length += block.length;
    const isOver = length > MOST && length - block.length <= MOST;
    if (isOver || (length <= MOST && parts[parts.length - 1].length + block.length > AT_ONCE)) parts.push("");
    parts[parts.length - 1] += block;
  }
  return parts.filter(Boolean);
}

/** A long block in pieces: a list between its items, a table between its rows, each with the heading; any other as it is.
 * @param {string} block @returns {string[]} */
function pieces(block) {
  const lines = block.split(/(?<=\n)/);
  const indent = ITEM.exec(lines[0])?.[1].length ?? -1;
  const second = lines[1] ?? "";
  const head = second.length <= MOST_OF_DELIMITERS && DELIMITERS.test(second.trimEnd()) ? lines.slice(0, 2).join("") : "";
  if (indent < 0 && !head) return [block];
  const opens = (line) => Boolean(head) || (ITEM.exec(line)?.[1].length ?? Infinity) <= indent;
  const found = [""];
  for (const line of head ? lines.slice(2) : lines) {
    const last = found[found.length - 1];
    if (last && opens(line) && head.length + last.length + line.length > PIECE) found.push(line);
    else found[found.length - 1] += line;
  }
  return found.map((each) => `${head}${each.endsWith("\n") ? each : `${each}\n`}\n`);
}

/** The blocks of a text, each with the empty lines behind it; code is one. @param {string} text */
function blocks(text) {
  const found = [""];
  let fence = "";
  for (const line of text.split(/(?<=\n)/)) {
    const marks = FENCE.exec(line)?.[1] ?? "";
    const isBlank = !line.trim();
    const last = found[found.length - 1];
    if (!fence && marks && last) found.push(line);
    else if (!fence && !isBlank && last.endsWith("\n\n")) found.push(line);
    else found[found.length - 1] += line;
    if (!fence) fence = marks;
    else if (line.trim() === fence) {
      fence = "";
      found.push("");
    }
  }
  return found.filter(Boolean);
}


// Markdown lexed by marked in small slices, so that the page stays responsive.
import { marked } from "../../vendor/marked.js";

const OPTIONS = { gfm: true, breaks: true };
const MAX_LEX_CHARS = 2_500; // lexed in one call: the time that marked needs grows faster than the text
const MAX_REPLY_CHARS = 30_000; // the rest of a reply is shown as plain text
const MAX_SLICE_CHARS = MAX_LEX_CHARS - 4; // of a slice of a long list or table, without the newlines added after it
const MAX_DELIMITER_ROW_CHARS = 500;
const LIST_ITEM = /^( {0,3})(?:[-*+]|\d{1,9}[.)])[ \t]/;
const DELIMITER_ROW = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*){0,40}\|?[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}(?![^\n]*`)|~{3,})/;
const CACHE_SIZE = 200; // most recently used texts

/** @type {Map<string, any[]>} */
const cache = new Map();

/** Returns the tokens of a text; parts that are too long or nested too deep become one `plain` token.
 * @param {string} text @returns {any[]} */
export const lexMarkdown = (text) => splitReply(text).flatMap(lexCached);

/** @param {string} part */
function lexCached(part) {
  const tokens = cache.get(part) ?? lexPart(part);
  cache.delete(part);
  cache.set(part, tokens);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value ?? "");
  return tokens;
}

/** @param {string} part @returns {any[]} */
function lexPart(part) {
  if (part.length <= MAX_LEX_CHARS) {
    try {
      return marked.lexer(part, OPTIONS);
    } catch {
      // nested too deep: shown as plain text
    }
  }
  return [parseLongCode(part) ?? { type: "plain", raw: part }];
}

/** Returns the token of a long fenced code block without calling marked; null if the part is not one. @param {string} part */
function parseLongCode(part) {
  const lines = part.trimEnd().split("\n");
  const fence = FENCE.exec(lines[0])?.[1];
  if (!fence) return null;
  const isClosed = lines.length > 1 && lines[lines.length - 1].trim() === fence;
  return { type: "code", text: lines.slice(1, isClosed ? -1 : undefined).join("\n") };
}

/** Splits a reply into parts that lex quickly: between blocks, and within long blocks. @param {string} text */
function splitReply(text) {
  if (text.length <= MAX_LEX_CHARS) return [text];
  const parts = [""];
  let length = 0;
  for (const block of splitIntoBlocks(text).flatMap((each) => (each.length > MAX_LEX_CHARS && !FENCE.test(each) ? sliceBlock(each) : [each]))) {
    length += block.length;
    const crossesLimit = length > MAX_REPLY_CHARS && length - block.length <= MAX_REPLY_CHARS;
    if (crossesLimit || (length <= MAX_REPLY_CHARS && parts[parts.length - 1].length + block.length > MAX_LEX_CHARS)) parts.push("");
    parts[parts.length - 1] += block;
  }
  return parts.filter(Boolean);
}

/** Splits a long block: a list between its items, a table between its rows, repeating the head; any other block stays
 * whole.
 * @param {string} block @returns {string[]} */
function sliceBlock(block) {
  const lines = block.split(/(?<=\n)/);
  const indent = LIST_ITEM.exec(lines[0])?.[1].length ?? -1;
  const second = lines[1] ?? "";
  const head = second.length <= MAX_DELIMITER_ROW_CHARS && DELIMITER_ROW.test(second.trimEnd()) ? lines.slice(0, 2).join("") : "";
  if (indent < 0 && !head) return [block];
  const startsSlice = (line) => Boolean(head) || (LIST_ITEM.exec(line)?.[1].length ?? Infinity) <= indent;
  const slices = [""];
  for (const line of head ? lines.slice(2) : lines) {
    const last = slices[slices.length - 1];
    if (last && startsSlice(line) && head.length + last.length + line.length > MAX_SLICE_CHARS) slices.push(line);
    else slices[slices.length - 1] += line;
  }
  return slices.map((each) => `${head}${each.endsWith("\n") ? each : `${each}\n`}\n`);
}

/** Splits a text into blocks, each with the blank lines after it; fenced code is one block. @param {string} text */
function splitIntoBlocks(text) {
  const result = [""];
  let fence = "";
  for (const line of text.split(/(?<=\n)/)) {
    const marker = FENCE.exec(line)?.[1] ?? "";
    const isBlank = !line.trim();
    const last = result[result.length - 1];
    if (!fence && marker && last) result.push(line);
    else if (!fence && !isBlank && last.endsWith("\n\n")) result.push(line);
    else result[result.length - 1] += line;
    if (!fence) fence = marker;
    else if (line.trim() === fence) {
      fence = "";
      result.push("");
    }
  }
  return result.filter(Boolean);
}


// Elements by htm over Preact; signals make them follow what they show.
import { h } from "../vendor/preact.js";
import "../vendor/signals.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);

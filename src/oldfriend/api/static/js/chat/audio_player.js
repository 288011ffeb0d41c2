// The player of a spoken message; its audio is loaded on demand.
import { useEffect, useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";

const YOUNG_MS = 60_000; // with a ticket as young as that something else is wrong
let held = null; // {ticket, at}: one for all recordings, as a promise

/** A ticket for recordings; a new one where it has become too old. @param {boolean} [isRefused] */
function ticketNow(isRefused) {
  const age = held ? performance.now() - held.at : 0;
  if (held && !(isRefused && age > YOUNG_MS)) return held.ticket;
  const mine = { ticket: api.ticketFor("sound"), at: performance.now() };
  held = mine;
  mine.ticket.catch(() => held === mine && (held = null));
  return mine.ticket;
}

/** @param {{message: any, label: string}} given */
export function AudioPlayer({ message, label }) {
  const [ticket, setTicket] = useState("");
  useEffect(() => void ticketNow().then(setTicket, () => {}), []);
  const goOn = async ({ target }) => {
    const now = await ticketNow(true).catch(() => ticket);
    if (now === ticket) return;
    const at = target.currentTime;
    target.addEventListener("loadedmetadata", () => (target.currentTime = at), { once: true });
    setTicket(now);
    setTimeout(() => target.play().catch(() => {}));
  };
  if (!ticket) return null;
  return html`<audio class="sound" controls preload="none" src=${api.soundOf(message.id, ticket)} aria-label=${label} onError=${goOn}></audio>`;
}

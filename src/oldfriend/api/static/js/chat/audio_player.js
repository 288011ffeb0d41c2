// The player of a spoken message; its audio is loaded on demand.
import { useEffect, useState } from "../../vendor/hooks.js";
import { api } from "../api.js";
import { html } from "../html.js";

const MIN_TICKET_AGE_MS = 60_000; // playback that fails with a younger ticket fails for another reason
let cached = null; // {ticket: Promise<string>, at: ms}, shared by all recordings

/** Returns the ticket for recordings; requests a new one if the current one was refused and is old enough to have
 * expired.
 * @param {boolean} [isRefused] */
function loadTicket(isRefused) {
  const age = cached ? performance.now() - cached.at : 0;
  if (cached && !(isRefused && age > MIN_TICKET_AGE_MS)) return cached.ticket;
  const entry = { ticket: api.createTicket("sound"), at: performance.now() };
  cached = entry;
  entry.ticket.catch(() => cached === entry && (cached = null));
  return entry.ticket;
}

/** @param {{message: any, label: string}} props */
export function AudioPlayer({ message, label }) {
  const [ticket, setTicket] = useState("");
  useEffect(() => void loadTicket().then(setTicket, () => {}), []);
  const retryWithNewTicket = async ({ target }) => {
    const newTicket = await loadTicket(true).catch(() => ticket);
    if (newTicket === ticket) return;
    const position = target.currentTime;
    target.addEventListener("loadedmetadata", () => (target.currentTime = position), { once: true });
    setTicket(newTicket);
    setTimeout(() => target.play().catch(() => {}));
  };
  if (!ticket) return null;
  return html`<audio class="sound" controls preload="none" src=${api.recordingUrl(message.id, ticket)} aria-label=${label} onError=${retryWithNewTicket}></audio>`;
}

// welcome.
import { html } from "../html.js";

export default function Welcome() {
  return html`<p></p>`;
}

// Import & export: files in, with a preview; everything out.
import { useEffect, useState } from "../../vendor/hooks.js";
import { signal } from "../../vendor/signals.js";
import { LearningProgress } from "../imports/learning_progress.js";
import { downloadExport } from "../api.js";
import * as importsApi from "../imports/api.js";
import { Calendar } from "../imports/calendar.js";
import { formatImport, Upload } from "../imports/upload.js";
import { html } from "../html.js";
import { followLink } from "../router.js";
import { ConfirmButton } from "../settings/form_parts.js";
import { formatShortDay, t } from "../i18n.js";

const INSTRUCTIONS = ["bring_how_whatsapp", "bring_how_telegram", "bring_how_chatgpt", "bring_how_claude"];
const error = signal("");
const undoResult = signal(null);

/** Run an action and return its result; if it fails, show the error and return null. @param {() => Promise<unknown>} action */
async function attempt(action) {
  error.value = "";
  try {
    return await action();
  } catch (failure) {
    error.value = failure.message || t("lost");
    return null;
  }
}

export default function Bring() {
  useEffect(() => {
    attempt(importsApi.startPolling);
    return importsApi.stopPolling;
  }, []);
  return html`<div class="bring">
    <h2>${t("bring_title")}</h2>
    <p class="lead">${t("bring_lead")}</p>
    <${DropArea} />
    ${error.value && html`<p class="bad" role="alert">${error.value}</p>`}
    <ul role="list" class="parcels" aria-live="polite">
      ${importsApi.uploading.value.map((each) => html`<${UploadProgress} key=${each.name} ...${each} />`)}
      ${importsApi.calendars.value.map((each) => html`<${Calendar} key=${each.file.name} calendar=${each} attempt=${attempt} />`)}
      ${importsApi.uploads.value.map((each) => html`<${Upload} key=${each.id} file=${each} attempt=${attempt} />`)}
    </ul>
    ${importsApi.learning.value && html`<${LearningProgress} old=${importsApi.learning.value} attempt=${attempt} />`}
    <${ImportList} />
    <${ExportSection} />
  </div>`;
}

function DropArea() {
  const [isOver, setIsOver] = useState(false);
  const onDrop = (event) => {
    event.preventDefault();
    setIsOver(false);
    importsApi.uploadFiles(event.dataTransfer.files);
  };
  const onDragOver = (event) => {
    event.preventDefault();
    setIsOver(true);
  };
  return html`<div class=${`drop ${isOver ? "is-over" : ""}`} onDrop=${onDrop} onDragOver=${onDragOver} onDragLeave=${() => setIsOver(false)}>
      <label class="choose"><input class="visually-hidden" type="file" multiple
        onChange=${({ target }) => importsApi.uploadFiles([...target.files]).then(() => (target.value = ""))} /><span>${t("bring_choose")}</span></label>
      <p class="meta">${t("bring_drop")}</p>
    </div>
    <details class="meta"><summary>${t("bring_how")}</summary>
      <ul>${INSTRUCTIONS.map((each) => html`<li key=${each}>${t(each)}</li>`)}</ul></details>`;
}

function UploadProgress({ name, percent, why }) {
  return html`<li class="parcel"><p>${why ? name : t("bring_sending", { name, percent })}</p>
    ${why
      ? html`<p class="bad" role="alert">${why} <button class="quiet" onClick=${() => importsApi.dismissUpload(name)}>${t("bring_put_away")}</button></p>`
      : html`<progress max="100" value=${percent} aria-label=${name}></progress>`}</li>`;
}

function ImportList() {
  const list = importsApi.imports.value;
  if (list === null) return null;
  const undo = async (number) => {
    const result = await attempt(() => importsApi.undoImport(number));
    if (result) undoResult.value = result;
  };
  return html`<section><h3>${t("bring_imports")}</h3>
    ${undoResult.value && html`<p class="taken-back" role="status">${t(undoResult.value.tasks ? "bring_undone_calendar" : "bring_undone", undoResult.value)}
      ${undoResult.value.overlapping.length > 0 && t("bring_overlapping", { numbers: undoResult.value.overlapping.join(", ") })}</p>`}
    ${list.length === 0 && html`<p class="empty">${t("bring_imports_empty")}</p>`}
    <ul role="list">${list.map((each) => html`<li class="import" key=${each.number}>
      <div><p>${each.file || t("bring_import_nameless")}</p><p class="meta">${formatImport({ format: each.format, added: each.added, when: formatShortDay(each.at) })}
        ${each.status === "running" && ` · ${t("bring_import_running")}`}</p></div>
      ${each.status === "undone"
        ? html`<span class="meta">${t("bring_import_undone")}</span>`
        : html`<${ConfirmButton} label=${t("bring_undo")} name=${each.file} question=${t(each.format === "calendar" ? "bring_undo_ask_calendar" : "bring_undo_ask")} onConfirm=${() => undo(each.number)} />`}</li>`)}</ul></section>`;
}

function ExportSection() {
  return html`<section><h3>${t("bring_take")}</h3><p>${t("bring_take_lead")}</p>
      <p class="choices"><button onClick=${() => attempt(downloadExport)}>${t("bring_take_mine")}</button></p></section>
    <section><h3>${t("bring_forget")}</h3><p>${t("bring_forget_lead")}</p>
      <p><a class="button" href="/forget" onClick=${followLink}>${t("bring_forget_go")}</a></p></section>`;
}


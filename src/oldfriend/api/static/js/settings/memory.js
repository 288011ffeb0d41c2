// Memory: learning, reflecting, and how long messages are kept.
import { html } from "../html.js";
import { t } from "../i18n.js";
import { SettingField } from "./install_settings.js";
import { Section } from "./form_parts.js";

export function MemorySection() {
  return html`<${Section} id="thinking" title=${t("settings_memory")} lead=${t("settings_memory_lead")}>
    <${SettingField} name="memory.forms" kind="toggle" label=${t("settings_forms")} hint=${t("settings_forms_hint")} />
    <${SettingField} name="memory.thinks" kind="toggle" label=${t("settings_thinks")} hint=${t("settings_thinks_hint")} />
    <${SettingField} name="memory.imports_by_model" kind="toggle" label=${t("settings_imports_by_model")} hint=${t("settings_imports_by_model_hint")} />
    <${SettingField} name="memory.read_every_turns" kind="number" label=${t("settings_read_every")} unit=${t("settings_turns")} hint=${t("settings_read_every_hint")} />
      <${SettingField} name="memory.read_within_days" kind="number" label=${t("settings_read_within")} unit=${t("settings_days")} hint=${t("settings_read_within_hint")} />
    <${SettingField} name="retention.messages_days" kind="number" label=${t("settings_retention")} unit=${t("settings_days")} hint=${t("settings_retention_hint")}
      ask=${(days) => (days === null ? "" : t("settings_retention_ask", { days }))} />
  </${Section}>`;
}

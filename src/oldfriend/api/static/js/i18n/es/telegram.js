// Telegram.
export default {
  telegram_title: "Telegram",
  telegram_lead: "Habla conmigo desde el teléfono; la memoria es la misma.",
  telegram_allowed_hint: "Números de usuarios de Telegram, separados por comas; no necesitan código.",
  telegram_bot_make: "En Telegram, escribe /newbot a @BotFather. Te dará un token.",
  telegram_bot_reads: "Lo que se le dice a un bot pasa por los servidores de Telegram, que pueden leerlo.",
};

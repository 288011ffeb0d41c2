// Telegram.
export default {
  telegram_title: "Telegram",
  telegram_lead: "Parle-moi depuis ton téléphone ; c’est la même mémoire.",
  telegram_allowed_hint: "Numéros d’utilisateurs Telegram, séparés par des virgules ; ils n’ont pas besoin de code.",
  telegram_bot_make: "Sur Telegram, écris /newbot à @BotFather. Il te donne un jeton.",
  telegram_bot_reads: "Ce qu’on dit à un bot passe par les serveurs de Telegram, qui peuvent le lire.",
};

// Telegram, in English.
export default {
  telegram_title: "Telegram",
  telegram_lead: "Talk to me from your phone; it is the same memory.",
  telegram_allowed_hint: "Numbers of Telegram users, with commas; they need no code.",
  telegram_bot_make: "On Telegram, write /newbot to @BotFather. It gives you a token.",
  telegram_bot_reads: "What is said to a bot passes through Telegram's servers, and they can read it.",
};

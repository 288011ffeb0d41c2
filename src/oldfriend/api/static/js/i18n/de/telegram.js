// Telegram.
export default {
  telegram_title: "Telegram",
  telegram_lead: "Sprich vom Handy aus mit mir; es ist dasselbe Gedächtnis.",
  telegram_allowed_hint: "Nummern von Telegram-Nutzern, mit Komma getrennt; sie brauchen keinen Code.",
  telegram_bot_make: "Schreib bei Telegram /newbot an @BotFather. Von ihm bekommst du ein Token.",
  telegram_bot_reads: "Was man einem Bot schreibt, läuft über die Server von Telegram und kann dort gelesen werden.",
};

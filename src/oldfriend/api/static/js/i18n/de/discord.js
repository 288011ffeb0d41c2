// Discord.
export default {
  discord_title: "Discord",
  discord_lead: "Schreib mir auf Discord privat (wähle mich in der Mitgliederliste eines Servers und dann „Nachricht“), oder erwähne mich in einem Kanal.",
  discord_allowed_hint: "Nummern von Discord-Nutzern oder -Kanälen, mit Komma getrennt; sie brauchen keinen Code.",
  discord_bot_make: "Wähle auf discord.com/developers/applications „New Application“, dann „Bot“ und „Reset Token“. Öffne unter „Installation“ den Link und füge den Bot dir selbst oder einem Server hinzu.",
  discord_bot_reads: "Was man einem Bot schreibt, läuft über die Server von Discord und kann dort gelesen werden.",
};

// WhatsApp.
export default {
  whatsapp_title: "WhatsApp",
  whatsapp_lead: "Sprich auf WhatsApp mit mir; es ist dasselbe Gedächtnis.",
  whatsapp_allowed_hint: "Telefonnummern mit Landesvorwahl, mit Komma getrennt; sie brauchen keinen Code.",
  whatsapp_bot_make: "Leg auf developers.facebook.com eine App mit WhatsApp an. Dort findest du Telefonnummer-ID, Zugriffstoken und App-Geheimnis; das Prüfwort denkst du dir aus, schreib es dir also auf. Trag zuerst alle vier hier unten ein. Dann kommen Callback-URL und Prüfwort in die Webhook-Einstellungen der App: Die URL ist die HTTPS-Adresse deines Proxys mit /api/whatsapp am Ende, und der Proxy leitet sie an Port {port} dieses Rechners weiter. Veröffentliche zuletzt die App, sonst kommt nichts von dem an, was jemand schreibt.",
  whatsapp_bot_reads: "Was man einer solchen Nummer schreibt, kann Meta lesen.",
  whatsapp_credential_token: "Zugriffstoken",
  whatsapp_credential_phone_number_id: "Telefonnummer-ID",
  whatsapp_credential_app_secret: "App-Geheimnis",
  whatsapp_credential_verify_token: "Prüfwort (denk dir eins aus)",
};

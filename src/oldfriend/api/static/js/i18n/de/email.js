// E-mail.
export default {
  email_title: "E-Mail",
  email_lead: "Schreib mir Briefe; es ist dasselbe Gedächtnis.",
  email_allowed_hint: "E-Mail-Adressen anderer, die schreiben dürfen, mit Komma getrennt.",
  email_needed: "Name deines Mailservers",
  email_needed_hint: "So, wie er in eingehenden E-Mails seine Prüfung der Absender kennzeichnet (Authentication-Results). Solange ich ihn nicht kenne, glaube ich keiner E-Mail.",
  email_needed_look: "In den eingegangenen E-Mails nachsehen",
  email_bot_make: "Richte ein Postfach ein, das nur mir gehört. Mit zweitem Faktor verlangt der Anbieter ein App-Passwort.",
  email_bot_reads: "E-Mails laufen über die Server beider Anbieter und können dort gelesen werden.",
  email_credential_address: "Meine Adresse",
  email_credential_password: "Passwort oder App-Passwort",
  email_credential_imap: "Server zum Lesen (imap.example.org)",
  email_credential_smtp: "Server zum Senden (smtp.example.org)",
};

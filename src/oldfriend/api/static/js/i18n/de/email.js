// E-mail.
export default {
  email_title: "E-Mail",
  email_lead: "Schreib mir Briefe; es ist dasselbe Gedächtnis.",
  email_allowed_hint: "E-Mail-Adressen derer, die schreiben dürfen, mit Komma getrennt. Deine eigene: Führe einmal „oldfriend connect email“ aus, damit ihre Briefe als deine gelten.",
  email_bot_make: "Richte ein Postfach ein, das nur mir gehört. Mit zweitem Faktor verlangt der Anbieter ein App-Passwort.",
  email_bot_reads: "E-Mails laufen über die Server beider Anbieter und können dort gelesen werden.",
  email_credential_address: "Meine Adresse",
  email_credential_password: "Passwort oder App-Passwort",
  email_credential_imap: "Server zum Lesen (imap.example.org)",
  email_credential_smtp: "Server zum Senden (smtp.example.org)",
};

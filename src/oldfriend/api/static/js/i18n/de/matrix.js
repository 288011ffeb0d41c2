// Matrix.
export default {
  matrix_title: "Matrix",
  matrix_lead: "Sprich aus Element oder einer anderen Matrix-App mit mir, verschlüsselt; es ist dasselbe Gedächtnis.",
  matrix_allowed_hint: "Nutzer und Räume bei Matrix, wie @ana:example.org, mit Komma getrennt; sie brauchen keinen Code.",
  matrix_bot_make: "Leg auf einem Homeserver, der ein Passwort nimmt, ein Konto für mich an, das sonst nichts benutzt.",
  matrix_bot_reads: "In verschlüsselten Räumen kann der Homeserver nicht lesen, was gesagt wird, nur wer wann mit wem spricht.",
  matrix_credential_homeserver: "Adresse des Homeservers",
  matrix_credential_user: "Mein Nutzername, wie @friend:matrix.org",
  matrix_credential_password: "Mein Passwort",
};

// Matrix, in English.
export default {
  matrix_title: "Matrix",
  matrix_lead: "Talk to me from Element or another Matrix app, encrypted; it is the same memory.",
  matrix_allowed_hint: "Matrix users and rooms, such as @ana:example.org, with commas; they need no code.",
  matrix_bot_make: "Create an account for me on any homeserver that takes a password, and let nothing else use it.",
  matrix_bot_reads: "In encrypted rooms the homeserver cannot read what is said, only who talks when and with whom.",
  matrix_credential_homeserver: "Address of the homeserver",
  matrix_credential_user: "My user, such as @friend:matrix.org",
  matrix_credential_password: "My password",
};

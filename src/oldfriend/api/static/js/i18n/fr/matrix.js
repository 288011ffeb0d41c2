// Matrix.
export default {
  matrix_title: "Matrix",
  matrix_lead: "Parle-moi depuis Element ou une autre application Matrix, chiffré ; c’est la même mémoire.",
  matrix_allowed_hint: "Utilisateurs et salons Matrix, comme @ana:example.org, séparés par des virgules ; ils n’ont pas besoin de code.",
  matrix_bot_make: "Crée-moi un compte sur un serveur Matrix qui accepte un mot de passe, et que rien d’autre ne l’utilise.",
  matrix_bot_reads: "Dans les salons chiffrés, le serveur ne peut pas lire ce qui est dit, seulement qui parle quand et avec qui.",
  matrix_credential_homeserver: "Adresse du serveur",
  matrix_credential_user: "Mon identifiant, comme @friend:matrix.org",
  matrix_credential_password: "Mon mot de passe",
};

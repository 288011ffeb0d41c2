// Matrix.
export default {
  matrix_title: "Matrix",
  matrix_lead: "Habla conmigo desde Element u otra aplicación de Matrix, con cifrado; la memoria es la misma.",
  matrix_allowed_hint: "Usuarios y salas de Matrix, como @ana:example.org, separados por comas; no necesitan código.",
  matrix_bot_make: "Crea para mí una cuenta en un servidor de Matrix que acepte contraseña, y que no la use nada más.",
  matrix_bot_reads: "En salas cifradas el servidor no puede leer lo que se dice, solo quién habla cuándo y con quién.",
  matrix_credential_homeserver: "Dirección del servidor",
  matrix_credential_user: "Mi usuario, como @friend:matrix.org",
  matrix_credential_password: "Mi contraseña",
};

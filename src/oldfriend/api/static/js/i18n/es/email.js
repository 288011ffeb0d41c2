// E-mail.
export default {
  email_title: "Correo",
  email_lead: "Escríbeme cartas; la memoria es la misma.",
  email_allowed_hint: "Direcciones de quienes pueden escribir, separadas por comas. Para la tuya, ejecuta una vez «oldfriend connect email», y sus cartas contarán como tuyas.",
  email_bot_make: "Crea un buzón que sea solo mío. Si usa un segundo factor, el proveedor pide una contraseña de aplicación.",
  email_bot_reads: "El correo pasa por los servidores de ambos proveedores, que pueden leerlo.",
  email_credential_address: "Mi dirección",
  email_credential_password: "Contraseña, o contraseña de aplicación",
  email_credential_imap: "Servidor para leer (imap.example.org)",
  email_credential_smtp: "Servidor para enviar (smtp.example.org)",
};

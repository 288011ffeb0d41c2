// E-mail.
export default {
  email_title: "Correo",
  email_lead: "Escríbeme cartas; la memoria es la misma.",
  email_allowed_hint: "Direcciones de otras personas que pueden escribir, separadas por comas.",
  email_needed: "Nombre de tu servidor de correo",
  email_needed_hint: "Tal como firma sus comprobaciones del remitente en los correos que llegan (Authentication-Results). Mientras no lo sepa, no creo ningún correo.",
  email_needed_look: "Mirar en los correos recibidos",
  email_bot_make: "Crea un buzón que sea solo mío. Si usa un segundo factor, el proveedor pide una contraseña de aplicación.",
  email_bot_reads: "El correo pasa por los servidores de ambos proveedores, que pueden leerlo.",
  email_credential_address: "Mi dirección",
  email_credential_password: "Contraseña, o contraseña de aplicación",
  email_credential_imap: "Servidor para leer (imap.example.org)",
  email_credential_smtp: "Servidor para enviar (smtp.example.org)",
};

// WhatsApp.
export default {
  whatsapp_title: "WhatsApp",
  whatsapp_lead: "Habla conmigo en WhatsApp; la memoria es la misma.",
  whatsapp_allowed_hint: "Números de teléfono con prefijo, separados por comas; no necesitan código.",
  whatsapp_bot_make: "En developers.facebook.com, crea una aplicación con WhatsApp. Te muestra el identificador del número, un token de acceso y la clave secreta; la palabra de verificación la inventas tú, así que apúntala. Primero rellena las cuatro aquí abajo. Después pon en el webhook de la aplicación la URL de devolución y la palabra de verificación: la URL es la dirección HTTPS de tu proxy, acabada en /api/whatsapp, y el proxy la pasa al puerto {port} de este equipo. Por último publica la aplicación, o no llegará nada de lo que se escriba.",
  whatsapp_bot_reads: "Meta puede leer lo que se le escribe a un número así.",
  whatsapp_credential_token: "Token de acceso",
  whatsapp_credential_phone_number_id: "Identificador del número",
  whatsapp_credential_app_secret: "Clave secreta de la aplicación",
  whatsapp_credential_verify_token: "Palabra de verificación (la que tú inventes)",
};

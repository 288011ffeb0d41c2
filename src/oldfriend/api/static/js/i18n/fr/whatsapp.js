// WhatsApp.
export default {
  whatsapp_title: "WhatsApp",
  whatsapp_lead: "Parle-moi sur WhatsApp ; c’est la même mémoire.",
  whatsapp_allowed_hint: "Numéros de téléphone avec indicatif, séparés par des virgules ; ils n’ont pas besoin de code.",
  whatsapp_bot_make: "Sur developers.facebook.com, crée une application avec WhatsApp. Elle te montre l’identifiant du numéro, un jeton d’accès et la clé secrète ; le mot de vérification, tu l’inventes : note-le. Remplis d’abord les quatre ci-dessous. Mets ensuite l’URL de rappel et le mot de vérification dans le webhook de l’application : l’URL est l’adresse HTTPS de ton proxy, terminée par /api/whatsapp, et le proxy la transmet au port {port} de cette machine. Publie enfin l’application, sinon rien de ce qu’on écrit n’arrive.",
  whatsapp_bot_reads: "Meta peut lire ce qu’on écrit à un tel numéro.",
  whatsapp_credential_token: "Jeton d’accès",
  whatsapp_credential_phone_number_id: "Identifiant du numéro",
  whatsapp_credential_app_secret: "Clé secrète de l’application",
  whatsapp_credential_verify_token: "Mot de vérification (à inventer)",
};

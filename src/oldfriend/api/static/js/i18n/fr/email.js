// E-mail.
export default {
  email_title: "Courriel",
  email_lead: "Écris-moi des lettres ; c’est la même mémoire.",
  email_allowed_hint: "Adresses d’autres personnes qui peuvent écrire, séparées par des virgules.",
  email_needed: "Nom de ton serveur de messagerie",
  email_needed_hint: "Tel qu’il signe ses vérifications d’expéditeur dans les e-mails reçus (Authentication-Results). Tant que je ne le connais pas, je ne crois aucun e-mail.",
  email_needed_look: "Regarder dans les e-mails reçus",
  email_bot_make: "Crée une boîte qui ne soit qu’à moi. Avec un second facteur, le fournisseur demande un mot de passe d’application.",
  email_bot_reads: "Les e-mails passent par les serveurs des deux fournisseurs, qui peuvent les lire.",
  email_credential_address: "Mon adresse",
  email_credential_password: "Mot de passe, ou mot de passe d’application",
  email_credential_imap: "Serveur de lecture (imap.example.org)",
  email_credential_smtp: "Serveur d’envoi (smtp.example.org)",
};

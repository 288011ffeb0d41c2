// WhatsApp, in English.
export default {
  whatsapp_title: "WhatsApp",
  whatsapp_lead: "Talk to me on WhatsApp; it is the same memory.",
  whatsapp_allowed_hint: "Phone numbers with country codes, with commas; they need no code.",
  whatsapp_bot_make: "On developers.facebook.com, make an app with WhatsApp. It shows you a phone number ID, an access token and the app secret; the verify token is a word that you make up, so write it down. First fill in all four below. Then put the callback URL and the verify token into the app's webhook settings: the URL is the HTTPS address of your proxy, ending in /api/whatsapp, which the proxy passes on to port {port} of this machine. Last, publish the app, or nothing that anybody writes arrives.",
  whatsapp_bot_reads: "Meta can read what is said to a number of this kind.",
  whatsapp_credential_token: "Access token",
  whatsapp_credential_phone_number_id: "Phone number ID",
  whatsapp_credential_app_secret: "App secret",
  whatsapp_credential_verify_token: "Verify token (a word that you make up)",
};

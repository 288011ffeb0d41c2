// Slack.
export default {
  slack_title: "Slack",
  slack_lead: "Habla conmigo en tu espacio de Slack; la memoria es la misma.",
  slack_allowed_hint: "Identificadores de miembros y canales de Slack (U…, C…), separados por comas; no necesitan código.",
  slack_bot_make: "En api.slack.com/apps, elige «Create New App» y «From a manifest», y pega el manifiesto de docs/how-to/slack.md (oldfriend connect slack muestra un enlace que lo hace). Instala la app: así obtienes el token del bot. En «App-Level Tokens», genera un token con el permiso connections:write.",
  slack_bot_reads: "Lo que se le dice a una app pasa por los servidores de Slack, que pueden leerlo; quizá también los propietarios del espacio.",
  slack_credential_bot_token: "Token del bot (xoxb-…)",
  slack_credential_app_token: "Token de la app (xapp-…)",
};

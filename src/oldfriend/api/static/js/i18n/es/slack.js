// Slack.
export default {
  slack_title: "Slack",
  slack_lead: "Habla conmigo en tu espacio de Slack; la memoria es la misma.",
  slack_allowed_hint: "Identificadores de miembros y canales de Slack (U…, C…), separados por comas; no necesitan código.",
  slack_bot_make: "Abre el enlace de abajo, elige tu espacio de trabajo y crea la app. Instálala: así obtienes el token del bot. En «App-Level Tokens», genera un token con el permiso connections:write.",
  slack_bot_reads: "Lo que se le dice a una app pasa por los servidores de Slack, que pueden leerlo; quizá también los propietarios del espacio.",
  slack_credential_bot_token: "Token del bot (xoxb-…)",
  slack_credential_app_token: "Token de la app (xapp-…)",
};

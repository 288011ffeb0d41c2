// Slack.
export default {
  slack_title: "Slack",
  slack_lead: "Parle-moi dans ton espace Slack ; c’est la même mémoire.",
  slack_allowed_hint: "Identifiants de membres et de canaux Slack (U…, C…), séparés par des virgules ; ils n’ont pas besoin de code.",
  slack_bot_make: "Ouvre le lien ci-dessous, choisis ton espace de travail et crée l’application. Installe-la : tu obtiens le jeton du bot. Sous « App-Level Tokens », crée un jeton avec la portée connections:write.",
  slack_bot_reads: "Ce qu’on dit à une application passe par les serveurs de Slack, qui peuvent le lire ; les propriétaires de l’espace aussi, peut-être.",
  slack_credential_bot_token: "Jeton du bot (xoxb-…)",
  slack_credential_app_token: "Jeton de l’application (xapp-…)",
};

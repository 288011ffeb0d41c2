// Slack.
export default {
  slack_title: "Slack",
  slack_lead: "Sprich in deinem Slack-Workspace mit mir; es ist dasselbe Gedächtnis.",
  slack_allowed_hint: "IDs von Mitgliedern und Channels in Slack (U…, C…), mit Komma getrennt; sie brauchen keinen Code.",
  slack_bot_make: "Öffne den Link unten, wähle deinen Workspace und lege die App an. Installiere sie: Dann bekommst du das Bot-Token. Unter „App-Level Tokens“ erzeugst du ein Token mit dem Scope connections:write.",
  slack_bot_reads: "Was man einer App schreibt, läuft über die Server von Slack und kann dort gelesen werden, eventuell auch von den Inhabern des Workspace.",
  slack_credential_bot_token: "Bot-Token (xoxb-…)",
  slack_credential_app_token: "App-Token (xapp-…)",
};

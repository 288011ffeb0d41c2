// Slack, in English.
export default {
  slack_title: "Slack",
  slack_lead: "Talk to me in your Slack workspace; it is the same memory.",
  slack_allowed_hint: "Ids of members and channels of Slack (U…, C…), with commas; they need no code.",
  slack_bot_make: "Open the link below, choose your workspace, and create the app. Install it: that gives you the bot token. Under App-Level Tokens, generate a token with the scope connections:write.",
  slack_bot_reads: "What is said to an app passes through Slack's servers; they can read it, and the owners of the workspace may, too.",
  slack_credential_bot_token: "Bot token (xoxb-…)",
  slack_credential_app_token: "App-level token (xapp-…)",
};

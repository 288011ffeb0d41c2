// Slack, in Chinese.
export default {
  slack_title: "Slack",
  slack_lead: "在 Slack 工作区里与它聊，同一份记忆。",
  slack_allowed_hint: "Slack 成员和频道的 ID（U…、C…），用逗号隔开；无需配对码。",
  slack_bot_make: "打开下面的链接，选择你的工作区并创建应用。安装后会得到机器人令牌；再到 App-Level Tokens 生成一个带 connections:write 权限的令牌。",
  slack_bot_reads: "与应用的对话经过 Slack 的服务器，他们能看到；工作区的所有者也可能看到。",
  slack_credential_bot_token: "机器人令牌（xoxb-…）",
  slack_credential_app_token: "应用令牌（xapp-…）",
};

// Telegram, in Chinese.
export default {
  telegram_title: "Telegram",
  telegram_lead: "用手机与它聊，同一份记忆。",
  telegram_allowed_hint: "Telegram 用户号，用逗号隔开；无需配对码。",
  telegram_bot_make: "在 Telegram 上给 @BotFather 发 /newbot，会得到令牌。",
  telegram_bot_reads: "与机器人的对话经过 Telegram 的服务器，他们能看到。",
};

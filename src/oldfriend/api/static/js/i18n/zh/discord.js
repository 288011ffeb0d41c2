// Discord.
export default {
  discord_title: "Discord",
  discord_lead: "在 Discord 私信里与我聊（在服务器的成员列表里点我，再点“发消息”），或在频道里提到我。",
  discord_allowed_hint: "Discord 用户号或频道号，用逗号隔开；无需配对码。",
  discord_bot_make: "在 discord.com/developers/applications 选 New Application，再选 Bot 和 Reset Token。然后在 Installation 里打开安装链接，把机器人加到自己的账号或服务器。",
  discord_bot_reads: "与机器人的对话经过 Discord 的服务器，他们能看到。",
};

// Discord, in English.
export default {
  discord_title: "Discord",
  discord_lead: "Talk to me in direct messages on Discord (choose me in a server's member list, then Message), or mention me in a channel.",
  discord_allowed_hint: "Numbers of Discord users or channels, with commas; they need no code.",
  discord_bot_make: "On discord.com/developers/applications, choose New Application, then Bot, then Reset Token. Under Installation, open the install link and add the bot to yourself or to a server.",
  discord_bot_reads: "What is said to a bot passes through Discord's servers, and they can read it.",
};

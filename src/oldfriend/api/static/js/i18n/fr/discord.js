// Discord.
export default {
  discord_title: "Discord",
  discord_lead: "Écris-moi en privé sur Discord (choisis-moi dans la liste des membres d’un serveur, puis « Message »), ou mentionne-moi dans un salon.",
  discord_allowed_hint: "Numéros d’utilisateurs ou de salons Discord, séparés par des virgules ; ils n’ont pas besoin de code.",
  discord_bot_make: "Sur discord.com/developers/applications, choisis New Application, puis Bot et Reset Token. Sous Installation, ouvre le lien et ajoute le bot à ton compte ou à un serveur.",
  discord_bot_reads: "Ce qu’on dit à un bot passe par les serveurs de Discord, qui peuvent le lire.",
};

// Discord.
export default {
  discord_title: "Discord",
  discord_lead: "Escríbeme en privado en Discord (elígeme en la lista de miembros de un servidor y luego «Mensaje»), o mencióname en un canal.",
  discord_allowed_hint: "Números de usuarios o canales de Discord, separados por comas; no necesitan código.",
  discord_bot_make: "En discord.com/developers/applications, elige New Application, luego Bot y Reset Token. En Installation, abre el enlace y añade el bot a tu cuenta o a un servidor.",
  discord_bot_reads: "Lo que se le dice a un bot pasa por los servidores de Discord, que pueden leerlo.",
};

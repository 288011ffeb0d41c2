// La page en français : un fichier par rubrique.
import activity from "./fr/activity.js";
import bring from "./fr/imports.js";
import days from "./fr/days.js";
import discord from "./fr/discord.js";
import forget from "./fr/forget.js";
import matrix from "./fr/matrix.js";
import memory from "./fr/memory.js";
import people from "./fr/people.js";
import places from "./fr/navigation.js";
import said from "./fr/server_messages.js";
import settings from "./fr/settings.js";
import slack from "./fr/slack.js";
import talk from "./fr/chat.js";
import email from "./fr/email.js";
import telegram from "./fr/telegram.js";
import whatsapp from "./fr/whatsapp.js";
import welcome from "./fr/welcome.js";

export default { ...places, ...talk, ...memory, ...people, ...days, ...bring, ...forget, ...settings, ...telegram, ...whatsapp, ...discord, ...slack, ...matrix, ...email, ...welcome, ...activity, ...said };

// La página en español: un archivo por sección.
import activity from "./es/activity.js";
import bring from "./es/imports.js";
import days from "./es/days.js";
import discord from "./es/discord.js";
import forget from "./es/forget.js";
import matrix from "./es/matrix.js";
import memory from "./es/memory.js";
import people from "./es/people.js";
import places from "./es/navigation.js";
import said from "./es/server_messages.js";
import settings from "./es/settings.js";
import slack from "./es/slack.js";
import talk from "./es/chat.js";
import email from "./es/email.js";
import telegram from "./es/telegram.js";
import whatsapp from "./es/whatsapp.js";
import welcome from "./es/welcome.js";

export default { ...places, ...talk, ...memory, ...people, ...days, ...bring, ...forget, ...settings, ...telegram, ...whatsapp, ...discord, ...slack, ...matrix, ...email, ...welcome, ...activity, ...said };

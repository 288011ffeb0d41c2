// Die Seite auf Deutsch: eine Datei für jeden Bereich.
import activity from "./de/activity.js";
import bring from "./de/imports.js";
import days from "./de/days.js";
import discord from "./de/discord.js";
import forget from "./de/forget.js";
import matrix from "./de/matrix.js";
import memory from "./de/memory.js";
import people from "./de/people.js";
import places from "./de/navigation.js";
import said from "./de/server_messages.js";
import settings from "./de/settings.js";
import slack from "./de/slack.js";
import talk from "./de/chat.js";
import email from "./de/email.js";
import telegram from "./de/telegram.js";
import whatsapp from "./de/whatsapp.js";
import welcome from "./de/welcome.js";

export default { ...places, ...talk, ...memory, ...people, ...days, ...bring, ...forget, ...settings, ...telegram, ...whatsapp, ...discord, ...slack, ...matrix, ...email, ...welcome, ...activity, ...said };

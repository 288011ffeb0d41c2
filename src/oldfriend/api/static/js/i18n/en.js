// The page in English: one file for each place.
import activity from "./en/activity.js";
import bring from "./en/imports.js";
import days from "./en/days.js";
import discord from "./en/discord.js";
import forget from "./en/forget.js";
import matrix from "./en/matrix.js";
import memory from "./en/memory.js";
import people from "./en/people.js";
import places from "./en/navigation.js";
import said from "./en/server_messages.js";
import settings from "./en/settings.js";
import slack from "./en/slack.js";
import talk from "./en/chat.js";
import email from "./en/email.js";
import telegram from "./en/telegram.js";
import whatsapp from "./en/whatsapp.js";
import welcome from "./en/welcome.js";

export default { ...places, ...talk, ...memory, ...people, ...days, ...bring, ...forget, ...settings, ...telegram, ...whatsapp, ...discord, ...slack, ...matrix, ...email, ...welcome, ...activity, ...said };

// The page in Chinese: one file for each place.
import activity from "./zh/activity.js";
import bring from "./zh/imports.js";
import days from "./zh/days.js";
import discord from "./zh/discord.js";
import forget from "./zh/forget.js";
import matrix from "./zh/matrix.js";
import memory from "./zh/memory.js";
import people from "./zh/people.js";
import places from "./zh/navigation.js";
import said from "./zh/server_messages.js";
import settings from "./zh/settings.js";
import slack from "./zh/slack.js";
import talk from "./zh/chat.js";
import email from "./zh/email.js";
import telegram from "./zh/telegram.js";
import whatsapp from "./zh/whatsapp.js";
import welcome from "./zh/welcome.js";

export default { ...places, ...talk, ...memory, ...people, ...days, ...bring, ...forget, ...settings, ...telegram, ...whatsapp, ...discord, ...slack, ...matrix, ...email, ...welcome, ...activity, ...said };

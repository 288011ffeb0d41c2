// The page in Chinese: one file for each place.
import bring from "./zh/bring.js";
import days from "./zh/days.js";
import forget from "./zh/forget.js";
import memory from "./zh/memory.js";
import people from "./zh/people.js";
import places from "./zh/places.js";
import said from "./zh/said.js";
import settings from "./zh/settings.js";
import talk from "./zh/talk.js";
import telegram from "./zh/telegram.js";
import welcome from "./zh/welcome.js";

export default { ...places, ...talk, ...memory, ...people, ...days, ...bring, ...forget, ...settings, ...telegram, ...welcome, ...said };

// The page in English: one file for each place.
import bring from "./en/bring.js";
import days from "./en/days.js";
import forget from "./en/forget.js";
import memory from "./en/memory.js";
import people from "./en/people.js";
import places from "./en/places.js";
import said from "./en/said.js";
import settings from "./en/settings.js";
import talk from "./en/talk.js";
import telegram from "./en/telegram.js";
import welcome from "./en/welcome.js";

export default { ...places, ...talk, ...memory, ...people, ...days, ...bring, ...forget, ...settings, ...telegram, ...welcome, ...said };

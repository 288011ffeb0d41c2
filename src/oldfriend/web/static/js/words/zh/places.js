// The places of the page.
export default {
  places: "去处",
  place_chat: "聊天",
  place_memory: "记忆",
  place_people: "人物",
  place_days: "日子",
  place_bring: "带来与带走",
  place_forget: "遗忘",
  place_settings: "设置",
  skip_to_place: "跳到内容",
};

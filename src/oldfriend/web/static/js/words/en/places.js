// The places of the page.
export default {
  places: "Places",
  place_chat: "Chat",
  place_memory: "Memory",
  place_people: "People",
  place_days: "Days",
  place_bring: "Bring & take",
  place_forget: "Forget",
  place_settings: "Settings",
  skip_to_place: "Skip to what is shown",
};

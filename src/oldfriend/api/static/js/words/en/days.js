// Days: a calendar of what was said and what happened.
export default {
  days_calendar: "Calendar",
  days_before: "The month before",
  days_after: "The month after",
  days_month: "Month",
  days_none: "Nothing was said yet. Each day on which we talk is marked here.",
  days_cell: "{day}: {count} messages",
  days_said_before: "The day before on which something was said",
  days_said_after: "The next day on which something was said",
  days_then: "What I believed on this day",
  days_silent: "On this day nothing was said.",
  days_happened: "What happened",
  days_due: "Promised or expected for this day",
  days_told: "In short",
  days_told_by_model: "A day is summed up by a language model, and none is connected. Every word of it is kept.",
  days_talks: "Talks",
  days_messages: "{count} messages",
};

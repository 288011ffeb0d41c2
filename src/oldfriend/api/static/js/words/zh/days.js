// Days: a calendar of what was said and what happened.
export default {
  days_calendar: "日历",
  days_before: "上个月",
  days_after: "下个月",
  days_month: "月份",
  days_none: "还没有说过话。我们聊过的每一天都会标在这里。",
  days_cell: "{day}：{count} 条消息",
  days_said_before: "之前说过话的一天",
  days_said_after: "之后说过话的一天",
  days_then: "我在这一天相信什么",
  days_silent: "这一天没有说话。",
  days_happened: "发生了什么",
  days_due: "说好或预计在这一天",
  days_told: "简短地说",
  days_told_by_model: "每天的概要由语言模型来写，现在没有连接模型。说过的每句话都留着。",
  days_talks: "谈话",
  days_messages: "{count} 条消息",
};

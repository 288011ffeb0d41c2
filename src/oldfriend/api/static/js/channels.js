// The chat platforms that can be connected, one line each.
export const CHANNELS = ["telegram", "whatsapp", "discord", "slack", "matrix", "email"];

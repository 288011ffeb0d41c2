// On which platforms can people talk? One line and one book of words for each.
export const CHANNELS = ["telegram", "whatsapp", "discord", "slack", "matrix", "email"];

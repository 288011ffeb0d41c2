// E-mail, in English.
export default {
  email_title: "E-mail",
  email_lead: "Write to me by e-mail; it is the same memory.",
  email_allowed_hint: "E-mail addresses of other people who may write, with commas.",
  email_needed: "Name of your mail server",
  email_needed_hint: "As it signs its checks of senders in the mails that arrive (Authentication-Results). Until I know it, I believe no mail.",
  email_needed_look: "Look in the mails that came",
  email_bot_make: "Make a mailbox that is only mine. With a second factor, its provider wants an app password.",
  email_bot_reads: "Mail passes through the servers of both providers, and they can read it.",
  email_credential_address: "My address",
  email_credential_password: "Password or app password",
  email_credential_imap: "Server to read from (imap.example.org)",
  email_credential_smtp: "Server to send with (smtp.example.org)",
};

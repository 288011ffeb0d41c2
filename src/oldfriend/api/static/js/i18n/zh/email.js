// E-mail, in Chinese.
export default {
  email_title: "电子邮件",
  email_lead: "给它写信，同一份记忆。",
  email_allowed_hint: "其他可以写信的人的邮件地址，用逗号隔开。",
  email_needed: "你的邮件服务器的名称",
  email_needed_hint: "就是它在收到的邮件里标记发件人核对结果时用的名称（Authentication-Results）。在知道它之前，任何邮件都不会被相信。",
  email_needed_look: "在收到的邮件里查看",
  email_bot_make: "准备一个只归它用的邮箱。若开启了两步验证，服务商会要求应用专用密码。",
  email_bot_reads: "邮件经过双方服务商的服务器，他们能看到。",
  email_credential_address: "它的地址",
  email_credential_password: "密码或应用专用密码",
  email_credential_imap: "收信服务器（imap.example.org）",
  email_credential_smtp: "发信服务器（smtp.example.org）",
};

// E-mail, in Chinese.
export default {
  email_title: "电子邮件",
  email_lead: "给它写信，同一份记忆。",
  email_allowed_hint: "可以写信的人的邮件地址，用逗号隔开。你自己的地址：运行一次“oldfriend connect email”，这样它的信才算你的。",
  email_bot_make: "准备一个只归它用的邮箱。若开启了两步验证，服务商会要求应用专用密码。",
  email_bot_reads: "邮件经过双方服务商的服务器，他们能看到。",
  email_credential_address: "它的地址",
  email_credential_password: "密码或应用专用密码",
  email_credential_imap: "收信服务器（imap.example.org）",
  email_credential_smtp: "发信服务器（smtp.example.org）",
};

// WhatsApp, in Chinese.
export default {
  whatsapp_title: "WhatsApp",
  whatsapp_lead: "在 WhatsApp 上与它聊，同一份记忆。",
  whatsapp_allowed_hint: "带国家代码的电话号码，用逗号隔开；无需配对码。",
  whatsapp_bot_make: "在 developers.facebook.com 上建一个带 WhatsApp 的应用，会得到电话号码编号、访问令牌和应用密钥；验证词由你自己想，请记下来。先把这四项填在下面。再把回调地址和验证词填到应用的 Webhook 设置里：地址是你的代理的 HTTPS 地址，以 /api/whatsapp 结尾，由代理转发到这台机器的 {port} 端口。最后发布应用，否则别人写的都收不到。",
  whatsapp_bot_reads: "对这种号码说的话，Meta 能看到。",
  whatsapp_credential_token: "访问令牌",
  whatsapp_credential_phone_number_id: "电话号码编号",
  whatsapp_credential_app_secret: "应用密钥",
  whatsapp_credential_verify_token: "验证词（自己想一个）",
};

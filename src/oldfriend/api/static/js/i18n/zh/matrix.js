// Matrix, in Chinese.
export default {
  matrix_title: "Matrix",
  matrix_lead: "用 Element 或别的 Matrix 应用与它聊，内容加密，同一份记忆。",
  matrix_allowed_hint: "Matrix 的用户和房间，如 @ana:example.org，用逗号隔开；无需配对码。",
  matrix_bot_make: "在一台可用密码登录的 Matrix 服务器上为它建一个账号，别的程序不要用这个账号。",
  matrix_bot_reads: "在加密的房间里，服务器读不到说了什么，只知道谁在何时与谁说话。",
  matrix_credential_homeserver: "服务器地址",
  matrix_credential_user: "它的用户名，如 @friend:matrix.org",
  matrix_credential_password: "它的密码",
};

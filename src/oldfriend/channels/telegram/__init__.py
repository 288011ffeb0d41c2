"""How do people reach it on Telegram?"""

"""How do people see and steer it in a browser?"""

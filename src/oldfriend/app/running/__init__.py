"""How is a process kept running, and how does it do?"""

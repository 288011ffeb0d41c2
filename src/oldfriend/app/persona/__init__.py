"""Who is the companion, who is the person to it, and how do people decide that?"""

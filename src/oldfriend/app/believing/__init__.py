"""What is believed, why, since when; and how does the person set it right?"""

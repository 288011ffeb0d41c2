"""Does it keep its promises?"""

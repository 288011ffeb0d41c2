"""What has the person chosen, and how is what they chose reached?"""

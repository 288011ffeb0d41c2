"""Do bytes reach the disk, and come back?"""

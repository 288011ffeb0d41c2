"""Tasks: reminders and to-dos with their due times and recurrence."""
